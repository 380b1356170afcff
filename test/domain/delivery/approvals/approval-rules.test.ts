import {
  APPROVAL_STATUSES,
  type ApprovalTerms,
  decide,
  isApprover,
} from '../../../../domain/delivery/approvals/approval-rules.ts';
import type { Voter } from '../../../../domain/projects/policies/approval-policy-rules.ts';

const dana: Voter = { id: 'dana', email: 'dana@acme.example', isOwner: false, isSoleOwner: false, teams: ['platform'] };
const olga: Voter = { id: 'olga', email: 'olga@acme.example', isOwner: true, isSoleOwner: false, teams: ['board'] };

test.each([
  ['nobody named: an owner', [], olga, true],
  ['nobody named: no member', [], dana, false],
  ['an e-mail, in any case', ['Dana@Acme.example'], dana, true],
  ['a team', ['release', 'platform'], dana, true],
  ['others', ['release', 'lee@acme.example'], dana, false],
  ['an owner has no right beside those that are named', ['platform'], olga, false],
])('approvers: %s', (_, approvers, voter, may) => {
  expect(isApprover(approvers, voter)).toBe(may);
});

const terms = (more: Partial<ApprovalTerms> = {}): ApprovalTerms => ({
  status: 'requested',
  approvers: ['platform', 'olga@acme.example'],
  minApprovals: 1,
  allowSelfApproval: false,
  requesterId: 'somebody',
  requesterIds: [],
  allowSoleOwner: false,
  ...more,
});
const approvedBy = (voterId: string) => ({ voterId, decision: 'approve' as const });

test.each([
  ['one approval is enough', terms(), [], 'approve', 'approved', false],
  ['the first of two is not', terms({ minApprovals: 2 }), [], 'approve', 'requested', false],
  ['the second of two is', terms({ minApprovals: 2 }), [approvedBy('olga')], 'approve', 'approved', false],
  ['the same person counts once', terms({ minApprovals: 2 }), [approvedBy('dana')], 'approve', 'requested', true],
  ['one rejection ends it', terms({ minApprovals: 2 }), [approvedBy('olga')], 'reject', 'rejected', false],
  ['who approved may still refuse', terms({ minApprovals: 2 }), [approvedBy('dana')], 'reject', 'rejected', false],
  ['who asked for it may refuse it', terms({ requesterId: 'dana' }), [], 'reject', 'rejected', false],
  [
    'who asked for it may approve where that is allowed',
    terms({ requesterId: 'dana', allowSelfApproval: true }),
    [],
    'approve',
    'approved',
    false,
  ],
  [
    'a repetition after the end changes nothing',
    terms({ status: 'approved' }),
    [approvedBy('dana')],
    'approve',
    'approved',
    true,
  ],
] as const)('%s', (_, given, votes, decision, status, isRepeated) => {
  expect(decide(given, votes, dana, decision)).toEqual({ status, isRepeated });
});

test.each(APPROVAL_STATUSES.filter((status) => status !== 'requested'))(
  'an approval that is %s takes no decision',
  (status) => {
    for (const decision of ['approve', 'reject'] as const) {
      expect(() => decide(terms({ status }), [approvedBy('olga')], dana, decision)).toThrow(
        expect.objectContaining({ code: 'invalid_transition' }),
      );
    }
  },
);

test('refusals name the reason', () => {
  expect(() => decide(terms({ approvers: ['release'] }), [], dana, 'approve')).toThrow(
    /Only approvers may decide: release/,
  );
  expect(() => decide(terms({ requesterId: 'dana' }), [], dana, 'approve')).toThrow(/may not give it/);
});

const alone: Voter = { ...olga, isSoleOwner: true };
const inPerson = { approvers: [], requesterId: 'olga', requesterIds: ['olga'] };
const byToken = { approvers: [], requesterId: 'token', requesterIds: ['olga'] };

test.each([
  ['in person', terms(inPerson), olga, false],
  ['by a token, a schedule or a rerun of theirs', terms(byToken), olga, false],
  [
    'for others who asked, too',
    terms({ ...inPerson, requesterId: 'dana', requesterIds: ['dana', 'olga'] }),
    olga,
    false,
  ],
  ['by what others own', terms({ ...byToken, requesterIds: ['dana'] }), olga, true],
  ['by a token where self-approval is allowed', terms({ ...byToken, allowSelfApproval: true }), olga, true],
  ['in person as the only owner', terms({ ...inPerson, allowSoleOwner: true }), alone, true],
  ['in person as one of several owners', terms({ ...inPerson, allowSoleOwner: true }), olga, false],
  ['in person as the only owner where a policy names others', terms(inPerson), alone, false],
  ['by a token as the only owner', terms({ ...byToken, allowSoleOwner: true }), alone, false],
])('an owner who asked %s may approve: %#', (_, given, voter, may) => {
  const approve = () => decide(given, [], voter, 'approve');
  if (may) expect(approve()).toEqual({ status: 'approved', isRepeated: false });
  else expect(approve).toThrow(/may not give it/);
});
