import {
  isStale,
  listQuestion,
  refreshAfterMs,
  retryAfterMs,
} from '../../../../domain/code/pull-requests/refresh-rules.ts';

const NOW = new Date('2026-11-22T12:00:00Z');
const MINUTE = 60_000;
const DAY = 86_400_000;
const ago = (ms: number) => new Date(NOW.getTime() - ms);

test.each([
  ['without pull requests', undefined, 360],
  ['with one of today', ago(MINUTE), 15],
  ['with one of 14 days ago', ago(14 * DAY), 15],
  ['with older ones alone', ago(14 * DAY + 1), 360],
])('a project %s is refreshed every so many minutes', (_, changedAt, minutes) => {
  expect(refreshAfterMs(changedAt, NOW)).toBe(minutes * MINUTE);
});

test.each([
  [0, undefined, 15],
  [1, undefined, 30],
  [2, undefined, 60],
  [60, undefined, 360],
  [0, 5 * MINUTE, 5],
  [3, 60 * MINUTE, 60],
  [0, 30 * DAY, 360],
])('after %d failures and a limit of %p ms the host is asked again in so many minutes', (failures, limit, minutes) => {
  expect(retryAfterMs(failures, limit)).toBe(minutes * MINUTE);
});

test.each([
  ['never refreshed', null, null, true],
  ['never refreshed, but told of by hooks', null, ago(0), true],
  ['refreshed 45 minutes ago', ago(45 * MINUTE), null, false],
  ['refreshed before that', ago(45 * MINUTE + 1), null, true],
  ['refreshed before that, told of since', ago(3 * DAY), ago(2 * DAY), false],
  ['told of before it was refreshed long ago', ago(DAY), ago(2 * DAY), true],
])('a project is stale: %s', (_, refreshedAt, hookAt, expected) => {
  expect(isStale({ refreshedAt, hookAt }, NOW)).toBe(expected);
});

const known = { refreshedAt: ago(15 * MINUTE), allOpenAt: ago(DAY - 1), readUntil: ago(20 * MINUTE), etag: 'W/"1"' };
test.each([
  ['what changed since', known, { since: known.readUntil, withAllOpen: false, etag: 'W/"1"' }],
  [
    'all that are open once a day',
    { ...known, allOpenAt: ago(DAY) },
    { since: known.readUntil, withAllOpen: true, etag: null },
  ],
  [
    'all at first',
    { refreshedAt: null, allOpenAt: null, readUntil: null, etag: null },
    { since: ago(14 * DAY), withAllOpen: true, etag: null },
  ],
  [
    'all after a long absence',
    { ...known, readUntil: ago(15 * DAY) },
    { since: ago(14 * DAY), withAllOpen: true, etag: null },
  ],
])('the host is asked for %s', (_, state, expected) => {
  expect(listQuestion(state, NOW)).toEqual(expected);
});
