import type { Actor, TenantKey } from '../../kernel/shared/actor.ts';
import { targetOfRollback } from '../releases/rollbacks/rollback-targets.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { Commands } from './programs/commands-file.ts';
import { isPromotion, obeysWindows, waitsForNobody } from './programs/executor-rules.ts';
import type { RunPayload } from './flow-payloads.ts';
import type { FlowType } from './flow-types.ts';
import { parsePayload } from './parse-payload.ts';
import { insertRun, type NewRun, type RunPlace } from './new-runs.queries.ts';
import { assertNotHeld, assertPromotionOf, stagesOf } from './promoted-runs.ts';
import { announceOverride, overrideOf } from './run-overrides.ts';
import { assertApprovals, assertAvailable, assertStagesAvailable, gatesInRequest } from './run-refusals.ts';
import { workflowPathOf } from '../../kernel/shared/workflow-path-rules.ts';
import { newId } from '../../kernel/shared/ids.ts';
import { NEW_RUN } from './run-status-rules.ts';

/** What its workflow is started with. */
export interface AcceptedRun extends RunKey {
  taskType: string;
  /** Readable part of the id of its workflow, as `RunWorkflowKey` has it. */
  workflowPath?: string | null;
  repositoryIdentifier?: string | undefined;
  /** It waits for nobody: no approval, lock, pipeline or run below it. */
  isBrief?: boolean;
  /** What operators are shown of it. */
  about?: { domain?: string; releaseName?: string; environmentName?: string; branch?: string };
}

/** A run, and the request and trace that caused it. */
export interface RunKey extends TenantKey {
  runId: string;
  requestId?: string | undefined;
  traceparent?: string | undefined;
}

/** Where a run comes from, when it is not simply requested. */
export type RunOrigin = Partial<
  Pick<
    NewRun,
    | 'id'
    | 'parentId'
    | 'scheduleId'
    | 'rerunOfId'
    | 'rerunType'
    | 'isScheduled'
    | 'schedulePath'
    | 'externalId'
    | 'triggeredBy'
    | 'requestedBy'
    | 'domain'
  >
>;

interface AcceptOptions extends RunOrigin {
  requestId?: string | undefined;
  /** JSON pointer of the payload in the request, which precedes the names of its fields in errors. */
  prefix?: string;
  /** The operator's: the run is refused at once when nothing executes it, or its release cannot go. Absent: it fails later. */
  commands?: Commands;
  /** It is refused while its release is held, also without `commands`. */
  isRefusedWhileHeld?: boolean;
  /** It is a part of the run that starts it, as some types are alone. */
  isPart?: boolean;
}

/** Who triggered a run: an e-mail, `app:<token name>`, or `api` for the service itself. */
const triggerOf = ({ type, email }: Actor): string => (type === 'user' || type === 'application' ? email : 'api');

/**
 * Accepts a run: inserts its row, which is the intent. The caller starts its workflow after the commit; when that
 * fails, the sweeper does. Undefined when the origin's `externalId` was accepted before.
 * Throws `invalid_request` for a payload that no type takes, that names an unknown repository or environment, or that
 * does not name what a gate of its type needs; `invalid_transition` for a rollback with nothing to roll back to;
 * `forbidden` for an override by somebody who is no owner. With `commands` also `flow_unavailable`,
 * `too_few_approvers`, and what `assertPromotable` throws.
 */
export async function acceptRun(
  tx: Tx,
  given: Record<string, unknown>,
  { requestId, prefix = 'payload/', commands, isRefusedWhileHeld, isPart, ...origin }: AcceptOptions = {},
): Promise<AcceptedRun | undefined> {
  const { type, payload: asked } = parsePayload(given, prefix, { isPart });
  const means = { prefix, commands: commands ?? new Map() };
  const { place, payload: planned, executor, gates } = await gatesInRequest(tx, type, asked, means);
  if (commands) await assertAvailable(tx, type, planned, commands, { place, gates });
  const { payload, releaseName } = await releaseOf(tx, type, planned, place);
  const stages = commands && place && executor === 'children' ? await stagesOf(tx, place, payload) : [];
  if (commands && executor === 'children') await assertStagesAvailable(tx, payload, commands, { place, stages });
  if (commands && place && isPromotion(type)) {
    const promoted = { type, payload, place, executor, stages, releaseName, parentId: origin.parentId };
    await assertPromotionOf(tx, promoted, gates.environmentIds, prefix);
  } else if (place && isRefusedWhileHeld)
    await assertNotHeld(tx, { type, payload, releaseName, place }, gates.environmentIds, prefix);
  if (commands) await assertApprovals(tx, { payload, gates, stages }, origin.requestedBy ?? tx.actor);
  const override = obeysWindows(type) ? overrideOf(payload, origin.requestedBy ?? tx.actor, tx.now) : null;
  const id = origin.id ?? newId();
  const { environmentName } = payload;
  const { repositoryIdentifier } = place ?? {};
  const workflowPath = workflowPathOf({
    runId: id,
    taskType: type.id,
    releaseName,
    environmentName,
    repositoryIdentifier,
  });
  const run = {
    projectId: place?.projectId ?? null,
    environmentId: gates.environmentIds[0] ?? null,
    hasWorkflow: true,
    taskType: type.id,
    category: type.category,
    flowPath: payload.flowPath ?? `flows/${type.id}`,
    executionMode: executor === 'cicd' ? ('cicd' as const) : ('flow' as const),
    isInternal: type.isInternal,
    isScheduled: false,
    domain: payload.domain ?? null,
    releaseName: releaseName ?? null,
    status: NEW_RUN,
    payload,
    workItem: payload.workItemRef ?? null,
    override,
    triggeredBy: triggerOf(tx.actor),
    workflowPath,
    ...origin,
    id,
  };
  const runId = await insertRun(tx, run, requestId);
  if (runId === undefined) return undefined;
  await noteRequested(tx, { ...run, id: runId }, place);
  // The children of a run have its override, each for its environment.
  if (override && executor !== 'children') announceOverride(tx, { ...run, id: runId, override }, place);
  const isBrief = waitsForNobody(type, gates, payload);
  return { ...acceptedOf(tx, { ...run, id: runId }, place, requestId), ...(isBrief && { isBrief }) };
}

