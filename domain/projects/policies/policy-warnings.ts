import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import type { Warning } from '../../kernel/shared/warning-rules.ts';
import { approverWarnings } from './approver-warning-rules.ts';
import { knownApprovers } from './approvers.queries.ts';
import type { ApprovalPolicy } from './approval-policy-rules.ts';

/**
 * What of a policy can never be met. An application token that is limited to projects does not see members, and gets no
 * warnings about them.
 * @param path of the policy in its resource.
 */
export async function policyWarnings(
  reads: Reads,
  actor: Pick<Actor, 'projectIds'>,
  policy: ApprovalPolicy | null | undefined,
  path: readonly string[],
): Promise<Warning[]> {
  if (!policy || policy.skipApproval === true || actor.projectIds) return [];
  return approverWarnings(policy, await knownApprovers(reads, policy.approvers ?? []), path);
}
