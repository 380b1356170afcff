import {
  checkDomains,
  type Reconciled,
  reconcileRun,
} from '../../../domain/delivery/flows/children/child-runs.mutations.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import {
  mergeResult,
  registerChild,
  registerScheduledRun,
  trackLock,
} from '../../../domain/delivery/flows/programs/external-runs.mutations.ts';
import { flowRunContract, pipelineReportedSignal } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import { checksChangedSignal, flowChecksContract } from '../../../workflows/delivery/flows/flow-checks.contract.ts';
import { EngineUnavailableError } from '../../../workflows/launch.ts';
import { defineRoute } from '../../http/define-route.ts';
import { byId, NoContent } from '../../http/parameters.ts';
import { reply } from '../../http/replies.ts';
import type { Scope } from '../../http/scope.ts';
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

const GROUP = 'Flows: internal';

/** Lost signals are recovered: the workflow of the run polls for reports, and the sweeper finds checks. */
async function signalWorkflows(
  { adapters, actor, log }: Scope,
  { run, hasReport, hasChecks }: Reconciled,
): Promise<void> {
  const key = { ...tenantOf(actor), runId: run.id, workflowPath: run.workflowPath };
  try {
    if (hasReport)
      await adapters.launch.signal(flowRunContract, { ...key, taskType: run.taskType }, pipelineReportedSignal);
    if (hasChecks) await adapters.launch.signalWithStart(flowChecksContract, key, checksChangedSignal);
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error;
    log.warn({ err: error, runId: run.id }, 'report not signalled to the workflow, which will poll for it');
  }
}

export const flowInternalRoutes = [
  defineRoute({
    operationId: 'registerChildRun',
    method: 'post',
    path: '/api/flows/internal/register-child',
    group: GROUP,
    summary: 'Register a child run of an external worker',
    description:
      "While the latest attempt of the same child (type, path, domain and environment) is open it is answered again; after that a new attempt is registered. A new attempt is answered with 201, the open one with 200. The approval controls are those of what the parent's payload is about. With `environmentName`, the deployment of a run of `execute-release` is recorded when the run ends.",
    roles: ['application'],
    projectScope: 'row',
    body: RegisterChildIn,
    status: 201,
    otherStatuses: [200],
    response: RegisteredChild,
    audit: 'flow.run_registered',
    async handle({ body: { parentTaskExecutionId: parentId, domainName = null, ...given } }, { tx, requestId }) {
      const registration = { ...given, parentId, domain: domainName };
      const { isNew, ...registered } = await tx((work) => registerChild(work, registration, requestId));
      return reply(registered, { status: isNew ? 201 : 200 });
    },
  }),
  defineRoute({
    operationId: 'registerScheduledRun',
    method: 'post',
    path: '/api/flows/internal/register-scheduled',
    group: GROUP,
    summary: 'Register a scheduled run of an external worker',
    description:
      'For runs that a worker started on its own schedule. A `hatchetRunId` is registered once: then with 201, after that it is answered with 200.',
    roles: ['application'],
    projectScope: 'row',
    body: RegisterScheduledIn,
    status: 201,
    otherStatuses: [200],
    response: RegisteredScheduled,
    audit: 'flow.run_registered',
    async handle({ body: { hatchetRunId: externalRunId, ...given } }, { tx, requestId }) {
      const registration = { ...given, externalRunId };
      const { isNew, executionId } = await tx((work) => registerScheduledRun(work, registration, requestId));
      return reply({ executionId }, { status: isNew ? 201 : 200 });
    },
  }),
  defineRoute({
    operationId: 'updateRunMetadata',
    method: 'patch',
    path: '/api/flows/internal/{id}/metadata',
    group: GROUP,
    summary: 'Merge data into the result of a run',
    description:
      'Objects are merged at any depth, arrays are replaced, `null` removes a member. The result may be up to 1 MiB. Also possible after the run has ended.',
    roles: ['application'],
    projectScope: 'row',
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
    summary: 'Report a child run and update its parent: check, pull request label and status',
    description: 'The parent is only updated once the latest attempt of every child has ended.',
    roles: ['application'],
    projectScope: 'row',
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
    summary: 'Update a build or release from its child runs: check and commit status',
    description: 'Like reconcile-check, but without labels. The body is optional and reports a child run first.',
    roles: ['application'],
    projectScope: 'row',
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
    summary: 'Update the validation check of a run from the results of its domains',
    description: 'Only updates the check, not the run or its children. Nothing is updated while a domain is pending.',
    roles: ['application'],
    projectScope: 'row',
    params: byId,
    body: ValidationCheckIn,
    status: 204,
    response: NoContent,
    audit: { none: 'only publishes known results on the git host' },
    async handle({ params: { id }, body: { domainResults } }, scope) {
      await signalWorkflows(scope, await scope.tx((work) => checkDomains(work, id, domainResults)));
    },
  }),
  defineRoute({
    operationId: 'trackRunLock',
    method: 'post',
    path: '/api/flows/internal/track-lock-run',
    group: GROUP,
    summary: 'Register the lock held by a run',
    roles: ['application'],
    projectScope: 'row',
    body: TrackLockIn,
    status: 204,
    response: NoContent,
    audit: 'flow.lock_tracked',
    handle: ({ body }, { tx }) => tx((work) => trackLock(work, body)),
  }),
];
