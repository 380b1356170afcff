import {
  judgeCalls,
  judgeValues,
  metricSpan,
  nextLookAt,
  overdueAt,
  statesBefore,
  type VerificationFact,
} from '../../../../domain/delivery/verification/verification-rules.ts';
import { labelOfCheck } from '../../../../domain/projects/policies/verification-policy-rules.ts';
import { type Demands, unmetBefore } from '../../../../domain/delivery/promotion/promotable-rules.ts';

const MINUTE_MS = 60_000;
const check = { type: 'metric', query: 'x', min: 1, max: 5, minutes: 10 } as const;
const at = (value: number) => ({ at: 0, value });

test('a metric is looked at each minute from a minute after the deployment until its time is over', () => {
  expect(metricSpan(check, 0, 59_999)).toBeUndefined();
  expect(metricSpan(check, 0, 90_000)).toEqual({ from: 60_000, to: 90_000, stepMs: MINUTE_MS, isLast: false });
  expect(metricSpan(check, 0, 11 * MINUTE_MS)).toMatchObject({ to: 10 * MINUTE_MS, isLast: true });
  expect(nextLookAt(check, 0, 0)).toBe(MINUTE_MS);
  expect(nextLookAt(check, 0, 9.5 * MINUTE_MS)).toBe(10 * MINUTE_MS);
  expect(nextLookAt(check, 0, 12 * MINUTE_MS)).toBe(13 * MINUTE_MS);
});

test.each([1, 47, 48, 49, 50, 1_440])('a metric of %i minutes is asked for fewer than 50 moments', (minutes) => {
  const span = metricSpan({ ...check, minutes }, 0, minutes * MINUTE_MS);
  expect(span?.isLast).toBe(true);
  const { from = 0, to = 0, stepMs = 1 } = span ?? {};
  expect(Math.floor((to - from) / stepMs) + 1).toBeLessThan(50);
});

test('values within bounds pass in the end, one outside fails at once, and none says nothing good', () => {
  expect(judgeValues(check, [at(1), at(5)], false)).toBeUndefined();
  expect(judgeValues(check, [at(1), at(5)], true)?.state).toBe('passed');
  expect(judgeValues(check, [at(1), at(5.1)], false)).toMatchObject({
    state: 'failed',
    detail: '5.1 at 1970-01-01T00:00:00.000Z is above 5',
  });
  expect(judgeValues(check, [at(0)], false)?.detail).toContain('below 1');
  expect(judgeValues(check, [at(Number.POSITIVE_INFINITY)], false)?.state).toBe('failed');
  expect(judgeValues(check, [at(Number.NaN)], true)?.state).toBe('failed');
  expect(judgeValues(check, [], true)?.state).toBe('failed');
});

test('calls are enough as soon as that cannot change, too many at once, and too few at the end', () => {
  const calls = { type: 'rehearsal', workspace: 'w', scenario: 's', path: '/', atLeast: 2, minutes: 10 } as const;
  const few = { reason: 'count', found: 1 };
  expect(judgeCalls(calls, undefined, false)?.state).toBe('passed');
  expect(judgeCalls({ ...calls, atMost: 3 }, undefined, false)).toBeUndefined();
  expect(judgeCalls({ ...calls, atMost: 3 }, undefined, true)?.state).toBe('passed');
  expect(judgeCalls({ ...calls, atMost: 3 }, { reason: 'count', found: 4 }, false)?.state).toBe('failed');
  expect(judgeCalls(calls, few, false)).toBeUndefined();
  expect(judgeCalls(calls, few, true)?.detail).toBe('1 calls came, fewer than 2');
  expect(judgeCalls(calls, { reason: 'unknown', found: 2 }, true)?.detail).toContain('not known');
});

test('what has no end is overdue, and what has ended moves no more', () => {
  expect(overdueAt({ type: 'command', name: 'x', timeoutMinutes: 7 }, 0)).toBe(7 * MINUTE_MS);
  expect(overdueAt(check, 0)).toBe(40 * MINUTE_MS);
  expect(statesBefore('verified')).toEqual(['running']);
  expect(statesBefore('superseded')).toEqual(['pending', 'running']);
});

const fact = (state: VerificationFact['state'], more: Partial<VerificationFact> = {}): VerificationFact => ({
  state,
  endedAt: 0,
  detail: null,
  ...more,
});
const demands = (verification: VerificationFact | undefined, more: Partial<Demands> = {}): Demands => ({
  environmentName: 'prod',
  policy: { after: ['uat'], requireVerified: true },
  deployed: new Map([['uat', 0]]),
  verifications: new Map(verification ? [['uat', verification]] : []),
  ...more,
});

test.each([
  ['verified', undefined],
  ['running', []],
  ['pending', []],
  ['failed', ['uat']],
  ['superseded', ['uat']],
  [null, ['uat']],
] as const)('where a deployment must be verified, one that is %s lacks %j', (state, missing) => {
  expect(unmetBefore(demands(fact(state)), 0)?.missing).toEqual(missing);
});

test('a soak begins when the deployment was verified only where that is asked for', () => {
  const verified = fact('verified', { endedAt: 50 * MINUTE_MS });
  const policy = { after: ['uat'], requireVerified: true, soakMinutes: 60 };
  expect(unmetBefore(demands(verified, { policy }), 60 * MINUTE_MS)).toBeUndefined();
  const fromVerified = { ...policy, soakFrom: 'verified' } as const;
  expect(unmetBefore(demands(verified, { policy: fromVerified }), 60 * MINUTE_MS)).toMatchObject({
    nextAt: 110 * MINUTE_MS,
  });
});

test('the name of a check is cut, and can be stored', () => {
  const label = labelOfCheck({ ...check, query: `${'a'.repeat(192)}😀` });
  expect([label.length, label.isWellFormed()]).toEqual([200, true]);
});
