import { holdCandidate, releaseHold } from '../../../domain/delivery/release-candidates/holds/holds.mutations.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId } from '../../http/parameters.ts';
import { detailed } from './candidate-view.ts';
import { CandidateWithWarnings, HoldIn } from './release-candidates.schemas.ts';

const GROUP = 'Release candidates';

export const holdsRoutes = [
  defineRoute({
    operationId: 'holdReleaseCandidate',
    method: 'post',
    path: '/api/release-candidates/{id}/hold',
    group: GROUP,
    summary: 'Hold a release candidate, so that no run takes it anywhere',
    description:
      'Until it is lifted, or until `until`. New runs that take the candidate to an environment are refused (409 `held`, with the reason), rollbacks to it, too; runs that wait stay in `waiting_hold` and go on afterwards; work that has begun is not stopped, and deployments that pipelines report are recorded, with the violation `held`. No override passes a hold. Holding a held candidate replaces the reason and the time. An aborted or finalized candidate cannot be held. The version of the candidate stays.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    body: HoldIn,
    status: 200,
    response: CandidateWithWarnings,
    errors: ['invalid_transition'],
    audit: 'release_candidate.held',
    handle: ({ params: { id }, body: { reason, until } }, { tx }) =>
      tx(async (work) => detailed(work, await holdCandidate(work, id, { reason, until }), work.now)),
  }),
  defineRoute({
    operationId: 'releaseHoldOfReleaseCandidate',
    method: 'post',
    path: '/api/release-candidates/{id}/release-hold',
    group: GROUP,
    summary: 'Lift the hold of a release candidate',
    description:
      'Lifts the hold that is shown, and runs that wait for it go on. What a failed verification holds, a verification that succeeds lets go, or an owner in person (else 403). A candidate that is not held stays as it is; an aborted or finalized one that is not held is refused.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: CandidateWithWarnings,
    errors: ['invalid_transition'],
    audit: 'release_candidate.hold_lifted',
    handle: ({ params: { id } }, { tx }) => tx(async (work) => detailed(work, await releaseHold(work, id), work.now)),
  }),
];
