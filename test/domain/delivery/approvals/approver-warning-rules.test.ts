import { approverWarnings } from '../../../../domain/projects/policies/approver-warning-rules.ts';

test.each([
  [{}, { known: [''], people: 1 }, []],
  [{ skipApproval: true, minApprovals: 9 }, { known: [], people: 0 }, []],
  [{ approvers: ['qa', 'dana@example.com'] }, { known: ['qa', 'dana@example.com'], people: 2 }, []],
  [
    { minApprovals: 2 },
    { known: [''], people: 1 },
    ['too_few_approvers #/p/minApprovals The policy asks for 2 approvals; the owners of the tenant are 1 in all'],
  ],
  [
    { approvers: ['qa', 'dan@example.com', 'dana@example.com'], minApprovals: 2 },
    { known: ['dana@example.com'], people: 1 },
    [
      'unknown_approver #/p/approvers/0 qa is not a team with members who may approve',
      'unknown_approver #/p/approvers/1 dan@example.com is not the e-mail of a member who may approve',
      'too_few_approvers #/p/minApprovals The policy asks for 2 approvals; its approvers are 1 in all',
    ],
  ],
])('%j with %j', (policy, known, expected) => {
  const warnings = approverWarnings(policy, known, ['p']);
  expect(warnings.map(({ code, pointer, message }) => `${code} ${pointer} ${message}`)).toEqual(expected);
});
