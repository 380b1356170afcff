import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { peopleBehind } from '../../identity/application-tokens/requesters.queries.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Terms } from '../../projects/policies/approval-policy.ts';
import { type ApprovalTerms, countApprovers } from './approval-rules.ts';
import type { Voter } from '../../projects/policies/approval-policy-rules.ts';
import { possibleVoters } from '../../projects/policies/approvers.queries.ts';

/** The people who request an approval, which counts when they want to give it. */
export interface Requesters extends Pick<ApprovalTerms, 'requesterId'> {
  requesterIds: string[];
}

/** Who requests an approval: the actor, and the people behind it. */
export const requestersOf = async (reads: Reads, requestedBy: Actor): Promise<Requesters> => ({
  requesterId: requestedBy.id,
  requesterIds: await peopleBehind(reads, requestedBy),
});

/** Throws `too_few_approvers` if one of some approvals cannot be given: too few people may, without those who ask for it. */
export async function assertApprovable(
  reads: Reads,
  approvals: readonly Terms[],
  requesters: Requesters,
): Promise<void> {
  for (const ofApprovers of Map.groupBy(approvals, ({ approvers }) => JSON.stringify(approvers)).values()) {
    const voters = await possibleVoters(reads, ofApprovers[0]?.approvers ?? []);
    for (const terms of ofApprovers) assertEnough(terms, requesters, voters);
  }
}

function assertEnough(terms: Terms, requesters: Requesters, voters: readonly Voter[]): void {
  const { approvers, minApprovals } = terms;
  const people = countApprovers({ ...terms, ...requesters }, voters);
  if (people >= minApprovals) return;
  const who = approvers.join(', ') || 'the owners of the tenant';
  throw new DomainError(
    'too_few_approvers',
    `The approval that this needs could not be given: it takes ${minApprovals} of ${who}, and without those who ask for it ${people === 0 ? 'nobody' : `only ${people}`} of them may`,
  );
}
