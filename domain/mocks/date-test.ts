import { DateTime, type DateTimeUnit, type DurationUnit } from 'luxon';
import { FilterError } from '../events/webhooks/filter-rules.ts';
import { usePatternWork } from '../events/webhooks/pattern-work.ts';

/** A test of a text as a date and time, as other mock servers have them. Texts without a zone are read as UTC. */
export type DateTest = ({ before: string } | { after: string } | { sameTime: string }) & DateReading;

interface DateReading {
  /**
   * How the text is written: letters of date patterns (https://unicode.org/reports/tr35/tr35-dates.html#Date_Format_Patterns),
   * `unix` (seconds) or `epoch` (milliseconds). Absent: ISO 8601, or as in HTTP.
   */
  format?: string;
  /** What the wanted time is moved to, when it is told from now: `first day of month`. */
  truncate?: string;
  /** The wanted time is moved behind its offset from now, not before. */
  truncateLast?: boolean;
  /** What the time in the text is moved to, when it has a zone. */
  truncateActual?: string;
}

/** Names of members beside the one that names the test. */
export const DATE_MEMBERS = ['format', 'truncate', 'truncateLast', 'truncateActual'];

/** What reading a date costs, in units of pattern work: some 20 µs. */
const WORK = 1_000;
const TEXT_MAX = 100;
const FORMAT_MAX = 60;

/** Throws `FilterError` for a test that is none. @param kind the member of `given` that names it. */
export function dateTest(
  kind: 'before' | 'after' | 'sameTime',
  given: Record<string, unknown>,
  path: string,
): (text: string) => boolean {
  const at = (name: string) => path.replace(/[^/]*$/, name);
  const wantedOf = wantedTime(given, kind, at);
  const read = given.format === undefined ? readDefault : readerOf(given.format, at('format'));
  const truncate = truncationOf(given.truncateActual, at('truncateActual'));
  return (text) => {
    usePatternWork(WORK);
    const found = text.length > TEXT_MAX ? undefined : read(text);
    if (!found?.time.isValid) return false;
    const wanted = wantedOf();
    const time = found.hasZone ? truncate(found.time) : found.time;
    // Without a zone of its own the wanted time is one of any zone's clock.
    const is = wanted.hasZone ? time.toMillis() : onClock(time).toMillis();
    const than = wanted.hasZone ? wanted.time.toMillis() : onClock(wanted.time).toMillis();
    return kind === 'before' ? is < than : kind === 'after' ? is > than : is === than;
  };
}

const onClock = (time: DateTime): DateTime => time.setZone('utc', { keepLocalTime: true });

/** A time, and whether the text said of which zone. */
interface Read {
  time: DateTime;
  hasZone: boolean;
}

const FROM_NOW = /^now(?:\s+([+-]?\d{1,9})\s+(second|minute|hour|day|month|year)s)?$/i;

/** The time that is compared with: fixed, or from now. */
function wantedTime(given: Record<string, unknown>, kind: string, at: (name: string) => string): () => Read {
  const text = given[kind];
  if (typeof text !== 'string') throw new FilterError(at(kind), 'must be a string');
  const truncate = truncationOf(given.truncate, at('truncate'));
  const [isFromNow, amount = '0', unit = 'second'] = FROM_NOW.exec(text) ?? [];
  if (isFromNow === undefined) {
    const wanted = readDefault(text);
    if (!wanted?.time.isValid)
      throw new FilterError(at(kind), 'must be a date and time (2026-03-02T09:30:00Z), now, or now +3 days');
    if (given.truncate !== undefined) throw new FilterError(at('truncate'), 'is taken of times from now alone');
    return () => wanted;
  }
  const shift = (time: DateTime) => time.plus({ [`${unit.toLowerCase()}s` as DurationUnit]: Number(amount) });
  if (!shift(DateTime.utc()).isValid) throw new FilterError(at(kind), 'is too far from now');
  return () => {
    const now = DateTime.utc();
    return { time: given.truncateLast === true ? truncate(shift(now)) : shift(truncate(now)), hasZone: true };
  };
}

