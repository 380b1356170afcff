import { getApproval, grantApproval, rejectApproval, type ApprovalWithVotes } from '@quayside/client';
import { client } from '../../kernel/data/client.ts';
import { type Decision, type Outcome, outcomeOfRefusal } from './inbox-rules.ts';

export interface DecisionInput {
  decision: Decision;
  approvals: readonly ApprovalWithVotes[];
  comment: string;
}

export interface Decided {
  approval: ApprovalWithVotes;
  outcome: Outcome;
}

/** Decides one after the other, and says of each what came of it: a refusal of one stops none of the others. */
export async function decideAll({ decision, approvals, comment }: DecisionInput) {
  const operation = decision === 'approve' ? grantApproval : rejectApproval;
  const data: Decided[] = [];
  for (const approval of approvals) {
    const path = { id: approval.id };
    const { data: done, error } = await operation({ client, path, body: comment === '' ? {} : { comment } });
    if (done) {
      data.push({ approval, outcome: { kind: 'done', status: done.status } });
      continue;
    }
    const { data: now } = error.status === 409 ? await getApproval({ client, path }) : {};
    data.push({ approval, outcome: outcomeOfRefusal(error, now) });
  }
  return { data, error: undefined };
}
