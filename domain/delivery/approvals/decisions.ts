import type { Actor } from '../../kernel/shared/actor.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { UnitOfWork } from '../../unit-of-work.ts';
import type { Decision, DecisionVia } from './approval-rules.ts';
import { previewDecision } from './approvals.mutations.ts';
import { approvalById, type ApprovalRow } from './approvals.queries.ts';

/** A person's decision. */
export interface DecisionMade {
  decision: Decision;
  comment: string | null;
  by: Actor;
  requestId: string;
  traceparent: string | undefined;
  /** Where it was made, if not by a request of the person. */
  via?: DecisionVia;
}

/** Has the workflow of an approval apply a decision. Throws the refusal, and `unavailable` while there is no engine. */
export type SendDecision = (
  approval: Pick<ApprovalRow, 'id' | 'taskType' | 'repositoryIdentifier'>,
  made: DecisionMade,
) => Promise<void>;

/**
 * Takes a person's decision on an approval; answers the approval after it. Repeating an earlier decision returns the
 * approval, whatever its state is by now. Throws `not_found`, what `decide` throws, and `unavailable`.
 * @param tx in the name of the person.
 */
export async function takeDecision(
  tx: UnitOfWork,
  send: SendDecision,
  approvalId: string,
  made: DecisionMade,
): Promise<ApprovalRow> {
  const preview = () =>
    tx(async (work) => {
      const approval = await approvalById(work, approvalId);
      return { approval, isRepeated: (await previewDecision(work, approval, made.decision)).isRepeated };
    });
  const { approval, isRepeated } = await preview();
  if (!isRepeated)
    try {
      await send(approval, made);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'invalid_transition') throw error;
      // Whoever decided meanwhile may have been the same person.
      await preview();
    }
  // Read after the decision was found: the approval that was read before it may have been open still.
  return tx((work) => approvalById(work, approvalId));
}