const ISO = /^\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?)?)?(?:\[[\w/+-]+\])?$/;

function readDefault(text: string): Read | undefined {
  const iso = ISO.exec(text);
  if (iso) return { time: DateTime.fromISO(text, { zone: 'utc', setZone: true }), hasZone: iso[1] !== undefined };
  const time = DateTime.fromHTTP(text, { zone: 'utc' });
  return time.isValid ? { time, hasZone: true } : undefined;
}

/** Letters of date patterns as the library writes them. */
const TOKENS: Readonly<Record<string, string>> = {
  yyyy: 'yyyy',
  uuuu: 'yyyy',
  M: 'M',
  MM: 'MM',
  MMM: 'MMM',
  MMMM: 'MMMM',
  d: 'd',
  dd: 'dd',
  E: 'EEE',
  EEE: 'EEE',
  EEEE: 'EEEE',
  H: 'H',
  HH: 'HH',
  h: 'h',
  hh: 'hh',
  m: 'm',
  mm: 'mm',
  s: 's',
  ss: 'ss',
  SSS: 'SSS',
  a: 'a',
  X: 'Z',
  XX: 'ZZZ',
  XXX: 'ZZ',
  Z: 'ZZZ',
  ZZ: 'ZZZ',
  ZZZ: 'ZZZ',
};

function readerOf(format: unknown, path: string): (text: string) => Read | undefined {
  if (typeof format !== 'string' || format.length > FORMAT_MAX)
    throw new FilterError(path, `must be a date pattern of at most ${FORMAT_MAX} characters`);
  const unit = { unix: 1_000, epoch: 1 }[format.toLowerCase()];
  if (unit !== undefined)
    return (text) =>
      /^-?\d{1,15}$/.test(text)
        ? { time: DateTime.fromMillis(Number(text) * unit, { zone: 'utc' }), hasZone: true }
        : undefined;
  const pattern = format.replaceAll(/'[^']*'|([A-Za-z])\1*/g, (run) => {
    if (run.startsWith("'")) return run === "''" ? "'" : run;
    const token = Object.hasOwn(TOKENS, run) ? TOKENS[run] : undefined;
    if (token === undefined) throw new FilterError(path, `has no counterpart for ${run.slice(0, 20)}`);
    return token;
  });
  const letters = format.replaceAll(/'[^']*'/g, '');
  const hasZone = /[XZ]/.test(letters);
  const zuluOffset = /X/.test(letters) ? (/XXX/.test(letters) ? '+00:00' : '+0000') : undefined;
  return (text) => {
    const written = zuluOffset === undefined ? text : text.replace(/Z$/, zuluOffset);
    return { time: DateTime.fromFormat(written, pattern, { zone: 'utc', setZone: true, locale: 'en-US' }), hasZone };
  };
}

/** The beginning of what a time is in, and whether of the next one; `last day of` is the last day of what it is in. */
const TRUNCATION =
  /^(?:first (second|minute|hour|day) of (?:(next) )?(minute|hour|day|month|year)|last day of (month|year))$/;
const WITHIN: Readonly<Record<string, string>> = { second: 'minute', minute: 'hour', hour: 'day' };

function truncationOf(given: unknown, path: string): (time: DateTime) => DateTime {
  if (given === undefined) return (time) => time;
  const [, part, next, whole, lastOf] = TRUNCATION.exec(typeof given === 'string' ? given.toLowerCase() : '') ?? [];
  if (lastOf !== undefined) return (time) => time.endOf(lastOf as DateTimeUnit).startOf('day');
  const isKnown = part === 'day' ? whole === 'month' || whole === 'year' : part && WITHIN[part] === whole && !next;
  if (!isKnown) throw new FilterError(path, 'must be a truncation: first hour of day, last day of month');
  const unit = whole as DateTimeUnit;
  return (time) => time.plus(next === undefined ? {} : { [`${unit}s`]: 1 }).startOf(unit);
}