/**
 * The release that a run is about; a rollback goes to one that its payload names from now on, so that a rerun goes to the
 * same. Throws `invalid_transition` when there is nothing to roll back to.
 */
export async function releaseOf(
  tx: Tx,
  { isRollback }: FlowType,
  payload: RunPayload,
  place: RunPlace | undefined,
): Promise<{ payload: RunPayload; releaseName: string | undefined }> {
  const { domain, releaseName } = payload;
  const environmentId = place?.environmentId ?? null;
  if (!isRollback || environmentId === null || domain === undefined) return { payload, releaseName };
  const named = payload.toReleaseName as string | undefined;
  const target = await targetOfRollback(tx, { environmentId, domain }, named);
  return { payload: { ...payload, toReleaseName: target.releaseName }, releaseName: target.releaseName };
}

/** What a payload names, for operators. */
const aboutOf = ({ domain, releaseName, environmentName, branch }: RunPayload): NonNullable<AcceptedRun['about']> => ({
  ...(domain !== undefined && { domain }),
  ...(releaseName !== undefined && { releaseName }),
  ...(environmentName !== undefined && { environmentName }),
  ...(branch !== undefined && { branch }),
});

/** Accepts a run that no `externalId` can have named before; throws what `acceptRun` throws. */
export async function acceptNewRun(
  tx: Tx,
  given: Record<string, unknown>,
  options: Omit<AcceptOptions, 'externalId'> = {},
): Promise<AcceptedRun> {
  const accepted = await acceptRun(tx, given, options);
  if (!accepted) throw new Error('a run without an external id was accepted before');
  return accepted;
}

/** Audits a new run, and tells other areas of it. */
async function noteRequested(tx: Tx, run: NewRun & { id: string }, place: RunPlace | undefined): Promise<void> {
  const { id, taskType, payload, domain, releaseName, rerunOfId, parentId, projectId, isScheduled } = run;
  const repositoryIdentifier = place?.repositoryIdentifier ?? null;
  tx.audit({
    source: 'flow',
    action: 'flow.run_requested',
    entityType: 'flow_run',
    entityId: id,
    repositoryIdentifier,
    summary: `Run of ${taskType} requested`,
    after: {
      taskType,
      environmentName: payload.environmentName ?? null,
      domain,
      releaseName,
      rerunOfExecutionId: rerunOfId ?? null,
    },
  });
  await tx.tell(
    'runReached',
    {
      id,
      parentId: parentId ?? null,
      projectId,
      repositoryIdentifier,
      taskType,
      payload,
      cicdRunUrl: null,
      isScheduled: isScheduled ?? false,
    },
    { status: NEW_RUN, at: tx.now.toISOString() },
  );
}

const acceptedOf = (
  { tenantId, actor, traceparent }: Tx,
  { id, taskType, workflowPath, payload, releaseName }: NewRun & { id: string },
  place: RunPlace | undefined,
  requestId: string | undefined,
): AcceptedRun => ({
  tenantId,
  tenantSlug: actor.tenantSlug,
  runId: id,
  taskType,
  ...(workflowPath !== undefined && { workflowPath }),
  ...(requestId !== undefined && { requestId }),
  ...(traceparent !== undefined && { traceparent }),
  ...(place && { repositoryIdentifier: place.repositoryIdentifier }),
  about: aboutOf({ ...payload, releaseName: releaseName ?? undefined }),
});
