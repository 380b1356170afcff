import { termsOf } from '../../../projects/policies/approval-policy.ts';
import { environmentByName } from '../../../projects/environments/environments.queries.ts';
import { projectInRequest } from '../../../projects/projects/projects.queries.ts';
import { DomainError, invalidField } from '../../../kernel/shared/errors.ts';
import { mergePatch } from '../../../kernel/shared/merge-rules.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { latestChildren } from '../children/child-runs.queries.ts';
import { findRun, runById, type RunContext, upsertRunLock, writeResult } from '../flow-runs.queries.ts';
import { flowType } from '../flow-types.ts';
import { gatesOfRun } from '../gates/run-gates.queries.ts';
import { insertRun, runByExternalId } from '../new-runs.queries.ts';
import { keepReport, notePipeline } from './pipelines.queries.ts';
import { keepDeployedContent, recordDeployment } from '../run-deployments.mutations.ts';
import { auditRun, endRun, type RunOutcome } from '../flow-runs.mutations.ts';
import { isFinal } from '../run-status-rules.ts';

interface Registration {
  taskType: string;
  flowPath: string;
  repositoryIdentifier: string;
}

interface Registered {
  executionId: string;
  /** False: it was registered before. */
  isNew: boolean;
}

/** What every run that an external worker executes has in common. */
const externalRun = ({ taskType, flowPath }: Registration, projectId: string) => ({
  projectId,
  hasWorkflow: false,
  taskType,
  flowPath,
  executionMode: 'flow' as const,
  isInternal: flowType(taskType)?.isInternal ?? false,
  status: 'running' as const,
  payload: { id: taskType },
});

const auditRegistered = (
  tx: Tx,
  id: string,
  { taskType, flowPath, repositoryIdentifier }: Registration,
  origin: object,
) =>
  auditRun(tx, { id, repositoryIdentifier }, 'run_registered', `Run of ${taskType} registered by its worker`, {
    after: { taskType, flowPath, ...origin },
  });

/**
 * Registers a run that an external worker began on a schedule of its own.
 * @param registration `externalRunId` is of the worker's engine; the same one is registered once.
 */
export async function registerScheduledRun(
  tx: Tx,
  { externalRunId, schedulePath, ...registration }: Registration & { externalRunId: string; schedulePath: string },
  requestId: string,
): Promise<Registered> {
  const project = await projectInRequest(tx, registration.repositoryIdentifier);
  const externalId = `scheduled:${externalRunId}`;
  const run = {
    ...externalRun(registration, project.id),
    category: flowType(registration.taskType)?.category ?? ('scheduled' as const),
    isScheduled: true,
    schedulePath,
    externalId,
    triggeredBy: 'cron',
  };
  const id = await insertRun(tx, run, requestId);
  if (id !== undefined) {
    auditRegistered(tx, id, registration, { schedulePath });
    return { executionId: id, isNew: true };
  }
  const existing = await runByExternalId(tx, externalId);
  if (!existing) throw new DomainError('already_exists', 'The run is registered by somebody else');
  return { executionId: existing.id, isNew: false };
}

interface ChildRegistration extends Registration {
  parentId: string;
  domain: string | null;
  /** Release of the child; absent: that of the parent. */
  releaseName?: string | undefined;
  /** Environment to which it deploys. */
  environmentName?: string | undefined;
}

/**
 * Registers a run that an external worker executes as a part of another; while the latest attempt of the same child
 * (type, path, domain and environment) is open it is answered again. Answers its id and the approval controls of the parent's
 * targets. Throws `not_found` for the parent, `invalid_request` for an unknown repository or environment.
 */
export async function registerChild(
  tx: Tx,
  { parentId, domain, releaseName, environmentName, ...registration }: ChildRegistration,
  requestId: string,
): Promise<Registered & { approvalControls: { skipApproval: boolean; approvers: string[] } }> {
  const { taskType, flowPath } = registration;
  const project = await projectInRequest(tx, registration.repositoryIdentifier);
  const parent = await runById(tx, parentId, { forUpdate: true });
  const environmentId = environmentName === undefined ? null : await environmentIdOf(tx, project.id, environmentName);
  const approvalControls = await approvalControlsOf(tx, parent, taskType);
  const open = (await latestChildren(tx, parentId)).find(
    (child) =>
      child.taskType === taskType &&
      child.flowPath === flowPath &&
      child.domain === domain &&
      child.environmentId === environmentId &&
      !isFinal(child.status),
  );
  if (open) return { executionId: open.id, isNew: false, approvalControls };
  const run = {
    ...externalRun(registration, project.id),
    category: flowType(taskType)?.category ?? ('other' as const),
    isScheduled: parent.isScheduled,
    parentId,
    domain,
    environmentId,
    releaseName: releaseName ?? parent.releaseName,
    triggeredBy: parent.triggeredBy,
  };
  const executionId = await insertRun(tx, run, requestId);
  if (executionId === undefined) throw new DomainError('already_exists', 'The run exists already');
  auditRegistered(tx, executionId, registration, { parentId, domain });
  if (environmentId !== null) await keepDeployedContent(tx, await runById(tx, executionId), [environmentId]);
  return { executionId, isNew: true, approvalControls };
}

