import { candidateById } from '../../../domain/delivery/release-candidates/release-candidates.queries.ts';
import { lockPlace } from '../../../domain/delivery/environment-locks/environment-locks.queries.ts';
import { candidateTimeline } from '../../../domain/delivery/timelines/candidate-timeline.queries.ts';
import { environmentTimeline } from '../../../domain/delivery/timelines/environment-timeline.queries.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId } from '../../http/parameters.ts';
import { cursorPage } from '../../http/place-cursor.ts';
import { CandidateTimeline, EnvironmentTimeline, TimelineQuery } from './timelines.schemas.ts';

export const timelinesRoutes = [
  defineRoute({
    operationId: 'getReleaseCandidateTimeline',
    method: 'get',
    path: '/api/release-candidates/{id}/timeline',
    group: 'Release candidates',
    summary: 'Get what became of a release candidate, newest first',
    description:
      'When it was created, changed, held, moved, superseded and aborted, its deployments and rollbacks, and the runs that name it, with their approvals and overrides.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    query: TimelineQuery,
    status: 200,
    response: CandidateTimeline,
    async handle({ params: { id }, query: { cursor, limit } }, { reads, requestUrl }) {
      const { candidate } = await candidateById(reads, id);
      const { next, ...timeline } = await candidateTimeline(reads, candidate, { cursor, limit });
      return cursorPage(requestUrl, { candidateId: id, ...timeline }, next);
    },
  }),
  defineRoute({
    operationId: 'getEnvironmentTimeline',
    method: 'get',
    path: '/api/environments/{id}/timeline',
    group: 'Environments',
    summary: 'Get what ran in an environment, who locked it, and what failed there, newest first',
    description:
      'Deployments with their status, rollbacks, runs that ended there, overrides of its policy, its lock, and candidates that its verifications hold. Locks are kept for 90 days.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    query: TimelineQuery,
    status: 200,
    response: EnvironmentTimeline,
    async handle({ params: { id }, query: { cursor, limit } }, { reads, requestUrl }) {
      const { environmentId } = await lockPlace(reads, id);
      const { next, ...timeline } = await environmentTimeline(reads, environmentId, { cursor, limit });
      return cursorPage(requestUrl, { environmentId, ...timeline }, next);
    },
  }),
];
