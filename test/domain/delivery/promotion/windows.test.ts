import fc from 'fast-check';
import { DateTime } from 'luxon';
import { clockAt, momentOfClock } from '../../../../domain/kernel/text/local-time-rules.ts';
import {
  type Day,
  DAYS,
  type Freeze,
  type PromotionWindow,
} from '../../../../domain/projects/policies/promotion-policy-rules.ts';
import { nextCommonOpening, nextOpening } from '../../../../domain/delivery/promotion/window-rules.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** Days in which clocks change, forwards and backwards, by an hour, half an hour or a whole day. */
const CHANGES = [
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Africa/Casablanca', '2025-02-23'],
  ['Africa/Casablanca', '2025-04-06'],
  ['Pacific/Apia', '2011-12-30'],
  ['Pacific/Apia', '2012-04-01'],
  ['America/Havana', '2026-11-01'],
  ['UTC', '2026-06-01'],
] as const;
const DAYS_BEFORE = 6;
const DAYS_AFTER = 12;

/** Between two of these, by UTC, no clock has changed in any zone since 1972. */
const CHANGE_MINUTES = 15;

/** What the clocks of a zone show in each minute around a day, in minutes since the epoch, by another implementation. */
function minutesAround(timezone: string, day: string): { first: number; shown: number[] } {
  const first = Date.parse(`${day}T00:00:00Z`) / MINUTE_MS - DAYS_BEFORE * DAY_MINUTES;
  const offsets = Array.from({ length: ((DAYS_BEFORE + DAYS_AFTER) * DAY_MINUTES) / CHANGE_MINUTES }, (_, index) => {
    const moment = (first + index * CHANGE_MINUTES) * MINUTE_MS;
    return DateTime.fromMillis(moment, { zone: timezone }).offset;
  });
  const minutes = Array.from({ length: CHANGE_MINUTES }, (_, minute) => minute);
  const shown = offsets.flatMap((offset, index) =>
    minutes.map((minute) => first + index * CHANGE_MINUTES + minute + offset),
  );
  return { first, shown };
}

const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom(0, 1, 15, 30, 45, 59))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
const minutesOf = (text: string): number => {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return hours * 60 + minutes;
};

describe.each(CHANGES)('in %s around %s', (timezone, day) => {
  const { first, shown } = minutesAround(timezone, day);
  const window: fc.Arbitrary<PromotionWindow> = fc.record({
    days: fc.uniqueArray(fc.constantFrom(...DAYS), { minLength: 1, maxLength: 7 }),
    from: time,
    to: time,
    timezone: fc.constant(timezone),
  });
  const index = fc.integer({ min: 3 * DAY_MINUTES, max: (DAYS_BEFORE + 2) * DAY_MINUTES });
  const freeze = fc.tuple(index, fc.integer({ min: 1, max: 3_000 })).map(([start, minutes]): Freeze => {
    const at = (each: number) => new Date((first + each) * MINUTE_MS).toISOString();
    return { from: at(start), to: at(start + minutes), reason: 'year end' };
  });

  /** Minutes in which deployments may begin, by reading the clock in each. */
  function scan(windows: readonly PromotionWindow[], freezes: readonly Freeze[]): boolean[] {
    const isOpen = shown.map(() => windows.length === 0);
    const [firstDay = 0, lastDay = 0] = [shown[0], shown.at(-1)].map((each = 0) => Math.floor(each / DAY_MINUTES));
    const firstAt = (target: number): number => {
      const found = shown.findIndex((each) => each >= target);
      return found < 0 ? shown.length : found;
    };
    for (const { days, from, to } of windows)
      for (let each = firstDay + 1; each < lastDay; each++) {
        if (!days.includes(DAYS[(each + 3) % 7] ?? 'mon')) continue;
        const midnight = each * DAY_MINUTES;
        const isOverMidnight = minutesOf(to) <= minutesOf(from);
        const start = firstAt(midnight + minutesOf(from));
        const end = firstAt(midnight + minutesOf(to) + (isOverMidnight ? DAY_MINUTES : 0));
        isOpen.fill(true, start, Math.max(start, end));
      }
    for (const { from, to } of freezes)
      isOpen.fill(false, Date.parse(from) / MINUTE_MS - first, Date.parse(to) / MINUTE_MS - first);
    return isOpen;
  }

  test('the next opening is the first open minute of a scan', () => {
    fc.assert(
      fc.property(
        fc.array(window, { maxLength: 3 }),
        fc.array(freeze, { maxLength: 2 }),
        index,
        (windows, freezes, start) => {
          const expected = scan(windows, freezes).indexOf(true, start);
          const opening = nextOpening({ windows, freezes }, (first + start) * MINUTE_MS);
          const found = opening === null ? -1 : opening / MINUTE_MS - first;
          // What comes after the scanned days is not compared.
          if (expected >= 0 && expected < (DAYS_BEFORE + DAYS_AFTER - 3) * DAY_MINUTES) expect(found).toBe(expected);
          else expect(found < 0 || found > (DAYS_BEFORE + DAYS_AFTER - 4) * DAY_MINUTES).toBe(true);
        },
      ),
      propertyRuns(20, 60),
    );
  });

  test('a time of the clock is the first moment at which it, or a later one, is shown', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2 * DAY_MINUTES, max: 10 * DAY_MINUTES }), (minutes) => {
        const target = (shown[0] ?? 0) + minutes;
        const expected = shown.findIndex((each) => each >= target);
        const moment = momentOfClock(target * MINUTE_MS, timezone);
        expect(moment / MINUTE_MS - first).toBe(expected);
        expect(clockAt(moment, timezone)).toBeGreaterThanOrEqual(target * MINUTE_MS);
      }),
      propertyRuns(60, 200),
    );
  });
});

