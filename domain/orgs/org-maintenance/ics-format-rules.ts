/** A date or time as a calendar writes it. */
export interface IcsTime {
  /** What clocks show, in milliseconds since the epoch as if they showed UTC. */
  shown: number;
  isDay: boolean;
  /** As it is written; `UTC`, or null for that of the calendar. */
  zone: string | null;
}

export interface IcsEvent {
  uid: string;
  summary: string;
  isCancelled: boolean;
  start: IcsTime | undefined;
  end: IcsTime | undefined;
  durationMs: number | undefined;
  rrule: string | undefined;
  exdates: IcsTime[];
  /** The occurrence of a series in whose place it is. */
  recurrenceId: IcsTime | undefined;
}

const EVENTS_MAX = 1_000;
/** All events together have at most so many. */
const EXDATES_MAX = 2_000;
const SUMMARY_MAX = 200;

const BROKEN_OFF = { isOk: false, reason: 'It breaks off before its end' } as const;

interface Line {
  name: string;
  parameters: string;
  value: string;
}

/** The events of a calendar, and the zone of times that name none. */
export function icsEvents(
  text: string,
): { isOk: true; events: IcsEvent[]; timezone: string } | { isOk: false; reason: string } {
  const lines = unfolded(text);
  if (lines[0]?.trim().toUpperCase() !== 'BEGIN:VCALENDAR') return { isOk: false, reason: 'It is no iCalendar file' };
  const events: IcsEvent[] = [];
  const open: string[] = [];
  const left = { exdates: EXDATES_MAX };
  let timezone = 'UTC';
  let event = newEvent();
  for (const raw of lines) {
    const line = lineOf(raw);
    if (!line) continue;
    const { name, value } = line;
    if (name === 'BEGIN') {
      open.push(value.trim().toUpperCase());
      if (open.length > 10) return { isOk: false, reason: 'Its parts are nested too deeply' };
      if (open.at(-1) === 'VEVENT') event = newEvent();
    } else if (name === 'END') {
      const ended = open.pop();
      if (ended !== value.trim().toUpperCase()) return BROKEN_OFF;
      if (ended === 'VEVENT') events.push(event);
      if (events.length > EVENTS_MAX) return { isOk: false, reason: `It has more than ${EVENTS_MAX} events` };
      if (open.length === 0) return { isOk: true, events, timezone };
    } else if (open.at(-1) === 'VEVENT') note(event, line, left);
    else if (open.length === 1 && name === 'X-WR-TIMEZONE') timezone = knownZone(value.trim()) ?? timezone;
  }
  return BROKEN_OFF;
}

/** The zone of a time, by the name that browsers and databases have for it; undefined: it is not known. */
export const icsZone = ({ zone }: IcsTime, ofCalendar: string): string | undefined =>
  zone === null ? ofCalendar : knownZone(zone);

const unfolded = (text: string): string[] =>
  text
    .replace(/^\uFEFF/, '')
    .replaceAll(/\r?\n[ \t]/g, '')
    .split(/\r?\n/)
    .filter((line) => line !== '');

/** The value begins behind the first colon that is not within quotes. */
function lineOf(line: string): Line | undefined {
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '"') isQuoted = !isQuoted;
    if (line[at] !== ':' || isQuoted) continue;
    const [name = '', ...parameters] = line.slice(0, at).split(';');
    return { name: name.toUpperCase(), parameters: parameters.join(';'), value: line.slice(at + 1) };
  }
  return undefined;
}

const newEvent = (): IcsEvent => ({
  uid: '',
  summary: 'Maintenance',
  isCancelled: false,
  start: undefined,
  end: undefined,
  durationMs: undefined,
  rrule: undefined,
  exdates: [],
  recurrenceId: undefined,
});

function note(event: IcsEvent, { name, parameters, value }: Line, left: { exdates: number }): void {
  switch (name) {
    case 'UID':
      event.uid = value;
      break;
    case 'SUMMARY':
      event.summary = plainText(value) || event.summary;
      break;
    case 'STATUS':
      event.isCancelled = value.trim().toUpperCase() === 'CANCELLED';
      break;
    case 'DTSTART':
      event.start = timeOf(parameters, value);
      break;
    case 'DTEND':
      event.end = timeOf(parameters, value);
      break;
    case 'DURATION':
      event.durationMs = durationOf(value);
      break;
    case 'RRULE':
      event.rrule = value.trim();
      break;
    case 'RECURRENCE-ID':
      event.recurrenceId = timeOf(parameters, value);
      break;
    case 'EXDATE':
      for (const each of value.split(',', left.exdates)) {
        left.exdates--;
        const time = timeOf(parameters, each);
        if (time) event.exdates.push(time);
      }
      break;
  }
}

/** Text of a calendar as it may be stored and shown: a cut may part a character, which json in the database refuses. */
export const plainText = (value: string): string =>
  value
    .slice(0, 4 * SUMMARY_MAX)
    .replaceAll(/\\n/gi, ' ')
    .replaceAll(/\\([\\;,])/g, '$1')
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, SUMMARY_MAX)
    .toWellFormed();

/** `20261205`, `20261205T220000`, `20261205T220000Z`. */
export function timeOf(parameters: string, value: string): IcsTime | undefined {
  const [, year, month, day, time, hour, minute, second, utc] =
    /^(\d{4})(\d\d)(\d\d)(T(\d\d)(\d\d)(\d\d)(Z?))?$/.exec(value.trim().toUpperCase()) ?? [];
  if (year === undefined) return undefined;
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  const date = new Date(Date.UTC(y, m - 1, d));
  if (y < 1970 || date.getUTCMonth() !== m - 1 || date.getUTCDate() !== d) return undefined;
  const isDay = time === undefined;
  const clock = isDay ? 0 : (Number(hour) * 60 + Number(minute)) * 60 + Math.min(59, Number(second));
  if (clock >= 86_400) return undefined;
  const [, quoted, bare] = /(?:^|;)TZID=(?:"([^"]*)"|([^;]*))/i.exec(parameters) ?? [];
  return { shown: date.getTime() + clock * 1_000, isDay, zone: utc === 'Z' ? 'UTC' : (quoted ?? bare ?? null) };
}

function durationOf(value: string): number | undefined {
  const [whole, weeks, days, hours, minutes, seconds] =
    /^\+?P(?:(\d{1,4})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/.exec(value.trim()) ?? [];
  if (whole === undefined) return undefined;
  const inHours = (Number(weeks ?? 0) * 7 + Number(days ?? 0)) * 24 + Number(hours ?? 0);
  return ((inHours * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0)) * 1_000;
}

const zones = new Map<string, string | undefined>();
const ZONES_MAX = 1_000;

/** Some programs write `/freeassociation.sourceforge.net/Europe/Berlin`. */
function knownZone(written: string): string | undefined {
  const name = written.slice(-100);
  if (zones.has(name)) return zones.get(name);
  const [bare = name] = /(?:[A-Za-z_]+\/){0,2}[A-Za-z_+\-0-9]+$/.exec(name) ?? [];
  const known = [name, bare].find((each) => each !== '' && isZone(each));
  if (zones.size >= ZONES_MAX) zones.clear();
  zones.set(name, known);
  return known;
}

function isZone(name: string): boolean {
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}
