import { approvalInForce } from '../../../console/projects/environments/environment-rules.ts';

const OWN = { approvers: ['ada@acme.example'] };
const SHARED = { minApprovals: 2 };

test.each<[string, Parameters<typeof approvalInForce>, ReturnType<typeof approvalInForce>]>([
  ['of the environment', [OWN, { approvalPolicy: SHARED }], { policy: OWN, isOfProject: false }],
  ['of the environment, of whose project nothing is known', [OWN, undefined], { policy: OWN, isOfProject: false }],
  ['of the project', [null, { approvalPolicy: SHARED }], { policy: SHARED, isOfProject: true }],
  ['of neither', [null, {}], { policy: { skipApproval: true }, isOfProject: false }],
  [
    'of neither, as the project says',
    [null, { approvalPolicy: null }],
    { policy: { skipApproval: true }, isOfProject: false },
  ],
  ['not known', [null, undefined], undefined],
])('the approval policy in force is %s', (_, [ofEnvironment, configuration], inForce) => {
  expect(approvalInForce(ofEnvironment, configuration)).toEqual(inForce);
});
