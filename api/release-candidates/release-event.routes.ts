import { z } from 'zod';
import type { EventOutcome } from '../../domain/release-candidates/finalization-rules.ts';
import { previewEvent, reportDeployment } from '../../domain/release-candidates/release-events.mutations.ts';
import { notFound } from '../../domain/shared/errors.ts';
import { EngineUnavailableError } from '../../workflows/launch.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { queryFlag } from '../http/parameters.ts';
import { reply } from '../http/replies.ts';
import { ReleaseEventIn, ReleaseEventOut } from './release-event.schemas.ts';

const repeated = (outcome: EventOutcome): EventOutcome => ({ ...outcome, updated: false });

export const releaseEventRoutes = [
  defineRoute({
    operationId: 'reportReleaseEvent',
    method: 'post',
    path: '/api/release-candidates/release-event',
    group: 'Release candidates',
    summary: 'Report a deployment of a release to an environment',
    description: [
      'Records the deployment and drives the candidate: the first success makes it in_progress; deployed to all active environments of category `release` whose pattern takes its branch, it is finalized when the project setting `autoReleaseFinalization` is on, and older open candidates of the same domain and branch along with it.',
      'Idempotent by `executionId`, else by `deployedAt`. Events of one domain are applied one after another. When the engine does not answer within 5 s the reply is 202: the event is recorded and applied later.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    query: z.strictObject({
      dryRun: queryFlag(false).meta({ description: 'Tell what would happen, and change nothing' }),
    }),
    body: ReleaseEventIn,
    status: 200,
    otherStatuses: [202],
    response: ReleaseEventOut,
    audit: ['release.deployment_recorded', 'release_candidate.status_changed'],
    async handle({ query: { dryRun }, body: event }, { tx, adapters, actor, requestId, log }) {
      if (dryRun) return tx((work) => previewEvent(work, event));
      const stored = await tx((work) => reportDeployment(work, event, requestId));
      if (stored.outcome) return repeated(stored.outcome);
      const { repositoryIdentifier, domain } = event;
      try {
        const outcome = await adapters.releases.eventQueue(
          { tenantId: actor.tenantId, projectId: stored.projectId, repositoryIdentifier, domain },
          stored.id,
        );
        if (!outcome) throw notFound('The project');
        return stored.isNew ? outcome : repeated(outcome);
      } catch (error) {
        if (!(error instanceof EngineUnavailableError)) throw error;
        log.warn({ err: error, deploymentId: stored.id }, 'release event waits for the engine');
        return reply(RECORDED, { status: 202 });
      }
    },
  }),
];

const RECORDED = {
  updated: false,
  newStatus: null,
  previousStatus: null,
  intermediateCandidatesFinalized: false,
  finalizationPending: false,
  missingEnvironments: [],
  message: 'The event is recorded; it is applied as soon as the workflow engine answers',
};
