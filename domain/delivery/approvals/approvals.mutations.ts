import { type RunContext, runById } from '../flows/flow-runs.queries.ts';
import { flowType } from '../flows/flow-types.ts';
import { gatedAs, type GatedType, whyMissing } from '../flows/gates/gate-rules.ts';
import { gatesOfRun } from '../flows/gates/run-gates.queries.ts';
import { currentDigest } from '../promotion/promotion.ts';
import { DomainError, notFound } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { assertApprovable, requestersOf } from './approvable.ts';
import { policyOfPayload, type Terms, termsOf } from '../../projects/policies/approval-policy.ts';
import { type ApprovalStatus, decide, type Decision, type DecisionVia, isOpen, isOverdue } from './approval-rules.ts';
import { voterOf, votesOf } from './approval-steps.queries.ts';
import { noteRequested, noteVote, settle, settleFromOutside } from './approval-steps.mutations.ts';
import {
  approvalById,
  type ApprovalRow,
  type ApprovalState,
  approvalState,
  confirmApproval,
  findApprovalIdOfRun,
  findApprovalOfRun,
  insertApproval,
  openApprovalsOf,
} from './approvals.queries.ts';

/** What types that are not known here are taken for: external workers have types of their own. */
const UNKNOWN_TYPE: GatedType = { gates: { approval: true, lock: false }, target: 'org' };

async function termsFor(tx: Tx, run: RunContext): Promise<Terms | undefined> {
  const { payload, taskType } = run;
  const own = policyOfPayload(payload);
  const type = flowType(taskType);
  // Its children would ask for approvals: it is executed as a whole.
  const gates = await gatesOfRun(tx, { type: type ? gatedAs(type, undefined) : UNKNOWN_TYPE, ...run });
  if (gates.missing.length > 0) throw new DomainError('invalid_request', whyMissing(gates));
  return termsOf({ policies: gates.policies, run: own, now: tx.now });
}

export interface OpenedApproval {
  approvalId: string;
  taskType: string;
  repositoryIdentifier: string | null;
}

/**
 * Requests the approval that a run needs, or finds the one that it has; undefined when it needs none. An open approval
 * of the same work in the same environment, which an earlier run waits for, goes stale: the newer request replaces it.
 * Throws `not_found` for the run, `invalid_request` for an invalid policy in its payload, `too_few_approvers`.
 */
export async function openApproval(tx: Tx, runId: string): Promise<OpenedApproval | undefined> {
  const run = await runById(tx, runId);
  const { taskType, projectId, repositoryIdentifier, environmentName, domain, releaseName, requestedBy } = run;
  const existing = await findApprovalIdOfRun(tx, runId);
  if (existing) return { approvalId: existing.id, taskType, repositoryIdentifier };
  const terms = await termsFor(tx, run);
  if (!terms) return undefined;
  const requesters = await requestersOf(tx, requestedBy);
  await assertApprovable(tx, [terms], requesters);

  if (projectId !== null && domain !== null && releaseName !== null) {
    const older = await openApprovalsOf(tx, { projectId, domain, releaseName });
    const replaced = older.filter((each) => each.taskType === taskType && each.environmentName === environmentName);
    for (const each of replaced)
      await settleFromOutside(tx, each, 'stale', { source: 'newer_request', comment: `Replaced by run ${runId}` });
  }
  const approvalId = await insertApproval(tx, {
    ...terms,
    runId,
    taskType,
    projectId,
    repositoryIdentifier,
    environmentId: run.environmentId,
    environmentName,
    domain,
    releaseName,
    ...requesters,
    requestedBy: requestedBy.email,
    contentDigest: await currentDigest(tx, run),
  });
  await noteRequested(tx, await approvalById(tx, approvalId));
  return { approvalId, taskType, repositoryIdentifier };
}

/** Whether a run lacks an approval that it needs as the policies are now. Throws `invalid_request`. */
export async function lacksApproval(tx: Tx, run: RunContext): Promise<boolean> {
  const approval = await findApprovalOfRun(tx, run.id);
  return approval?.status !== 'approved' && (await termsFor(tx, run)) !== undefined;
}

/** What the actor's decision would make of an approval; throws what `decide` throws, changes nothing. */
export async function previewDecision(tx: Tx, approval: ApprovalRow, decision: Decision) {
  return decide(approval, await votesOf(tx, approval.id), await voterOf(tx, tx.actor), decision);
}

/** Writes the actor's decision; repeated, it changes nothing. Throws `not_found`, and what `decide` throws. */
export async function applyDecision(
  tx: Tx,
  approvalId: string,
  decision: Decision,
  { comment, via }: { comment: string | null; via?: DecisionVia | undefined },
): Promise<ApprovalStatus> {
  const approval = await approvalById(tx, approvalId, { forUpdate: true });
  const current = isOverdue(approval, tx.now) ? { ...approval, status: 'expired' as const } : approval;
  const { status, isRepeated } = await previewDecision(tx, current, decision);
  if (isRepeated) return status;
  const vote = { voterId: tx.actor.id, decision };
  if (status === 'requested') await noteVote(tx, approval, vote.voterId, { comment, via });
  else await settle(tx, approval, status, { source: 'vote', comment, vote, via });
  return status;
}

const RUN_ENDED = { source: 'run_ended', comment: 'The run ended without it' } as const;

/**
 * Settles an approval that has expired, or whose run has ended without waiting for it; records that its workflow is
 * running. Undefined when the approval was removed.
 */
export async function reevaluateApproval(tx: Tx, approvalId: string): Promise<ApprovalState | undefined> {
  const found = await confirmApproval(tx, approvalId);
  if (!found) return undefined;
  const approval = await approvalById(tx, approvalId, { forUpdate: true });
  if (isOpen(approval.status)) {
    if (found.hasRunEnded) await settle(tx, approval, 'stale', RUN_ENDED);
    else if (found.isDue) await settle(tx, approval, 'expired', { source: 'timer' });
  }
  return approvalState(tx, approvalId);
}

/** Expires the approval of a run as an external worker reports; one that is settled stays as it is. Throws `not_found`. */
export async function expireOfRun(tx: Tx, runId: string): Promise<void> {
  const approval = await findApprovalOfRun(tx, runId);
  if (!approval) throw notFound('An approval of this run');
  if (!isOpen(approval.status)) return;
  await settleFromOutside(tx, approval, 'expired', { source: 'worker' });
}

/** Makes stale what a run waited for that has ended; nothing when it is settled, or there is none. */
export async function makeApprovalOfRunStale(tx: Tx, runId: string): Promise<void> {
  const approval = await findApprovalOfRun(tx, runId);
  if (approval && isOpen(approval.status)) await settleFromOutside(tx, approval, 'stale', RUN_ENDED);
}

/** Makes stale what was requested for a release candidate that is no longer what it was. */
export async function makeApprovalsStale(
  tx: Tx,
  candidate: { projectId: string; domain: string; releaseName: string },
  comment: string,
): Promise<void> {
  for (const approval of await openApprovalsOf(tx, candidate))
    await settleFromOutside(tx, approval, 'stale', { source: 'release_candidate', comment });
}
