import { z } from 'zod';
import type { EventOutcome } from '../../../domain/delivery/release-candidates/finalization-rules.ts';
import { isOwnDeployment } from '../../../domain/kernel/shared/run-token-rules.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { reportDeployment } from '../../../domain/delivery/release-candidates/deployment-reports.mutations.ts';
import { previewEvent } from '../../../domain/delivery/release-candidates/release-events.mutations.ts';
import type { PolicyViolation } from '../../../domain/projects/policies/policy-violation-rules.ts';
import { notFound } from '../../../domain/kernel/shared/errors.ts';
import { warning } from '../../../domain/kernel/shared/warning-rules.ts';
import { signalMirrorLater } from '../../../workflows/code/git/git-mirror.contract.ts';
import { EngineUnavailableError } from '../../../workflows/launch.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { queryFlag } from '../../http/parameters.ts';
import { reply } from '../../http/replies.ts';
import { ReleaseEventIn, ReleaseEventOut } from './release-event.schemas.ts';

type Outcome = Omit<EventOutcome, 'newStatus' | 'previousStatus'> &
  Record<'newStatus' | 'previousStatus', string | null>;

const repeated = (outcome: EventOutcome): EventOutcome => ({ ...outcome, updated: false });

const resultOf = (outcome: Outcome, policyViolations: PolicyViolation[]) => ({
  ...outcome,
  policyViolations,
  warnings: policyViolations.map(({ detail }, index) =>
    warning('policy_violation', ['policyViolations', index], detail),
  ),
});

export const releaseEventRoutes = [
  defineRoute({
    operationId: 'reportReleaseEvent',
    method: 'post',
    path: '/api/release-candidates/release-event',
    isRepeatable: true,
    group: 'Release candidates',
    summary: 'Report the deployment of a release to an environment',
    description: [
      'Records the deployment and updates the candidate: the first successful deployment moves it to `in_progress`. Once it has been deployed to all active environments of category `release` whose branch pattern matches, and the project has `autoReleaseFinalization` enabled, the candidate and older open candidates of the same domain and branch are finalized.',
      'A candidate is deployed to an environment when each of its artifacts was installed there in its version with its present content (commit and artifacts), or runs there in that version by the report of another candidate; its last report there that is not `Cancelled` did not fail, and nothing was rolled back since. A later release does not undo it. `Partial` installs packages and can complete it, but moves no status: the next `Success` does. `Cancelled` changes nothing. `missing` says for each environment that is still needed why, and which packages.',
      'The command of a flow run may report the deployment of its run with the token that it gets: `executionId` is then the id of the run.',
      'A report is recorded whatever the policies of the environment say; what it broke of them (a freeze, a window, what must be deployed before, an approval that nobody gave) is in `policyViolations` and in `warnings`, on the release, in the event and in the report of approvals. A run of this service passed their gates, and breaks none.',
      'Idempotent by `executionId`, otherwise by `deployedAt`. Events of a domain are applied one at a time. If the workflow engine does not answer within 5 s, the reply is 202: the event has been recorded and will be applied later.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({
      dryRun: queryFlag(false).meta({ description: 'Report what would happen without changing anything' }),
    }),
    body: ReleaseEventIn,
    admitsRun: (run, { body }) => isOwnDeployment(run, body),
    status: 200,
    otherStatuses: [202],
    response: ReleaseEventOut,
    audit: ['release.deployment_recorded', 'release_candidate.status_changed'],
    async handle({ query: { dryRun }, body: event }, { tx, adapters, actor, requestId, log }) {
      if (dryRun) {
        const { policyViolations, ...outcome } = await tx((work) => previewEvent(work, event));
        return resultOf(outcome, policyViolations);
      }
      const stored = await tx((work) => reportDeployment(work, event, requestId));
      if (stored.toFetch) signalMirrorLater(adapters.launch, stored.toFetch);
      const { policyViolations } = stored;
      if (stored.outcome) return resultOf(repeated(stored.outcome), policyViolations);
      const { repositoryIdentifier, domain } = event;
      try {
        const outcome = await adapters.releases.eventQueue(
          { ...tenantOf(actor), projectId: stored.projectId, repositoryIdentifier, domain },
          stored.id,
        );
        if (!outcome) throw notFound('The project');
        return resultOf(stored.isNew ? outcome : repeated(outcome), policyViolations);
      } catch (error) {
        if (!(error instanceof EngineUnavailableError)) throw error;
        log.warn({ err: error, deploymentId: stored.id }, 'release event recorded, to be applied later');
        return reply(resultOf(RECORDED, policyViolations), { status: 202 });
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
  missing: [],
  message: 'The event has been recorded and will be applied as soon as the workflow engine is available',
};
