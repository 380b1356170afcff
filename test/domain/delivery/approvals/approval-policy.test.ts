import { ApprovalPolicySchema, expiryOf, termsOf } from '../../../../domain/projects/policies/approval-policy.ts';
import type { ApprovalPolicy, PolicySource } from '../../../../domain/projects/policies/approval-policy-rules.ts';

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

const source = (policy: ApprovalPolicy | null, isForRelease = true): PolicySource => ({ policy, isForRelease });
const terms = (policies: PolicySource[], run?: ApprovalPolicy) => termsOf({ policies, run, now });
const SKIP = source({ skipApproval: true, approvers: ['a'] });

test.each([
  ['no gate', [], undefined],
  ['a policy that skips', [SKIP], undefined],
  ['a run that says so, too', [SKIP, SKIP], { skipApproval: true }],
])('no approval with %s', (_, policies, run) => {
  expect(terms(policies, run)).toBeUndefined();
});

test('an empty policy asks the owners, for a week, and not for oneself where releases go', () => {
  expect(terms([source({})])).toEqual({
    approvers: [],
    minApprovals: 1,
    allowSelfApproval: false,
    allowSoleOwner: false,
    expiresAt: new Date('2026-02-07T12:00:00Z'),
  });
  expect(terms([source({}, false)])).toMatchObject({ allowSelfApproval: true });
});

test('where nobody set a policy the owners are asked, and one who is alone may do so', () => {
  expect(terms([source(null)])).toMatchObject({
    approvers: [],
    minApprovals: 1,
    allowSelfApproval: false,
    allowSoleOwner: true,
  });
});

test('a run cannot talk itself past its targets, but may ask for an approval where it need not', () => {
  const policy = { approvers: ['platform'], minApprovals: 2 };
  expect(terms([source(policy)], { skipApproval: true })).toMatchObject(policy);
  expect(terms([source(policy)], { approvers: ['me'] })).toMatchObject(policy);
  expect(terms([source(null)], { approvers: ['me'], allowSelfApproval: true })).toMatchObject({
    approvers: [],
    allowSelfApproval: false,
  });
  expect(terms([SKIP], { approvers: ['lee@acme.example'] })).toMatchObject({ approvers: ['lee@acme.example'] });
});

test.each<[string, PolicySource[], object]>([
  [
    'the same approvers',
    [source({ approvers: ['Leads', 'b'] }), source({ approvers: ['b', 'leads'] })],
    ['Leads', 'b'],
  ],
  ['other approvers: the owners', [source({ approvers: ['leads'] }), source({ approvers: ['qa'] })], []],
  ['approvers and nobody named: the owners', [source({ approvers: ['leads'] }), source(null)], []],
  ['a policy that skips', [SKIP, source({ approvers: ['leads'] })], ['leads']],
])('several policies with %s', (_, policies, approvers) => {
  expect(terms(policies)?.approvers).toEqual(approvers);
  expect(
    terms(policies.toReversed())
      ?.approvers.map((each) => each.toLowerCase())
      .toSorted(),
  ).toEqual((approvers as string[]).map((each) => each.toLowerCase()).toSorted());
});

test('of several policies the strictest holds in each respect', () => {
  const policies = [
    source({ minApprovals: 3, allowSelfApproval: true, expiresAfter: 'P9D' }),
    source({ expiresAfter: 'PT1H' }, false),
    source(null),
  ];
  expect(terms(policies)).toEqual({
    approvers: [],
    minApprovals: 3,
    allowSelfApproval: false,
    allowSoleOwner: true,
    expiresAt: new Date('2026-01-31T13:00:00Z'),
  });
  expect(terms([source({ allowSelfApproval: false }), source(null)])).toMatchObject({ allowSoleOwner: false });
});
