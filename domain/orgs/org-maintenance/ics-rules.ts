import { clockAt, momentOfClock } from '../../kernel/text/local-time-rules.ts';
import { type IcsEvent, type IcsTime, icsEvents, icsZone, plainText } from './ics-format-rules.ts';
import { ENTRIES_MAX, type MaintenanceEntry } from './maintenance-rules.ts';
import { daysOf, parseRecurrence, type Recurrence } from './recurrence-rules.ts';

/** What a calendar says of the days to come. */
export interface IcsReading {
  isOk: true;
  /** What begins within the next 30 days and is not over, the first to begin first. */
  entries: MaintenanceEntry[];
  /** What was not understood, for people: it may be maintenance. */
  remarks: string[];
}

export type IcsAnswer = IcsReading | { isOk: false; reason: string };

const DAY_MS = 86_400_000;
/** Recurrences are followed for so many days. */
const HORIZON_DAYS = 30;
/** One occurrence is at most so long. */
const LONGEST_DAYS = 31;
/** So many days of all recurrences together are looked at. */
const DAYS_MAX = 200_000;
const REMARKS_MAX = 20;

/** What is still to be looked at in one calendar. */
interface Budget {
  days: number;
}

/** Reads a calendar in the iCalendar format. What it costs is bounded, whatever the calendar holds. */
export function readIcs(text: string, now: Date): IcsAnswer {
  const found = icsEvents(text);
  if (!found.isOk) return found;
  const remarks: string[] = [];
  const budget: Budget = { days: DAYS_MAX };
  const moved = movedOccurrences(found.events, found.timezone);
  const entries: MaintenanceEntry[] = [];
  for (const event of found.events) {
    if (event.isCancelled) continue;
    const read = entriesOf(event, { timezone: found.timezone, now: now.getTime(), moved, budget });
    if (typeof read === 'string') remarks.push(`${event.summary}: ${read}`);
    else entries.push(...read);
    if (budget.days < 0) return { isOk: false, reason: 'It has more recurrences than are read' };
  }
  const sorted = entries.toSorted((a, b) => Date.parse(a.from) - Date.parse(b.from));
  if (sorted.length > ENTRIES_MAX) remarks.push(`Only the first ${ENTRIES_MAX} of its entries are read`);
  return { isOk: true, entries: sorted.slice(0, ENTRIES_MAX), remarks: remarks.slice(0, REMARKS_MAX) };
}

interface Reading {
  timezone: string;
  now: number;
  moved: ReadonlyMap<string, ReadonlySet<number>>;
  budget: Budget;
}

/** Moments of occurrences that have an event of their own, or were cancelled, by the id of their series. */
function movedOccurrences(events: readonly IcsEvent[], timezone: string): Map<string, Set<number>> {
  const moved = new Map<string, Set<number>>();
  for (const { uid, recurrenceId } of events) {
    const zone = recurrenceId && icsZone(recurrenceId, timezone);
    if (!zone) continue;
    const moments = moved.get(uid) ?? new Set();
    moved.set(uid, moments.add(momentOfClock(recurrenceId.shown, zone)));
  }
  return moved;
}

const unknownZone = ({ zone }: IcsTime): string => `its time zone ${plainText(zone ?? '')} is not known`;

/** The entries of an event; a text says why they are not known. */
function entriesOf(event: IcsEvent, { timezone, now, moved, budget }: Reading): MaintenanceEntry[] | string {
  const { start, end, summary } = event;
  if (start === undefined) return 'it does not say when it begins';
  const zone = icsZone(start, timezone);
  if (zone === undefined) return unknownZone(start);
  const endZone = end && icsZone(end, timezone);
  if (end && endZone === undefined) return unknownZone(end);
  const whole = start.isDay ? DAY_MS : 0;
  const length =
    end && endZone !== undefined
      ? momentOfClock(end.shown, endZone) - momentOfClock(start.shown, zone)
      : (event.durationMs ?? whole);
  if (length <= 0) return [];
  if (length > LONGEST_DAYS * DAY_MS) return `it is longer than ${LONGEST_DAYS} days`;
  const rule = event.rrule === undefined ? null : parseRecurrence(event.rrule);
  if (typeof rule === 'string') return rule;
  const lengthDays = Math.ceil(length / DAY_MS) + 1;
  const today = Math.floor(clockAt(now, zone) / DAY_MS);
  const days = rule
    ? daysOf(rule, { first: start.shown, from: today - lengthDays, to: today + HORIZON_DAYS, budget })
    : [Math.floor(start.shown / DAY_MS)];
  const excluded = new Set(
    event.exdates.flatMap((each) => {
      const own = icsZone(each, timezone);
      return own === undefined ? [] : momentOfClock(each.shown, own);
    }),
  );
  const time = start.shown - Math.floor(start.shown / DAY_MS) * DAY_MS;
  return days.flatMap((day) => {
    const from = momentOfClock(day * DAY_MS + time, zone);
    const to = from + length;
    const isComing = to > now && from < now + HORIZON_DAYS * DAY_MS;
    const isOut = excluded.has(from) || (event.recurrenceId === undefined && moved.get(event.uid)?.has(from));
    if (!isComing || isOut || isPast(rule, day * DAY_MS + time, from)) return [];
    return { from: new Date(from).toISOString(), to: new Date(to).toISOString(), summary };
  });
}

/** Whether a series has ended before one of its days. */
const isPast = (rule: Recurrence | null, shown: number, moment: number): boolean =>
  rule?.until !== undefined && (rule.until.isUtc ? moment : shown) > rule.until.shown;
