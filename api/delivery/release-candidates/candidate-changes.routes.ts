import { ABORTED } from '../../../domain/delivery/release-candidates/candidate-status-rules.ts';
import {
  changeStatus,
  changeStatusByName,
} from '../../../domain/delivery/release-candidates/candidate-status.mutations.ts';
import { updatePackages } from '../../../domain/delivery/release-candidates/release-candidates.mutations.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId } from '../../http/parameters.ts';
import { detailed } from './candidate-view.ts';
import {
  AbortIn,
  CandidateWithWarnings,
  StatusByNameIn,
  StatusIn,
  UpdatePackagesIn,
} from './release-candidates.schemas.ts';

const GROUP = 'Release candidates';
const MOVES = ['release_candidate.status_changed', 'release_candidate.aborted'];

export const candidateChangesRoutes = [
  defineRoute({
    operationId: 'updateReleaseCandidateStatus',
    method: 'patch',
    path: '/api/release-candidates/{id}/status',
    group: GROUP,
    summary: 'Update the status of a release candidate',
    description:
      'A candidate can move between `pending` and `in_progress`, and from either to `aborted` or `finalized`, which are final. Setting the current status again changes nothing. Who may set `finalized` is a setting of the project, `configuration.manualFinalization`.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    body: StatusIn,
    status: 200,
    response: CandidateWithWarnings,
    errors: ['invalid_transition'],
    audit: MOVES,
    handle: ({ params: { id }, body: { status } }, { tx }) =>
      tx(async (work) => detailed(work, await changeStatus(work, id, status), work.now)),
  }),
  defineRoute({
    operationId: 'updateReleaseCandidateStatusByName',
    method: 'patch',
    path: '/api/release-candidates/status-by-name',
    group: GROUP,
    summary: 'Update the status of a release candidate, found by name',
    roles: ANY_ROLE,
    projectScope: 'row',
    body: StatusByNameIn,
    status: 200,
    response: CandidateWithWarnings,
    errors: ['invalid_transition'],
    audit: MOVES,
    handle: ({ body: { status, ...name } }, { tx }) =>
      tx(async (work) => detailed(work, await changeStatusByName(work, name, { status }), work.now)),
  }),
  defineRoute({
    operationId: 'abortReleaseCandidate',
    method: 'post',
    path: '/api/release-candidates/abort',
    group: GROUP,
    summary: 'Abort a release candidate',
    description:
      'This cannot be undone. Aborting an aborted candidate again changes nothing; a finalized candidate cannot be aborted.',
    roles: ANY_ROLE,
    projectScope: 'row',
    body: AbortIn,
    status: 200,
    response: CandidateWithWarnings,
    errors: ['invalid_transition'],
    audit: MOVES,
    handle: ({ body: { reason, ...name } }, { tx }) =>
      tx(async (work) => detailed(work, await changeStatusByName(work, name, { status: ABORTED, reason }), work.now)),
  }),
  defineRoute({
    operationId: 'updateReleaseCandidatePackages',
    method: 'patch',
    path: '/api/release-candidates/update-packages',
    group: GROUP,
    summary: 'Remove packages from a release candidate or change their versions',
    description: 'Refused for finalized and aborted candidates, and for packages that the candidate does not contain.',
    roles: ANY_ROLE,
    projectScope: 'row',
    body: UpdatePackagesIn,
    status: 200,
    response: CandidateWithWarnings,
    errors: ['locked'],
    audit: 'release_candidate.packages_updated',
    handle: ({ body: { excludePackages, versionOverrides, ...name } }, { tx }) =>
      tx(async (work) =>
        detailed(work, await updatePackages(work, name, { excludePackages, versionOverrides }), work.now),
      ),
  }),
];
