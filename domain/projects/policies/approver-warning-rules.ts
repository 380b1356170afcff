import { type Warning, warning, WARNINGS_MAX } from '../../kernel/shared/warning-rules.ts';
import type { ApprovalPolicy } from './approval-policy-rules.ts';

/** Who of a policy's approvers is there. */
export interface KnownApprovers {
  /** The given approvers who are members, or teams with members. */
  known: readonly string[];
  /** How many people may approve. */
  people: number;
}

/** What of a policy can never be met. @param path of the policy in its resource. */
export function approverWarnings(
  { approvers = [], minApprovals = 1, skipApproval }: ApprovalPolicy,
  { known, people }: KnownApprovers,
  path: readonly string[],
): Warning[] {
  if (skipApproval === true) return [];
  const unknown = approvers
    .flatMap((approver, index) =>
      known.includes(approver)
        ? []
        : warning('unknown_approver', [...path, 'approvers', index], `${approver} is ${missing(approver)}`),
    )
    .slice(0, WARNINGS_MAX);
  if (people >= minApprovals) return unknown;
  const who = approvers.length === 0 ? 'the owners of the tenant' : 'its approvers';
  const message = `The policy asks for ${minApprovals} approvals; ${who} are ${people === 0 ? 'no people' : `${people} in all`}`;
  return [...unknown, warning('too_few_approvers', [...path, 'minApprovals'], message)];
}

const missing = (approver: string): string =>
  approver.includes('@') ? 'not the e-mail of a member who may approve' : 'not a team with members who may approve';