const berlin = (days: PromotionWindow['days'], from: string, to: string): PromotionWindow => ({
  days,
  from,
  to,
  timezone: 'Europe/Berlin',
});
const next = (windows: PromotionWindow[], from: string, freezes: Freeze[] = []): string | null => {
  const opening = nextOpening({ windows, freezes }, Date.parse(from));
  return opening === null ? null : new Date(opening).toISOString();
};

test.each([
  ['within a window: now', [berlin(['mon'], '09:00', '17:00')], '2026-11-23T10:00:00Z', '2026-11-23T10:00:00.000Z'],
  ['the end is exclusive', [berlin(['mon'], '09:00', '17:00')], '2026-11-23T16:00:00Z', '2026-11-30T08:00:00.000Z'],
  ['over midnight', [berlin(['fri'], '22:00', '02:00')], '2026-11-28T00:30:00Z', '2026-11-28T00:30:00.000Z'],
  [
    'from and to alike: a whole day',
    [berlin(['sat'], '08:00', '08:00')],
    '2026-11-29T06:59:00Z',
    '2026-11-29T06:59:00.000Z',
  ],
  ['a skipped beginning', [berlin(['sun'], '02:30', '04:00')], '2026-03-28T12:00:00Z', '2026-03-29T01:00:00.000Z'],
  [
    'all of it skipped: a week later',
    [berlin(['sun'], '02:10', '02:50')],
    '2026-03-28T12:00:00Z',
    '2026-04-05T00:10:00.000Z',
  ],
  [
    'a beginning that comes twice: the first',
    [berlin(['sun'], '02:30', '04:00')],
    '2026-10-24T12:00:00Z',
    '2026-10-25T00:30:00.000Z',
  ],
  [
    'an end that comes twice: the first',
    [berlin(['sun'], '01:00', '02:30')],
    '2026-10-25T01:10:00Z',
    '2026-11-01T00:00:00.000Z',
  ],
])('%s', (_, windows, from, expected) => expect(next(windows, from)).toBe(expected));

test('freezes hold within windows and without, also one that begins when another ends', () => {
  const freezes = [
    { from: '2026-12-18T00:00:00Z', to: '2026-12-28T00:00:00Z', reason: 'year end' },
    { from: '2026-12-28T00:00:00Z', to: '2027-01-04T00:00:00+01:00', reason: 'audit' },
  ];
  expect(next([], '2026-12-20T00:00:00Z', freezes)).toBe('2027-01-03T23:00:00.000Z');
  expect(next([berlin(['thu'], '10:00', '11:00')], '2026-12-17T12:00:00Z', freezes)).toBe('2027-01-07T09:00:00.000Z');
});

test('a deployment to several environments begins when all are open, if they ever are', () => {
  const early = { windows: [berlin(['mon', 'tue'], '08:00', '12:00')] };
  const late = { windows: [berlin(['tue'], '11:00', '14:00')] };
  const never = { windows: [berlin(['wed'], '11:00', '14:00')] };
  const from = Date.parse('2026-11-22T00:00:00Z');
  expect(nextCommonOpening([early, late], from)).toBe(Date.parse('2026-11-24T10:00:00Z'));
  expect(nextCommonOpening([early, never], from)).toBeNull();
  expect(nextCommonOpening([], from)).toBe(from);
});

test('windows that alternate often and meet once a week are found, also after a long freeze', () => {
  const half = (index: number) => `${String(Math.floor(index / 2)).padStart(2, '0')}:${index % 2 ? '30' : '00'}`;
  const every = (first: number, days: readonly Day[]) =>
    Array.from({ length: 19 }, (_, index) => berlin([...days], half(2 * index + first), half(2 * index + first + 1)));
  const weekdays = DAYS.filter((day) => day !== 'sun');
  const sunday = berlin(['sun'], '10:00', '10:30');
  const one = { windows: [...every(0, weekdays), sunday] };
  const other = { windows: [...every(1, weekdays), sunday] };
  const from = Date.parse('2026-11-22T12:00:00Z');
  expect(nextCommonOpening([one, other], from)).toBe(Date.parse('2026-11-29T09:00:00Z'));
  const freezes = [{ from: '2026-11-23T10:00:00Z', to: '2027-03-01T00:00:00Z', reason: 'year end' }];
  expect(nextCommonOpening([one, { ...other, freezes }], from)).toBe(Date.parse('2027-03-07T09:00:00Z'));
  expect(nextCommonOpening([{ windows: every(0, weekdays) }, { windows: every(1, weekdays) }], from)).toBeNull();
});
