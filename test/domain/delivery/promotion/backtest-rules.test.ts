import {
  EnvironmentPast,
  judgePast,
  type PastDeployment,
  type PastVerification,
} from '../../../../domain/delivery/promotion/backtest-rules.ts';
import type { PromotionPolicy } from '../../../../domain/projects/policies/promotion-policy-rules.ts';

const HOUR_MS = 3_600_000;
const NOON = Date.parse('2026-11-02T12:00:00Z');
const at = (hours: number): number => NOON + hours * HOUR_MS;

let made = 0;
const deployment = (hours: number, more: Partial<PastDeployment> = {}): PastDeployment => ({
  id: String(++made),
  domain: 'core',
  releaseName: 'r1',
  at: at(hours),
  // Imported long after.
  receivedAt: at(1_000),
  status: 'Success',
  rolledBackAt: null,
  contentDigest: 'one',
  commitSha: null,
  packages: { app: '1' },
  installsAll: true,
  ...more,
});
const other = { releaseName: 'r2', contentDigest: 'two', packages: { app: '2' } };

const judge = (
  uat: readonly PastDeployment[],
  promotion: PromotionPolicy | null,
  { approvalMs = null, verifications = [] }: { approvalMs?: number | null; verifications?: PastVerification[] } = {},
) => {
  const past = new EnvironmentPast(uat, () => verifications);
  const policy = { environmentName: 'prod', promotion, approvalMs };
  return judgePast(deployment(0), policy, (name) => (name === 'uat' ? past : undefined), { app: '1' });
};
const after = { after: ['uat'] };
const soak = { ...after, soakMinutes: 120 };

test.each<[string, PastDeployment[], PromotionPolicy | null, object]>([
  ['nothing asked', [], null, { outcome: 'goes' }],
  ['never there', [], after, { outcome: 'refused', reason: expect.stringContaining('not deployed to uat') }],
  ['there before', [deployment(-1)], after, { outcome: 'goes' }],
  ['there only later', [deployment(1)], after, { outcome: 'refused' }],
  ['with other content', [deployment(-1, { contentDigest: 'before' })], after, { outcome: 'refused' }],
  ['failed there', [deployment(-1, { status: 'Failed' })], after, { outcome: 'refused' }],
  ['taken back by then', [deployment(-3, { rolledBackAt: at(-2) })], after, { outcome: 'refused' }],
  ['taken back since', [deployment(-3, { rolledBackAt: at(2) })], after, { outcome: 'goes' }],
  ['in part', [deployment(-1, { status: 'Partial', packages: {}, installsAll: false })], after, { outcome: 'refused' }],
  ['long enough', [deployment(-2)], soak, { outcome: 'goes' }],
  ['not long enough, whenever that was received', [deployment(-0.5)], soak, { outcome: 'waits', until: at(1.5) }],
  ['replaced', [deployment(-3), deployment(-1, other)], soak, { outcome: 'waits', until: null }],
  ['replaced only later', [deployment(-3), deployment(1, other)], soak, { outcome: 'goes' }],
  [
    'frozen',
    [],
    { freezes: [{ from: new Date(at(-1)).toISOString(), to: new Date(at(5)).toISOString(), reason: 'x' }] },
    { outcome: 'waits', until: at(5) },
  ],
  [
    'outside its windows',
    [],
    { windows: [{ days: ['mon'], from: '13:00', to: '14:00', timezone: 'UTC' }] },
    { outcome: 'waits', until: at(1) },
  ],
])('%s', (_, uat, policy, expected) => {
  expect(judge(uat, policy)).toMatchObject(expected);
});

test('an approval costs its time, and the window is that of then', () => {
  expect(judge([], null, { approvalMs: HOUR_MS })).toMatchObject({ outcome: 'waits', until: at(1) });
  const windows = [{ days: ['mon' as const], from: '12:00', to: '12:30', timezone: 'UTC' }];
  expect(judge([], { windows })).toEqual({ outcome: 'goes' });
  expect(judge([], { windows }, { approvalMs: HOUR_MS })).toMatchObject({ until: at(7 * 24) });
});

test.each<[PastVerification['state'], number, number | null, string]>([
  ['verified', -1, -0.5, 'goes'],
  ['verified', -1, 0.5, 'refused'],
  ['failed', -1, -0.5, 'refused'],
  ['verified', 0.5, 0.6, 'refused'],
])('one that is %s, begun at %d and ended at %d: %s', (state, createdAt, endedAt, outcome) => {
  const verifications = [{ state, createdAt: at(createdAt), endedAt: endedAt && at(endedAt), detail: null }];
  expect(judge([deployment(-2)], { ...after, requireVerified: true }, { verifications }).outcome).toBe(outcome);
});
