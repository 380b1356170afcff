import { nextAlert, NO_ALERT } from '../../../../domain/orgs/org-limits/limit-alert-rules.ts';
import {
  levelOf,
  limitSettingsOf,
  thresholdsOf,
  usagePct,
} from '../../../../domain/orgs/org-limits/limit-level-rules.ts';
import { limitsAfter, shownLimits, worstOf } from '../../../../domain/orgs/org-limits/limit-state-rules.ts';
import { orgLimitStatus, type PollFacts } from '../../../../domain/orgs/org-limits/limit-status-rules.ts';

const thresholdsBy = (...settings: unknown[]) => thresholdsOf(settings.map(limitSettingsOf), 'DataStorageMB');

test.each([
  ['no project', [], { warning: 75, critical: 90, isIgnored: false }],
  ['a project without settings', [undefined], { warning: 75, critical: 90, isIgnored: false }],
  ['settings of a project', [{ warning: 60, critical: 95 }], { warning: 60, critical: 95, isIgnored: false }],
  ['a warning level above the critical one', [{ warning: 95 }], { warning: 90, critical: 90, isIgnored: false }],
  [
    'an override, whose missing member is as for the others',
    [{ warning: 60, critical: 95, overrides: { DataStorageMB: { critical: 80 }, FileStorageMB: { warning: 1 } } }],
    { warning: 60, critical: 80, isIgnored: false },
  ],
  [
    'of several projects the strictest',
    [
      { warning: 80, critical: 85 },
      { warning: 50, critical: 99 },
    ],
    { warning: 50, critical: 85, isIgnored: false },
  ],
  [
    'ignored by one: the others watch it',
    [{ warning: 10, ignore: ['DataStorageMB'] }, { warning: 80 }],
    { warning: 80, critical: 90, isIgnored: false },
  ],
  ['ignored by all', [{ ignore: ['DataStorageMB'] }, { ignore: ['DataStorageMB', 'X'] }], { isIgnored: true }],
  [
    'what is malformed counts as absent',
    [{ warning: '60', critical: -1, overrides: [1], ignore: 'DataStorageMB' }],
    { warning: 75, critical: 90, isIgnored: false },
  ],
])('thresholds: %s', (_, settings, expected) => {
  expect(thresholdsBy(...settings)).toMatchObject(expected);
});

test.each([
  [0, 0, 0],
  [5, 0, 0],
  [1, 3, 33.33],
  [2, 3, 66.67],
  [150, 100, 150],
])('%d of %d are %d per cent', (used, max, pct) => {
  expect(usagePct(used, max)).toBe(pct);
});

test('levels begin at their threshold', () => {
  const thresholds = thresholdsBy();
  expect([74.99, 75, 89.99, 90, 120].map((pct) => levelOf(pct, thresholds))).toEqual([
    'ok',
    'warning',
    'warning',
    'critical',
    'critical',
  ]);
  expect(levelOf(100, { ...thresholds, isIgnored: true })).toBe('ok');
});

const eventsOf = (percentages: number[], thresholds = thresholdsBy()) => {
  let state = NO_ALERT;
  return percentages.map((pct) => {
    const { event, ...next } = nextAlert(state, pct, thresholds);
    state = next;
    return event ?? '-';
  });
};

test.each([
  ['each rise is one event', [10, 75, 80, 90, 99, 90], '- warning - critical - -'],
  ['a rise to critical at once is one event', [95, 95], 'critical -'],
  ['recovered after two polls five points below', [80, 70, 70, 70], 'warning - recovered -'],
  ['not five points below', [80, 70.01, 70.01, 70.01], 'warning - - -'],
  ['two polls in a row', [80, 70, 74, 70, 70], 'warning - - - recovered'],
  ['around the warning level there is one event', [75, 74, 75, 74, 76, 73], 'warning - - - - -'],
  ['around the critical level, too', [91, 89, 91, 88, 92], 'critical - - - -'],
  ['a critical one that was below for long rises again', [91, 85, 80, 91], 'critical - - critical'],
  ['from critical it recovers after two polls, too', [91, 10, 10], 'critical - recovered'],
  ['from critical with one poll between the levels', [91, 84, 60, 60], 'critical - - recovered'],
  ['after it recovered, it may rise anew', [80, 10, 10, 80], 'warning - recovered warning'],
])('%s', (_, percentages, expected) => {
  expect(eventsOf(percentages).join(' ')).toBe(expected);
});

test('a warning level of less than five points is recovered from at 0', () => {
  let state = NO_ALERT;
  const events = [4, 0, 0].map((pct) => {
    const { event, ...next } = nextAlert(state, pct, { warning: 4, critical: 90, isIgnored: false });
    state = next;
    return event ?? '-';
  });
  expect(events).toEqual(['warning', '-', 'recovered']);
});

test('a limit that is ignored raises nothing', () => {
  expect(eventsOf([99, 99, 1, 1], { warning: 75, critical: 90, isIgnored: true })).toEqual(['-', '-', '-', '-']);
});

