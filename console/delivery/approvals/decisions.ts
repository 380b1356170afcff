import { getApproval, grantApproval, ProblemError, rejectApproval, type ApprovalWithVotes } from '@quayside/client';
import { client } from '../../kernel/data/client.ts';
import { type Decision, mayPass, type Outcome, outcomeOfRefusal } from './inbox-rules.ts';

export interface DecisionInput {
  decision: Decision;
  approvals: readonly ApprovalWithVotes[];
  comment: string;
}

export interface Decided {
  approval: ApprovalWithVotes;
  outcome: Outcome;
}

export interface Decisions {
  decided: Decided[];
  /** Those that were not decided, as something failed that has nothing to do with them, and what. */
  left: readonly ApprovalWithVotes[];
  stoppedBy: ProblemError | undefined;
}

/**
 * Decides one after the other, and says of each what came of it: a refusal of one stops none of the others. Where the service
 * cannot be asked, the others are left as they are.
 */
export async function decideAll({ decision, approvals, comment }: DecisionInput) {
  const operation = decision === 'approve' ? grantApproval : rejectApproval;
  const data: Decisions = { decided: [], left: [], stoppedBy: undefined };
  for (const [index, approval] of approvals.entries()) {
    const path = { id: approval.id };
    const { data: done, error } = await operation({ client, path, body: comment === '' ? {} : { comment } });
    if (done) {
      data.decided.push({ approval, outcome: { kind: 'done', status: done.status } });
      continue;
    }
    if (mayPass(error.status)) {
      data.left = approvals.slice(index);
      data.stoppedBy = new ProblemError(error);
      break;
    }
    const { data: now } = error.status === 409 ? await getApproval({ client, path }) : {};
    data.decided.push({ approval, outcome: outcomeOfRefusal(error, now) });
  }
  return { data, error: undefined };
}
