import {
  noteCheck,
  type OpenVerification,
  openVerification,
  type Settled,
  settleVerification,
} from '../../../domain/delivery/verification/verifications.mutations.ts';
import {
  type CheckOutcome,
  isOver,
  isWatched,
  judgeCalls,
  judgeValues,
  metricSpan,
} from '../../../domain/delivery/verification/verification-rules.ts';
import { startCheckRun } from '../../../domain/delivery/verification/check-runs.mutations.ts';
import { findCheck } from '../../../domain/delivery/verification/verifications.queries.ts';
import { systemActor, type TenantKey, tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { CALLS_MAX, verifyCalls } from '../../../domain/mocks/verification/verify-calls.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import type { MetricCheck, RehearsalCheck } from '../../../domain/projects/policies/verification-policy-rules.ts';
import type { Tx } from '../../../domain/unit-of-work.ts';
import { flowRunContract } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import type { VerificationInput } from '../../../workflows/delivery/verification/verification.contract.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';

const verifier = (tenant: TenantKey) => systemActor(tenant, 'verification');

/** Settles a verification, and cancels the runs of checks that it does not wait for any more. */
export async function settled(
  deps: Deps,
  tenant: TenantKey,
  settle: (tx: Tx) => Promise<Settled>,
): Promise<number | null> {
  const { waitMs, cancelled } = await deps.actingAs(verifier(tenant))(settle);
  await Promise.all(
    cancelled.map(({ id: runId, taskType, workflowPath }) =>
      deps.launch.cancel(flowRunContract, { ...tenantOf(tenant), runId, taskType, workflowPath }),
    ),
  );
  return waitMs;
}

/** What the metrics say by now; undefined: nothing, or not enough. */
async function askMetrics(
  deps: Deps,
  { tenantId }: TenantKey,
  check: MetricCheck,
  begunAt: Date,
  signal: AbortSignal,
): Promise<CheckOutcome | undefined> {
  const span = metricSpan(check, begunAt.getTime(), deps.now().getTime());
  if (!span) return undefined;
  const found = await deps.readMetricValues(tenantId, check.query, span, signal);
  if (found.outcome === 'values') return judgeValues(check, found.values, span.isLast);
  return found.outcome === 'refused'
    ? { state: 'failed', detail: `The query was refused: ${found.reason}` }
    : undefined;
}

/** What the calls of a mock scenario say by now; undefined: they may still come. */
async function askCalls(
  deps: Deps,
  tenant: TenantKey,
  check: RehearsalCheck,
  begunAt: Date,
  signal: AbortSignal,
): Promise<CheckOutcome | undefined> {
  const { workspace, scenario, method = '*', path, atLeast, atMost } = check;
  const isLast = isOver(check, begunAt.getTime(), deps.now().getTime());
  const expect = [{ match: { method, path }, times: { atLeast, atMost } }];
  const asked = { expect, inOrder: false, waitMs: 0, since: begunAt };
  try {
    const reads = deps.reads.as(verifier(tenant));
    const { calls, failures } = await verifyCalls(reads, workspace, scenario, asked, () => signal);
    // Later calls are never looked at, so that too many may have come.
    if (calls >= CALLS_MAX && failures.length === 0 && atMost !== undefined)
      return { state: 'failed', detail: `More than ${CALLS_MAX} calls came: not all were looked at` };
    return judgeCalls(check, failures[0], isLast);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { state: 'failed', detail: error.message };
  }
}

export const createVerificationActivities = (deps: Deps) => ({
  /** Begins a verification, or goes on with it: what is to be looked at. Undefined: it has ended, or is gone. */
  openVerification: ({ verificationId, ...tenant }: VerificationInput): Promise<OpenVerification | undefined> =>
    deps.actingAs(verifier(tenant))((tx) => openVerification(tx, verificationId)),

  /** Starts what a check needs, or asks what it is about. */
  lookAtCheck: ({ checkId, ...tenant }: VerificationInput & { checkId: string }): Promise<void> =>
    withHeartbeat(async (signal) => {
      const unit = deps.actingAs(verifier(tenant));
      const check = await findCheck(deps.reads.as(verifier(tenant)), checkId);
      if (!check || check.verificationState !== 'running' || check.begunAt === null) return;
      const { settings } = check;
      if (!isWatched(settings)) return unit((tx) => startCheckRun(tx, checkId));
      const begunAt = new Date(check.begunAt);
      const outcome =
        settings.type === 'metric'
          ? await askMetrics(deps, tenant, settings, begunAt, signal)
          : await askCalls(deps, tenant, settings, begunAt, signal);
      await unit((tx) => noteCheck(tx, checkId, outcome));
    }),

  /** Ends a verification where its checks say so; else answers when to look again, in milliseconds. */
  settleVerification: ({ verificationId, ...tenant }: VerificationInput): Promise<number | null> =>
    settled(deps, tenant, (tx) => settleVerification(tx, verificationId)),
});
export type VerificationActivities = ReturnType<typeof createVerificationActivities>;
