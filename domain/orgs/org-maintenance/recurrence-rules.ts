import { plainText, timeOf } from './ics-format-rules.ts';

const DAY_MS = 86_400_000;
const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const;

/** What is understood of a rule. */
const PARTS = new Set(['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'BYDAY', 'BYMONTHDAY', 'BYMONTH', 'WKST']);

/** On which days a series comes again. */
export interface Recurrence {
  frequency: (typeof FREQUENCIES)[number];
  interval: number;
  count: number | undefined;
  /** The last moment, or time of its zone, at which one begins. */
  until: { shown: number; isUtc: boolean } | undefined;
  /** 0 is Monday. `ordinal`: the which of its month, from its end where negative; 0: each. */
  weekdays: { weekday: number; ordinal: number }[];
  monthDays: number[];
  /** 1 to 12. */
  months: number[];
  weekStart: number;
}

const NOT_UNDERSTOOD = 'its recurrence is not understood';

/** A rule as `RRULE` writes it; a text says why it is not followed. */
export function parseRecurrence(text: string): Recurrence | string {
  const parts = new Map(
    text
      .toUpperCase()
      .split(';', 20)
      .filter((part) => part !== '')
      .map((part): [string, string] => {
        const at = part.indexOf('=');
        return [part.slice(0, at), part.slice(at + 1)];
      }),
  );
  const unknown = [...parts.keys()].find((name) => !PARTS.has(name));
  if (unknown !== undefined) return `${NOT_UNDERSTOOD} (${plainText(unknown).slice(0, 20).toWellFormed()})`;
  const frequency = FREQUENCIES.find((each) => each === parts.get('FREQ'));
  const interval = Number(parts.get('INTERVAL') ?? 1);
  const count = parts.has('COUNT') ? Number(parts.get('COUNT')) : undefined;
  const weekdays = (parts.get('BYDAY')?.split(',', 50) ?? []).map((day) => {
    const [, ordinal = '', name = ''] = /^([+-]?\d?\d)?([A-Z]{2})$/.exec(day) ?? [];
    return { weekday: WEEKDAYS.indexOf(name), ordinal: Number(ordinal) };
  });
  const numbers = (name: string) => (parts.get(name)?.split(',', 50) ?? []).map(Number);
  const [monthDays, months] = [numbers('BYMONTHDAY'), numbers('BYMONTH')];
  const weekStart = WEEKDAYS.indexOf(parts.get('WKST') ?? 'MO');
  const until = parts.has('UNTIL') ? timeOf('', parts.get('UNTIL') ?? '') : undefined;
  const isWhole =
    frequency !== undefined &&
    inRange([interval], 1, 1_000) &&
    (count === undefined || inRange([count], 1, 100_000)) &&
    (!parts.has('UNTIL') || until !== undefined) &&
    weekdays.every(({ weekday, ordinal }) => weekday >= 0 && Math.abs(ordinal) <= 5) &&
    inRange(monthDays.map(Math.abs), 1, 31) &&
    inRange(months, 1, 12) &&
    weekStart >= 0;
  if (!isWhole) return NOT_UNDERSTOOD;
  const hasOrdinals = weekdays.some(({ ordinal }) => ordinal !== 0);
  if (hasOrdinals && (frequency === 'YEARLY' ? months.length === 0 : frequency !== 'MONTHLY')) return NOT_UNDERSTOOD;
  const lastOfDay = until?.isDay ? until.shown + DAY_MS - 1 : until?.shown;
  return {
    frequency,
    interval,
    count,
    until: until && { shown: lastOfDay ?? until.shown, isUtc: until.zone === 'UTC' },
    weekdays,
    monthDays,
    months,
    weekStart,
  };
}

const inRange = (values: readonly number[], least: number, most: number): boolean =>
  values.every((value) => Number.isInteger(value) && least <= value && value <= most);

interface Search {
  /** When the series begins, as clocks show it. */
  first: number;
  /** The first and the last day that are asked for, in days since the epoch. */
  from: number;
  to: number;
  /** Days that may still be looked at; below zero, it was too many. */
  budget: { days: number };
}

/** The days of a series within others, in days since the epoch. */
export function daysOf(rule: Recurrence, { first, from, to, budget }: Search): number[] {
  const firstDay = Math.floor(first / DAY_MS);
  const found: number[] = [];
  let counted = 0;
  // Only what is counted has to be followed from its beginning.
  for (let day = rule.count === undefined ? Math.max(firstDay, from) : firstDay; day <= to; day++) {
    if (--budget.days < 0) return [];
    // The first is one of a series, whatever its rule says.
    if (day !== firstDay && !isDayOf(rule, firstDay, day)) continue;
    if (rule.count !== undefined && ++counted > rule.count) break;
    if (day >= from) found.push(day);
  }
  return found;
}

const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7;

interface DayOfMonth {
  year: number;
  month: number;
  date: number;
  /** Days of its month. */
  length: number;
}

function placeOf(day: number): DayOfMonth {
  const at = new Date(day * DAY_MS);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() + 1];
  return { year, month, date: at.getUTCDate(), length: new Date(Date.UTC(year, month, 0)).getUTCDate() };
}

function isDayOf(rule: Recurrence, firstDay: number, day: number): boolean {
  const { frequency, interval, weekdays, monthDays, months, weekStart } = rule;
  const [first, place] = [placeOf(firstDay), placeOf(day)];
  if (months.length > 0 && !months.includes(place.month)) return false;
  const isWeekday = weekdays.length === 0 || weekdays.some((each) => isNth(each, day, place));
  const isMonthDay =
    monthDays.length === 0 || monthDays.some((each) => (each > 0 ? each : place.length + 1 + each) === place.date);
  switch (frequency) {
    case 'DAILY':
      return (day - firstDay) % interval === 0 && isWeekday && isMonthDay;
    case 'WEEKLY': {
      const weekOf = (each: number) => Math.floor((each + 3 - weekStart) / 7);
      const isOwn = weekdays.length > 0 ? isWeekday : weekdayOf(day) === weekdayOf(firstDay);
      return (weekOf(day) - weekOf(firstDay)) % interval === 0 && isOwn && isMonthDay;
    }
    case 'MONTHLY': {
      const apart = (place.year - first.year) * 12 + place.month - first.month;
      const isOwn = weekdays.length + monthDays.length > 0 || place.date === first.date;
      return apart % interval === 0 && isOwn && isWeekday && isMonthDay;
    }
    case 'YEARLY': {
      const isOwnMonth = months.length > 0 || monthDays.length + weekdays.length > 0 || place.month === first.month;
      const isOwnDay = weekdays.length + monthDays.length > 0 || place.date === first.date;
      return (place.year - first.year) % interval === 0 && isOwnMonth && isOwnDay && isWeekday && isMonthDay;
    }
  }
}

function isNth(
  { weekday, ordinal }: Recurrence['weekdays'][number],
  day: number,
  { date, length }: DayOfMonth,
): boolean {
  if (weekdayOf(day) !== weekday) return false;
  if (ordinal === 0) return true;
  return ordinal > 0 ? Math.ceil(date / 7) === ordinal : Math.ceil((length - date + 1) / 7) === -ordinal;
}
