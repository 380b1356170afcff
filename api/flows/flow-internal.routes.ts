import { describeChildren } from '../../domain/flows/check-rules.ts';
import { wantChecks } from '../../domain/flows/flow-checks.queries.ts';
import { findRun, latestChildren, runById, trackLock, writeResult } from '../../domain/flows/flow-runs.queries.ts';
import { insertRun } from '../../domain/flows/new-runs.queries.ts';
import { flowType } from '../../domain/flows/flow-types.ts';
import { type Reconciled, reconcileRun } from '../../domain/flows/reconcile-run.ts';
import { isFinal, outcomeOf } from '../../domain/flows/run-status-rules.ts';
import { projectInRequest } from '../../domain/projects/projects.queries.ts';
import { DomainError, invalidField } from '../../domain/shared/errors.ts';
import { mergePatch } from '../../domain/shared/merge-rules.ts';
import type { Tx } from '../../domain/unit-of-work.ts';
import { flowRun, REPORTED_SIGNAL } from '../../workflows/flows/flow-run.contract.ts';
import { CHECKS_CHANGED_SIGNAL, flowChecks } from '../../workflows/flows/flow-checks.contract.ts';
import { EngineUnavailableError } from '../../workflows/launch.ts';
import { defineRoute } from '../http/define-route.ts';
import { NoContent } from '../http/parameters.ts';
import type { Scope } from '../http/scope.ts';
import {
  MetadataIn,
  ReconcileBuildCheckIn,
  ReconcileCheckIn,
  RegisterChildIn,
  RegisteredChild,
  RegisteredScheduled,
  RegisterScheduledIn,
  TrackLockIn,
  ValidationCheckIn,
} from './flow-internal.schemas.ts';
import { byId } from './flow-runs.schemas.ts';

const GROUP = 'Flows: internal';
const WORKERS = ['application'] as const;
const RESULT_MAX_BYTES = 1_048_576;

/** Both are made good when they are lost: the run's workflow asks by itself, checks are swept. */
export async function tellWorkflows(
  { adapters, actor, log }: Scope,
  { run, isToTell, hasChecks }: Reconciled,
): Promise<void> {
  const key = { tenantId: actor.tenantId, runId: run.id };
  try {
    if (isToTell) await adapters.launch.tell(flowRun, { ...key, taskType: run.taskType }, REPORTED_SIGNAL);
    if (hasChecks) await adapters.launch.signal(flowChecks, key, CHECKS_CHANGED_SIGNAL);
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error;
    log.warn({ err: error, runId: run.id }, 'the engine learns of a report later');
  }
}

const auditRegistered = (tx: Tx, id: string, taskType: string, repositoryIdentifier: string, after: object) =>
  tx.audit({
    source: 'flow',
    action: 'flow.run_registered',
    entityType: 'flow_run',
    entityId: id,
    repositoryIdentifier,
    summary: `Run of ${taskType} registered by its worker`,
    after: { taskType, ...after },
  });

/** What both registrations say of a run that a worker outside carries out. */
const registered = (taskType: string, flowPath: string, projectId: string) => ({
  projectId,
  hasWorkflow: false,
  taskType,
  flowPath,
  executionMode: 'flow' as const,
  isInternal: flowType(taskType)?.isInternal ?? false,
  status: 'running' as const,
  payload: { id: taskType },
});

