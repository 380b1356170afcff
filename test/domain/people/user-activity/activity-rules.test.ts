import { activityIdentity, checkOf, elapsedMs } from '../../../../domain/people/user-activity/activity-rules.ts';

const LINKED = [
  { provider: 'host-b', username: 'dana@example.com' },
  { provider: 'host-a', username: 'dana-work' },
  { provider: 'host-a', username: 'dana' },
];
const nobody = { 'host-a': [], 'host-b': [], 'host-c': [] };

test.each([
  [
    'linked accounts',
    LINKED,
    {},
    { 'host-a': ['dana', 'dana-work'], 'host-b': ['dana@example.com'], 'host-c': [] },
    'linked',
  ],
  [
    'a name instead',
    LINKED,
    { 'host-a': 'Erin' },
    { 'host-a': ['erin'], 'host-b': ['dana@example.com'], 'host-c': [] },
    'override',
  ],
  ['a name without any account', [], { 'host-c': 'Erin' }, { ...nobody, 'host-c': ['erin'] }, 'override'],
  ['nothing', [], { 'host-a': undefined }, nobody, 'none'],
])('who somebody is at the hosts by %s', (_, linked, overrides, names, source) => {
  const identity = activityIdentity(linked, overrides, true);
  expect(identity).toMatchObject({ names, source, isLinked: linked.length > 0 });
  expect(identity.hint === null).toBe(source !== 'none');
});

test('an application token is told to name somebody', () => {
  expect(activityIdentity([], {}, false).hint).toMatch(/^An application token has no account/);
});

test.each([
  [null, null, null],
  ['pending', 'queued', null],
  ['running', 'in_progress', null],
  ['succeeded', 'completed', 'success'],
  ['failed', 'completed', 'failure'],
  ['cancelled', 'completed', 'cancelled'],
] as const)('builds that are %s are a check that is %s, %s', (state, status, conclusion) => {
  expect(checkOf(state)).toEqual({ status, conclusion });
});

test('the time elapsed ends with the pull request, and is never negative', () => {
  const now = new Date('2026-11-22T12:00:00Z');
  expect(elapsedMs('2026-11-22T11:00:00.000Z', null, now)).toBe(3_600_000);
  expect(elapsedMs('2026-11-22T11:00:00.000Z', '2026-11-22T11:30:00.000Z', now)).toBe(1_800_000);
  expect(elapsedMs('2026-11-22T12:00:05.000Z', null, now)).toBe(0);
});
