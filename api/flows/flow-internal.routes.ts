import { checkDomains, type Reconciled, reconcileRun } from '../../domain/flows/child-runs.mutations.ts';
import {
  mergeResult,
  registerChild,
  registerScheduledRun,
  trackLock,
} from '../../domain/flows/external-runs.mutations.ts';
import { flowRunContract, pipelineReportedSignal } from '../../workflows/flows/flow-run.contract.ts';
import { checksChangedSignal, flowChecksContract } from '../../workflows/flows/flow-checks.contract.ts';
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

/** Lost signals are recovered: the run's workflow polls, and the sweeper has checks written. */
async function signalWorkflows(
  { adapters, actor, log }: Scope,
  { run, hasReport, hasChecks }: Reconciled,
): Promise<void> {
  const key = { tenantId: actor.tenantId, runId: run.id };
  try {
    if (hasReport)
      await adapters.launch.signal(flowRunContract, { ...key, taskType: run.taskType }, pipelineReportedSignal);
    if (hasChecks) await adapters.launch.signalWithStart(flowChecksContract, key, checksChangedSignal);
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error;
    log.warn({ err: error, runId: run.id }, 'a workflow was not signalled; it learns of the report later');
  }
}

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
    handle: ({ body: { parentTaskExecutionId: parentId, domainName = null, ...registration } }, { tx, requestId }) =>
      tx((work) => registerChild(work, { ...registration, parentId, domain: domainName }, requestId)),
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
    handle: async ({ body: { hatchetRunId: externalRunId, ...registration } }, { tx, requestId }) => ({
      executionId: await tx((work) => registerScheduledRun(work, { ...registration, externalRunId }, requestId)),
    }),
  }),
  defineRoute({
    operationId: 'updateRunMetadata',
    method: 'patch',
    path: '/api/flows/internal/{id}/metadata',
    group: GROUP,
    summary: 'Merge into the result of a run',
    description:
      'Objects merge at any depth, arrays are replaced, `null` takes a member out. The result may have 1 MiB. A run that has ended takes it, too.',
    roles: WORKERS,
    params: byId,
    body: MetadataIn,
    status: 204,
    response: NoContent,
    errors: ['payload_too_large'],
    audit: 'flow.result_merged',
    handle: ({ params: { id }, body: { result } }, { tx }) => tx((work) => mergeResult(work, id, result)),
  }),
  defineRoute({
    operationId: 'reconcileRun',
    method: 'post',
    path: '/api/flows/internal/{id}/reconcile-check',
    group: GROUP,
    summary: 'Report a child, and derive the outcome of its parent: check, label of the pull request, status',
    description: 'Nothing but the child changes until the latest attempt of every child has ended.',
    roles: WORKERS,
    params: byId,
    body: ReconcileCheckIn,
    status: 204,
    response: NoContent,
    audit: ['flow.run_ended', 'flow.run_revised'],
    async handle({ params: { id }, body: { reportingExecutionId: childId, ...report } }, scope) {
      const reconciled = await scope.tx((work) => reconcileRun(work, id, ['check', 'label'], { childId, ...report }));
      await signalWorkflows(scope, reconciled);
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
      await signalWorkflows(scope, await scope.tx((work) => reconcileRun(work, id, ['check', 'status'], report)));
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
      await signalWorkflows(scope, await scope.tx((work) => checkDomains(work, id, domainResults)));
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
    handle: ({ body }, { tx }) => tx((work) => trackLock(work, body)),
  }),
];