test('used is what does not remain, at least 0, and a limit keeps its place', () => {
  const poll = (known: ReturnType<typeof limitsAfter>['limits'], limits: Record<string, [number, number]>) =>
    limitsAfter(
      known,
      Object.entries(limits).map(([name, [max, remaining]]) => ({ name, max, remaining })),
      [],
      1_000,
      () => [],
    );
  const first = poll([], { A: [100, -20], B: [100, 130], C: [0, 0] });
  expect(shownLimits(first.limits)).toMatchObject([
    { name: 'A', max: 100, used: 120, remaining: -20, usagePct: 120, alertLevel: 'critical' },
    { name: 'B', max: 100, used: 0, remaining: 100, usagePct: 0, alertLevel: 'ok' },
    { name: 'C', max: 0, used: 0, remaining: 0, usagePct: 0, alertLevel: 'ok' },
  ]);
  expect(first.changes).toMatchObject([{ event: 'critical', previousLevel: 'ok', limit: { name: 'A' } }]);
  expect(worstOf(first.limits)).toMatchObject({ name: 'A', usagePct: 120, alertLevel: 'critical' });
  const second = poll(first.limits, { D: [10, 8], B: [100, 20] });
  expect(second.limits.map(({ name }) => name)).toEqual(['A', 'B', 'C', 'D']);
  expect(shownLimits(second.limits).map(({ name }) => name)).toEqual(['B', 'D']);
  expect(second.changes).toMatchObject([{ event: 'warning', limit: { name: 'B' } }]);
});

test('a limit breaks since the first poll in a row whose forecast is within a day', () => {
  const hours = (at: number, used: number) => ({ at: at * 3_600_000, used });
  const rising = [hours(0, 10), hours(1, 20), hours(2, 30), hours(3, 40), hours(4, 50)];
  const poll = (known: ReturnType<typeof limitsAfter>['limits'], at: number, used: number, history = rising) =>
    limitsAfter(known, [{ name: 'DailyApi', max: 100, remaining: 100 - used }], [], hours(at, 0).at, () => history)
      .limits;
  const first = poll([], 5, 60);
  const second = poll(first, 6, 70, [...rising, hours(5, 60)]);
  expect([...first, ...second].map(({ breaksSince }) => breaksSince)).toEqual([hours(5, 0).at, hours(5, 0).at]);
  const fallen = poll(second, 7, 1);
  expect(fallen[0]).not.toHaveProperty('breaksSince');
  expect(poll(fallen, 8, 60)[0]?.breaksSince).toBe(hours(8, 0).at);
});

test('names that are none of a limit are passed over, and so are those past 500', () => {
  const names = [
    'A\u0000',
    '\ud800',
    '',
    'x'.repeat(101),
    'Daily Api.Requests:1-a',
    ...Array.from({ length: 600 }, (_, n) => `L${n}`),
  ];
  const { limits } = limitsAfter(
    [],
    names.map((name) => ({ name, max: 1e308, remaining: -1e308 })),
    [],
    0,
    () => [],
  );
  expect(limits).toHaveLength(500);
  expect(limits[0]).toMatchObject({
    name: 'Daily Api.Requests:1-a',
    max: Number.MAX_SAFE_INTEGER,
    used: Number.MAX_SAFE_INTEGER,
  });
});

test('the worst limit is the one of the highest level, of several the fullest', () => {
  const limit = (name: string, used: number, level: 'ok' | 'warning', more = {}) => {
    return { name, max: 100, used, level, forecastAt: null, ...NO_ALERT, ...more };
  };
  const limits = [limit('A', 80, 'ok'), limit('B', 50, 'warning'), limit('C', 99, 'ok', { isIgnored: true })];
  expect(worstOf(limits)).toMatchObject({ name: 'B' });
  expect(worstOf([limit('A', 10, 'ok'), limit('D', 20, 'ok')])).toMatchObject({ name: 'D' });
  expect(worstOf([{ ...limit('A', 10, 'ok'), max: 0 }])).toBeNull();
});

const MINUTE = 60_000;
test.each<[string, Partial<PollFacts>]>([
  ['ok', {}],
  ['warning', { worstLevel: 'warning' }],
  ['stale', { worstLevel: 'critical', polledAt: 39 * MINUTE }],
  ['critical', { worstLevel: 'critical', polledAt: 40 * MINUTE }],
  ['pending', { polledAt: null, health: 'unknown' }],
  ['unreachable', { polledAt: null, failure: 'timeout' }],
  ['unreachable', { failure: 'malformed' }],
  ['ok', { failure: 'limited' }],
  ['stale', { failure: 'limited', polledAt: 0 }],
  ['auth_failed', { failure: 'auth_failed' }],
  ['auth_failed', { health: 'auth_failed' }],
])('an org is %s: %p', (expected, facts) => {
  const usual: PollFacts = { health: 'ok', polledAt: 95 * MINUTE, failure: null, worstLevel: 'ok' };
  expect(orgLimitStatus({ ...usual, ...facts }, 100 * MINUTE, 15 * MINUTE)).toBe(expected);
});