async function environmentIdOf(tx: Tx, projectId: string, name: string): Promise<string> {
  const environment = await environmentByName(tx, projectId, name);
  if (!environment) throw invalidField('environmentName', 'The repository has no such environment');
  return environment.id;
}

/** What a child needs: the approval that its type or its parent's has as a gate, or that the environment asks for. */
async function approvalControlsOf(tx: Tx, parent: RunContext, taskType: string) {
  const isGated = [taskType, parent.taskType].some((id) => flowType(id)?.gates.approval);
  const type = {
    gates: { approval: isGated || parent.approvalPolicy !== null, lock: false },
    target: flowType(taskType)?.target === 'sandbox' ? ('sandbox' as const) : ('org' as const),
  };
  const { policies } = await gatesOfRun(tx, { type, ...parent });
  const terms = termsOf({ policies, run: undefined, now: tx.now });
  return { skipApproval: terms === undefined, approvers: terms?.approvers ?? [] };
}

const REPORTED = { completed: 'succeeded', failed: 'failed', rejected: 'rejected', cancelled: 'cancelled' } as const;

export interface RunReport {
  event: 'started' | keyof typeof REPORTED;
  cicdRunUrl?: string | undefined;
  error?: string | undefined;
  result?: Record<string, unknown> | undefined;
}

/**
 * Records what the pipeline or the external worker of a run reports; nothing once the run is final. Answers the run
 * whose workflow is to be signalled, if any. Throws `not_found`.
 */
export async function reportRun(
  tx: Tx,
  id: string,
  { event, cicdRunUrl, error, result }: RunReport,
): Promise<RunContext | undefined> {
  const run = await runById(tx, id, { forUpdate: true });
  if (isFinal(run.status)) return undefined;
  if (cicdRunUrl !== undefined) await notePipeline(tx, id, { runId: null, url: cicdRunUrl });
  const after = { event, error: error ?? null };
  auditRun(tx, run, 'reported', `Run of ${run.taskType} reported ${event}`, { after });
  if (event === 'started') return undefined;
  const outcome: RunOutcome = { status: REPORTED[event], error, result };
  if (!run.hasWorkflow) {
    await endRun(tx, run, outcome);
    return undefined;
  }
  await keepReport(tx, id, outcome);
  // What the report of a command says is settled by how that ends.
  if (run.payload.pipeline) await recordDeployment(tx, run, outcome);
  return run;
}

const RESULT_MAX_BYTES = 1_048_576;

/** Merges a patch (RFC 7396) into the result of a run, final or not. Throws `not_found`, `payload_too_large`. */
export async function mergeResult(tx: Tx, id: string, patch: Record<string, unknown>): Promise<void> {
  const run = await runById(tx, id, { forUpdate: true });
  const merged = mergePatch(run.result, patch);
  if (Buffer.byteLength(JSON.stringify(merged)) > RESULT_MAX_BYTES) {
    throw new DomainError('payload_too_large', `The result of a run has at most ${RESULT_MAX_BYTES} bytes`);
  }
  await writeResult(tx, id, merged);
  const after = { members: Object.keys(patch).slice(0, 100) };
  auditRun(tx, run, 'result_merged', `Result of a run of ${run.taskType} extended`, { after });
}

/** Records the lock that a run holds outside. Throws `invalid_request` for an unknown run. */
export async function trackLock(tx: Tx, lock: Parameters<typeof upsertRunLock>[1]): Promise<void> {
  const run = await findRun(tx, lock.executionId);
  if (!run) throw invalidField('executionId', 'There is no such run');
  await upsertRunLock(tx, lock);
  const after = { lockKey: lock.lockKey, ticketId: lock.ticketId ?? null };
  auditRun(tx, run, 'lock_tracked', `Lock ${lock.lockKey} registered for a run of ${run.taskType}`, { after });
}
