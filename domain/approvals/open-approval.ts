import { type RunContext, runById } from '../flows/flow-runs.queries.ts';
import { DomainError } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { ApprovalPolicySchema, type Terms, termsOf } from './approval-policy.ts';
import { noteRequested, settleFromOutside } from './approval-steps.ts';
import { approvalById, findApprovalIdOfRun, insertApproval, openApprovalsOf } from './approvals.queries.ts';

function termsFor(tx: Tx, { approvalPolicy, environmentCategory, payload }: RunContext): Terms | undefined {
  const own = ApprovalPolicySchema.optional().safeParse(payload.approvalPolicy ?? undefined);
  if (!own.success) {
    const [issue] = own.error.issues;
    throw new DomainError(
      'invalid_request',
      `The payload's approvalPolicy cannot be used: ${issue?.path.join('.')} ${issue?.message}`,
    );
  }
  return termsOf({
    environment: approvalPolicy,
    run: own.data,
    isForRelease: environmentCategory === null || environmentCategory === 'release',
    now: tx.now,
  });
}

export interface OpenedApproval {
  approvalId: string;
  taskType: string;
  repositoryIdentifier: string | null;
}

/**
 * Requests the approval that a run needs, or finds the one that it has; undefined when it needs none. An open approval
 * of the same work in the same environment, which an earlier run waits for, goes stale: the newer request replaces it.
 * Throws `not_found` for the run, `invalid_request` for an invalid policy in its payload.
 */
export async function openApproval(tx: Tx, runId: string): Promise<OpenedApproval | undefined> {
  const run = await runById(tx, runId);
  const { taskType, projectId, repositoryIdentifier, environmentName, domain, releaseName, requestedBy } = run;
  const existing = await findApprovalIdOfRun(tx, runId);
  if (existing) return { approvalId: existing.id, taskType, repositoryIdentifier };
  const terms = termsFor(tx, run);
  if (!terms) return undefined;

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
    requesterId: requestedBy.id,
    requestedBy: requestedBy.email,
  });
  await noteRequested(tx, await approvalById(tx, approvalId));
  return { approvalId, taskType, repositoryIdentifier };
}