export const flowInternalRoutes = [
  defineRoute({
    operationId: 'registerChildRun',
    method: 'post',
    path: '/api/flows/internal/register-child',
    group: GROUP,
    summary: 'Register a run that a worker carries out as a part of another',
    description:
      "While the latest attempt of the same child (type, path and domain) is open it is answered again; after that a new attempt is registered. The approval controls are those of the parent's environment.",
    roles: WORKERS,
    body: RegisterChildIn,
    status: 200,
    response: RegisteredChild,
    audit: 'flow.run_registered',
    handle: (
      { body: { parentTaskExecutionId: parentId, taskType, flowPath, repositoryIdentifier, domainName = null } },
      { tx, requestId },
    ) =>
      tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const parent = await runById(work, parentId, { isLocked: true });
        const { skipApproval = false, approvers = [] } = parent.approvalPolicy ?? { skipApproval: true };
        const approvalControls = { skipApproval, approvers };
        const same = (await latestChildren(work, parentId)).find(
          (child) =>
            child.taskType === taskType &&
            child.flowPath === flowPath &&
            child.domain === domainName &&
            !isFinal(child.status),
        );
        if (same) return { executionId: same.id, approvalControls };
        const run = {
          ...registered(taskType, flowPath, project.id),
          category: flowType(taskType)?.category ?? ('other' as const),
          isScheduled: parent.isScheduled,
          parentId,
          domain: domainName,
          releaseName: parent.releaseName,
          triggeredBy: parent.triggeredBy,
        };
        const executionId = await insertRun(work, run, requestId);
        if (executionId === undefined) throw new DomainError('already_exists', 'The run exists already');
        auditRegistered(work, executionId, taskType, repositoryIdentifier, { parentId, flowPath, domain: domainName });
        return { executionId, approvalControls };
      }),
  }),
  defineRoute({
    operationId: 'registerScheduledRun',
    method: 'post',
    path: '/api/flows/internal/register-scheduled',
    group: GROUP,
    summary: 'Register a run that a worker began on a schedule of its own',
    description: 'The same `hatchetRunId` is registered once.',
    roles: WORKERS,
    body: RegisterScheduledIn,
    status: 200,
    response: RegisteredScheduled,
    audit: 'flow.run_registered',
    handle: ({ body: { hatchetRunId, taskType, flowPath, repositoryIdentifier, schedulePath } }, { tx, requestId }) =>
      tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const externalId = `scheduled:${hatchetRunId}`;
        const run = {
          ...registered(taskType, flowPath, project.id),
          category: flowType(taskType)?.category ?? ('scheduled' as const),
          isScheduled: true,
          schedulePath,
          externalId,
          triggeredBy: 'cron',
        };
        const executionId = await insertRun(work, run, requestId);
        if (executionId !== undefined) {
          auditRegistered(work, executionId, taskType, repositoryIdentifier, { schedulePath, flowPath });
          return { executionId };
        }
        const [before] = await work.sql<{ id: string }>(
          'select id from flow_run where tenant_id = ? and external_id = ?',
          [work.tenantId, externalId],
        );
        if (!before) throw new DomainError('already_exists', 'The run is registered by somebody else');
        return { executionId: before.id };
      }),
  }),
  defineRoute({
    operationId: 'updateRunMetadata',
    method: 'patch',
    path: '/api/flows/internal/{id}/metadata',
    group: GROUP,
    summary: 'Merge into the result of a run',
    description:
      'Objects merge at any depth, arrays are replaced, `null` takes a member out. The result may have 1 MiB. A run that is over takes it, too.',
    roles: WORKERS,
    params: byId,
    body: MetadataIn,
    status: 204,
    response: NoContent,
    errors: ['payload_too_large'],
    audit: 'flow.result_merged',
    async handle({ params: { id }, body: { result } }, { tx }) {
      await tx(async (work) => {
        const run = await runById(work, id, { isLocked: true });
        const merged = mergePatch(run.result, result);
        if (Buffer.byteLength(JSON.stringify(merged)) > RESULT_MAX_BYTES) {
          throw new DomainError('payload_too_large', `The result of a run has at most ${RESULT_MAX_BYTES} bytes`);
        }
        await writeResult(work, id, merged);
        work.audit({
          source: 'flow',
          action: 'flow.result_merged',
          entityType: 'flow_run',
          entityId: id,
          repositoryIdentifier: run.repositoryIdentifier,
          summary: `Result of a run of ${run.taskType} extended`,
          after: { members: Object.keys(result).slice(0, 100) },
        });
      });
    },
  }),
  defineRoute({
    operationId: 'reconcileRun',
    method: 'post',
    path: '/api/flows/internal/{id}/reconcile-check',
    group: GROUP,
    summary: 'Report a child, and derive the outcome of its parent: check, label of the pull request, status',
    description: 'Nothing but the child changes until the latest attempt of every child is over.',
    roles: WORKERS,
    params: byId,
    body: ReconcileCheckIn,
    status: 204,
    response: NoContent,
    audit: ['flow.run_ended', 'flow.run_revised'],
    async handle({ params: { id }, body: { reportingExecutionId: childId, domainName, status } }, scope) {
      await tellWorkflows(
        scope,
        await scope.tx((work) => reconcileRun(work, id, ['check', 'label'], { childId, domainName, status })),
      );
    },
  }),
  defineRoute({
    operationId: 'reconcileBuild',
    method: 'post',
    path: '/api/flows/internal/{id}/reconcile-build-check',
    group: GROUP,
    summary: 'Derive the outcome of a build or release from its children: check, status of the commit',
    description: 'Like reconcile-check, without labels; the body, when there is one, reports a child first.',
    roles: WORKERS,
    params: byId,
    body: ReconcileBuildCheckIn,
    status: 204,
    response: NoContent,
    audit: ['flow.run_ended', 'flow.run_revised'],
    async handle({ params: { id }, body }, scope) {
      const { reportingExecutionId: childId, domainName, status } = body ?? {};
      const report = childId !== undefined && status !== undefined ? { childId, domainName, status } : undefined;
      await tellWorkflows(scope, await scope.tx((work) => reconcileRun(work, id, ['check', 'status'], report)));
    },
  }),
  defineRoute({
    operationId: 'renderValidationCheck',
    method: 'post',
    path: '/api/flows/internal/{id}/render-validation-check',
    group: GROUP,
    summary: 'Write the validation check of a run from the results of its domains',
    description: 'Only the check: neither the run nor its children change. Nothing is written while a domain is open.',
    roles: WORKERS,
    params: byId,
    body: ValidationCheckIn,
    status: 204,
    response: NoContent,
    audit: { none: 'it only repeats on the git host what is known here' },
    async handle({ params: { id }, body: { domainResults } }, scope) {
      const reconciled = await scope.tx(async (work) => {
        const run = await runById(work, id);
        const status = outcomeOf(domainResults.map((result) => result.status));
        if (status === undefined) return { run, isToTell: false, hasChecks: false };
        const names = domainResults.flatMap((result) =>
          isFinal(result.status) ? [{ name: result.domainName, status: result.status }] : [],
        );
        const hasChecks = await wantChecks(work, id, ['validation'], { status, description: describeChildren(names) });
        return { run, isToTell: false, hasChecks };
      });
      await tellWorkflows(scope, reconciled);
    },
  }),
  defineRoute({
    operationId: 'trackRunLock',
    method: 'post',
    path: '/api/flows/internal/track-lock-run',
    group: GROUP,
    summary: 'Register the lock that a run holds',
    roles: WORKERS,
    body: TrackLockIn,
    status: 204,
    response: NoContent,
    audit: 'flow.lock_tracked',
    async handle({ body }, { tx }) {
      await tx(async (work) => {
        const run = await findRun(work, body.executionId);
        if (!run) throw invalidField('executionId', 'There is no such run');
        await trackLock(work, body);
        work.audit({
          source: 'flow',
          action: 'flow.lock_tracked',
          entityType: 'flow_run',
          entityId: run.id,
          repositoryIdentifier: run.repositoryIdentifier,
          summary: `Lock ${body.lockKey} registered for a run of ${run.taskType}`,
          after: { lockKey: body.lockKey, ticketId: body.ticketId ?? null },
        });
      });
    },
  }),
];
