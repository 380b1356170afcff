import { approvalById } from '../approvals/approvals.queries.ts';
import { votesOf } from '../approvals/approval-steps.queries.ts';
import type { Reads } from '../data/fenced-reads.ts';
import { DomainError } from '../shared/errors.ts';
import type { ShownApproval } from './approval-message-rules.ts';

/** What messages show of an approval now; undefined where there is none of that id. */
export async function shownApproval(reads: Reads, id: string): Promise<ShownApproval | undefined> {
  const approval = await approvalById(reads, id).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'not_found') return undefined;
    throw error;
  });
  if (!approval) return undefined;
  const votes = await votesOf(reads, id);
  return { ...approval, given: votes.filter(({ decision }) => decision === 'approve').length };
}
