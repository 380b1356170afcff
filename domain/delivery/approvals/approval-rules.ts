import type { Voter } from '../../projects/policies/approval-policy-rules.ts';
import { DomainError } from '../../kernel/shared/errors.ts';

export const APPROVAL_STATUSES = ['requested', 'approved', 'rejected', 'expired', 'stale'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];
export type SettledStatus = Exclude<ApprovalStatus, 'requested'>;
export const NEW_APPROVAL: ApprovalStatus = 'requested';

/** The whole state machine: requested reaches each of the others; they are final, and reach nothing. */
const IS_OPEN: Record<ApprovalStatus, boolean> = {
  requested: true,
  approved: false,
  rejected: false,
  expired: false,
  stale: false,
};

export const isOpen = (status: ApprovalStatus): boolean => IS_OPEN[status];

/** Throws `invalid_transition` for an approval that is settled. */
export function assertOpen(status: ApprovalStatus): void {
  if (!isOpen(status)) throw new DomainError('invalid_transition', `The approval is ${status} already; that is final`);
}

export type Decision = 'approve' | 'reject';
/** Where a decision was made, if not by a request of the person. */
export type DecisionVia = 'slack';

export interface Vote {
  voterId: string;
  decision: Decision;
}

export interface ApprovalTerms {
  status: ApprovalStatus;
  /** E-mails and team slugs; none: the owners of the tenant. */
  approvers: string[];
  minApprovals: number;
  allowSelfApproval: boolean;
  /** Id of the actor who requested it; the id of a user, if they did so in person. */
  requesterId: string;
  /** Ids of all people who set it in motion: in person, or by a token, a schedule or a run that was repeated. */
  requesterIds: readonly string[];
  /** An owner who requested it in person may approve it while the tenant has no other owner. */
  allowSoleOwner: boolean;
}

/** Whether somebody may approve as far as their own requests are concerned. */
const mayApproveOwn = (
  {
    allowSelfApproval,
    allowSoleOwner,
    requesterId,
    requesterIds,
  }: Pick<ApprovalTerms, 'allowSelfApproval' | 'allowSoleOwner' | 'requesterId' | 'requesterIds'>,
  { id, isSoleOwner }: Voter,
): boolean =>
  allowSelfApproval ||
  (id !== requesterId && !requesterIds.includes(id)) ||
  (allowSoleOwner && isSoleOwner && id === requesterId);

export const isApprover = (approvers: readonly string[], { email, isOwner, teams }: Voter): boolean =>
  approvers.length === 0
    ? isOwner
    : approvers.some((approver) => approver.toLowerCase() === email.toLowerCase() || teams.includes(approver));

/** How many of some people may give an approval. */
export const countApprovers = (terms: Omit<ApprovalTerms, 'status'>, people: readonly Voter[]): number =>
  people.filter((each) => isApprover(terms.approvers, each) && mayApproveOwn(terms, each)).length;

interface Expiring {
  status: ApprovalStatus;
  expiresAt: string;
}

/** Whether an approval has expired, though its timer has not settled it yet. */
export const isOverdue = ({ status, expiresAt }: Expiring, now: Date): boolean =>
  isOpen(status) && Date.parse(expiresAt) <= now.getTime();

/** The status of an approval as far as it can be told now: what has expired, or whose run has ended, may not be settled yet. */
export function statusNow(approval: Expiring & { hasRunEnded: boolean }, now: Date): ApprovalStatus {
  if (isOpen(approval.status) && approval.hasRunEnded) return 'stale';
  return isOverdue(approval, now) ? 'expired' : approval.status;
}

export interface MayDecide {
  allowed: boolean;
  /** Why not. */
  reason: string | null;
}

/** Whether somebody may give an approval now; without a voter: who asks is no person. */
export function mayApprove(terms: ApprovalTerms, votes: readonly Vote[], voter: Voter | undefined): MayDecide {
  if (!voter) return { allowed: false, reason: 'Only people decide' };
  try {
    const { isRepeated } = decide(terms, votes, voter, 'approve');
    return { allowed: !isRepeated, reason: isRepeated ? 'You have approved it' : null };
  } catch (error) {
    if (error instanceof DomainError) return { allowed: false, reason: error.message };
    throw error;
  }
}

/**
 * What a decision makes of an approval, with the votes given before it; `isRepeated`: it was made before, and nothing
 * is to be done. One rejection ends it; it is approved by the last of `minApprovals` people.
 * Throws `forbidden` for somebody who is no approver, or asks for the approval; `invalid_transition` when it is settled.
 */
export function decide(
  terms: ApprovalTerms,
  votes: readonly Vote[],
  voter: Voter,
  decision: Decision,
): { status: ApprovalStatus; isRepeated: boolean } {
  if (!isApprover(terms.approvers, voter)) {
    throw new DomainError(
      'forbidden',
      `Only approvers may decide: ${terms.approvers.join(', ') || 'the owners of the tenant'}`,
    );
  }
  if (votes.some(({ voterId, decision: before }) => voterId === voter.id && before === decision)) {
    return { status: terms.status, isRepeated: true };
  }
  assertOpen(terms.status);
  if (decision === 'reject') return { status: 'rejected', isRepeated: false };
  if (!mayApproveOwn(terms, voter)) {
    throw new DomainError(
      'forbidden',
      'Who asked for this approval may not give it: in person, or by a token, a schedule or a rerun of theirs',
    );
  }
  const given = votes.filter((vote) => vote.decision === 'approve').length + 1;
  return { status: given >= terms.minApprovals ? 'approved' : terms.status, isRepeated: false };
}
