import type { Actor } from '../../kernel/shared/actor.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import { policyOfPayload, termsOf } from '../../projects/policies/approval-policy.ts';
import type { WantedExecutor } from '../../projects/policies/executor-policy-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { assertApprovable, requestersOf } from '../approvals/approvable.ts';
import type { RunPayload } from './flow-payloads.ts';
import { CHILD_OF_RELEASE, type FlowType, flowType } from './flow-types.ts';
import { gatedAs, policySourceOf, type RunGates, whyMissing } from './gates/gate-rules.ts';
import { gatesOfRun } from './gates/run-gates.queries.ts';
import { placeOf, type RunPlace } from './new-runs.queries.ts';
import { type Commands, executorHere, meansOf } from './programs/commands-file.ts';
import type { ExecutorName } from './programs/executor-rules.ts';
import { whyNotExecuted } from './programs/own-means.ts';
import type { Stage } from './promoted-runs.ts';

interface RunInRequest {
  place: RunPlace | undefined;
  /** As given, with the executor that its project says. */
  payload: RunPayload;
  /** As far as it is known: it is decided again when the run begins, and the gates with it. */
  executor: ExecutorName | undefined;
  gates: RunGates;
}

/**
 * Where a payload's run takes place, what executes it, and the gates that it passes. Throws `invalid_request`.
 * @param prefix of the payload's fields in the request: `payload/`.
 */
export async function gatesInRequest(
  tx: Tx,
  type: FlowType,
  given: RunPayload,
  { prefix, commands }: { prefix: string; commands: Commands },
): Promise<RunInRequest> {
  const place = await placeOf(tx, given, prefix);
  const payload = withExecutor(given, place?.executors?.[type.id]);
  const executor = executorHere(type, meansOf(payload, commands));
  const { projectId = null, environmentId = null } = place ?? {};
  const gates = await gatesOfRun(tx, { type: gatedAs(type, executor), payload, projectId, environmentId });
  const fields = gates.missing.map(({ member, detail }) => ({ pointer: prefix + member, detail }));
  if (fields.length > 0) throw new DomainError('invalid_request', whyMissing(gates), { fields });
  return { place, payload, executor, gates };
}

const withExecutor = (payload: RunPayload, executor: WantedExecutor | undefined): RunPayload =>
  payload.executor === undefined && executor !== undefined ? { ...payload, executor } : payload;

interface AskedRun {
  payload: RunPayload;
  gates: RunGates;
  /** The environments of its children, which ask for approvals of their own. */
  stages: readonly Stage[];
}

/** Throws `too_few_approvers` where an approval of a run, or of one of its children, could not be given. */
export async function assertApprovals(tx: Tx, { payload, gates, stages }: AskedRun, requestedBy: Actor): Promise<void> {
  const run = policyOfPayload(payload);
  const asked = [gates.policies, ...stages.map((stage) => [policySourceOf(stage)])];
  const all = asked.flatMap((policies) => termsOf({ policies, run, now: tx.now }) ?? []);
  if (all.length > 0) await assertApprovable(tx, all, await requestersOf(tx, requestedBy));
}

/** Throws `flow_unavailable` where nothing executes runs of a type. */
export async function assertAvailable(
  tx: Tx,
  type: FlowType,
  payload: RunPayload,
  commands: Commands,
  { place, gates }: { place: RunPlace | undefined; gates: Pick<RunGates, 'environmentIds'> },
): Promise<void> {
  const why = await whyNotExecuted(tx, type, meansOf(payload, commands), {
    projectId: place?.projectId,
    run: { payload, environmentId: gates.environmentIds[0] ?? null },
  });
  if (why !== null) throw new DomainError('flow_unavailable', why);
}

/** Throws `flow_unavailable` where nothing executes the child of a run for one of its environments. */
export async function assertStagesAvailable(
  tx: Tx,
  payload: RunPayload,
  commands: Commands,
  { place, stages }: { place: RunPlace | undefined; stages: readonly Stage[] },
): Promise<void> {
  const child = flowType(CHILD_OF_RELEASE);
  const wanted = payload.executor ?? place?.executors?.[CHILD_OF_RELEASE];
  if (!child) return;
  const means = { hasPipeline: false, commands, wanted };
  for (const { id: environmentId, name } of stages) {
    const run = { payload, environmentId };
    const why = await whyNotExecuted(tx, child, means, { projectId: place?.projectId, run });
    if (why !== null) throw new DomainError('flow_unavailable', `${name}: ${why}`);
  }
}
