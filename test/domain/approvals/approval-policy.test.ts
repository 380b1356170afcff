import { ApprovalPolicySchema, expiryOf, termsOf } from '../../../domain/approvals/approval-policy.ts';

const now = new Date('2026-01-31T12:00:00Z');

test.each([
  ['P7D', '2026-02-07T12:00:00.000Z'],
  ['PT90S', '2026-01-31T12:01:30.000Z'],
  ['P1M', '2026-02-28T12:00:00.000Z'],
  ['P1DT2H30M', '2026-02-01T14:30:00.000Z'],
  ['P2W', '2026-02-14T12:00:00.000Z'],
])('%s from the last day of January is %s', (duration, moment) => {
  expect(expiryOf(now, duration).toISOString()).toBe(moment);
});

test.each(['P0D', 'PT0S', 'P2Y', 'P400D', '7D', 'P', '-P1D'])('%s is no time to wait', (expiresAfter) => {
  expect(ApprovalPolicySchema.safeParse({ expiresAfter }).success).toBe(false);
});

const terms = (environment: object | null, run?: object, isForRelease = true) =>
  termsOf({ environment, run, isForRelease, now });

test.each([
  ['no policy', null, undefined],
  ['a policy that skips', { skipApproval: true, approvers: ['a'] }, undefined],
  ['a run that says so where nothing asks', null, { skipApproval: true }],
])('no approval with %s', (_, environment, run) => {
  expect(terms(environment, run)).toBeUndefined();
});

test('an empty policy asks the owners, for a week, and not for oneself where releases go', () => {
  expect(terms({})).toEqual({
    approvers: [],
    minApprovals: 1,
    allowSelfApproval: false,
    expiresAt: new Date('2026-02-07T12:00:00Z'),
  });
  expect(terms({}, undefined, false)).toMatchObject({ allowSelfApproval: true });
});

test('a run cannot talk itself past its environment, but may ask for an approval where it need not', () => {
  const policy = { approvers: ['platform'], minApprovals: 2 };
  expect(terms(policy, { skipApproval: true })).toMatchObject(policy);
  expect(terms(policy, { approvers: ['me'] })).toMatchObject(policy);
  expect(terms(null, { approvers: ['lee@acme.example'] })).toMatchObject({ approvers: ['lee@acme.example'] });
  expect(terms({ skipApproval: true }, { approvers: ['lee@acme.example'] })).toMatchObject({
    approvers: ['lee@acme.example'],
  });
});
