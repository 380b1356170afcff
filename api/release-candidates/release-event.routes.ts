import { z } from 'zod';
import {
  type NewDeployment,
  recordDeployment,
  type StoredDeployment,
} from '../../domain/deployments/deployments.queries.ts';
import { environmentByName } from '../../domain/environments/environments.queries.ts';
import { domainNames } from '../../domain/projects/project-rules.ts';
import type { ProjectFacts } from '../../domain/projects/projects.queries.ts';
import { projectInRequest } from '../../domain/projects/projects.queries.ts';
import { previewEvent } from '../../domain/release-candidates/apply-event.ts';
import { type EventOutcome, isSuccess } from '../../domain/release-candidates/finalization-rules.ts';
import type { ReleaseCandidate } from '../../domain/release-candidates/release-candidates.entities.ts';
import { findCandidate } from '../../domain/release-candidates/release-candidates.queries.ts';
import { notFound } from '../../domain/shared/errors.ts';
import type { Tx } from '../../domain/unit-of-work.ts';
import { emitEvent } from '../../domain/webhooks/event-catalog.ts';
import { EngineUnavailableError } from '../../workflows/launch.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { queryFlag } from '../http/parameters.ts';
import { reply } from '../http/replies.ts';
import { ReleaseEventIn, ReleaseEventOut } from './release-event.schemas.ts';

type ReleaseEvent = z.output<typeof ReleaseEventIn>;

interface Located {
  project: ProjectFacts;
  candidate: ReleaseCandidate;
  environmentId: string;
}

/** Finds what an event names. An unknown repository is 400, an unknown environment, domain or candidate 404. */
async function locate(tx: Tx, event: ReleaseEvent): Promise<Located> {
  const project = await projectInRequest(tx, event.repositoryIdentifier);
  const environment = await environmentByName(tx, project.id, event.environmentName);
  if (!environment) throw notFound(`Environment ${event.environmentName}`);
  const domains = domainNames(project.configuration);
  if (domains.length > 0 && !domains.includes(event.domain)) throw notFound(`Domain ${event.domain}`);
  const candidate = await findCandidate(tx, project.id, event);
  if (!candidate) throw notFound(`Release candidate ${event.releaseName} of domain ${event.domain}`);
  return { project, candidate, environmentId: environment.id };
}

const deploymentOf = (
  event: ReleaseEvent,
  { project, candidate, environmentId }: Located,
  now: Date,
): NewDeployment => ({
  projectId: project.id,
  environmentId,
  candidateId: candidate.id,
  domain: event.domain,
  releaseName: event.releaseName,
  status: event.deploymentStatus,
  deployedAt: event.deployedAt ?? now,
  dedupeKey: event.executionId ?? event.deployedAt?.toISOString(),
  executionId: event.executionId,
  packages: event.packages ?? candidate.value.artifacts ?? {},
  packageDetails: event.packageDetails ?? [],
  releaseDefinition: event.releaseDefinition,
  metadata: event.metadata,
  approval: event.approval,
});

/** Tells the trail and the subscribers of a deployment that was reported for the first time. */
function announce(tx: Tx, { id, isFirst }: StoredDeployment, event: ReleaseEvent, deployment: NewDeployment): void {
  const place = {
    repositoryIdentifier: event.repositoryIdentifier,
    domain: event.domain,
    releaseName: event.releaseName,
  };
  const { environmentName } = event;
  const { candidateId, packages, status, executionId = null } = deployment;
  tx.audit({
    source: 'release',
    action: 'release.deployment_recorded',
    entityType: 'release_deployment',
    entityId: id,
    repositoryIdentifier: event.repositoryIdentifier,
    summary: `Deployment of ${event.releaseName} (${event.domain}) to ${environmentName}: ${status}`,
    after: { ...place, environmentName, status, executionId, packages, deployedAt: deployment.deployedAt },
  });
  emitEvent(tx, isSuccess(status) ? 'deployment.completed' : 'deployment.failed', {
    id,
    candidateId,
    ...place,
    environmentName,
    status,
    deployedAt: deployment.deployedAt.toISOString(),
    executionId,
    packages,
    deployedBy: tx.actor.email,
  });
  if (isFirst) {
    emitEvent(tx, 'release.created', { ...place, candidateId, environmentName, packages, by: tx.actor.email });
  }
}

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
    async handle({ query: { dryRun }, body: event }, { tx, adapters, actor, requestId, log, now }) {
      if (dryRun) {
        return tx(async (work) => {
          const { project, candidate, environmentId } = await locate(work, event);
          return previewEvent(work, project, candidate, { environmentId, status: event.deploymentStatus });
        });
      }
      const { projectId, stored } = await tx(async (work) => {
        const located = await locate(work, event);
        const deployment = deploymentOf(event, located, now());
        const recorded = await recordDeployment(work, deployment, requestId);
        if (recorded.isNew) announce(work, recorded, event, deployment);
        return { projectId: located.project.id, stored: recorded };
      });
      if (stored.outcome) return repeated(stored.outcome);
      const { repositoryIdentifier, domain } = event;
      try {
        const outcome = await adapters.releases.eventQueue(
          { tenantId: actor.tenantId, projectId, repositoryIdentifier, domain },
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
