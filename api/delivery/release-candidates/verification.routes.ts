import { z } from 'zod';
import { verifyAgain } from '../../../domain/delivery/verification/verification-requests.mutations.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, Name } from '../../http/parameters.ts';
import { DeploymentVerification } from '../deployment-facts.ts';

export const verificationRoutes = [
  defineRoute({
    operationId: 'verifyReleaseCandidate',
    method: 'post',
    path: '/api/release-candidates/{id}/verify',
    group: 'Release candidates',
    summary: 'Verify the last deployment of a release candidate to an environment again',
    description:
      'By the checks that the environment has now. A verification that goes on is joined. Refused where the present content of the candidate was not deployed, or the environment has no `verification`.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    body: z.strictObject({ environmentName: Name }),
    status: 202,
    response: DeploymentVerification,
    errors: ['invalid_transition'],
    audit: 'release.verification_requested',
    handle: ({ params: { id }, body: { environmentName } }, { tx, actor }) =>
      tx((work) => verifyAgain(work, id, environmentName, actor)),
  }),
];
