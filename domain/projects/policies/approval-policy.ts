import { DateTime, Duration } from 'luxon';
import { z } from 'zod';
import { DomainError } from '../../kernel/shared/errors.ts';
import { fold } from '../../kernel/text/fold-rules.ts';
import type { ApprovalPolicy, PolicySource } from './approval-policy-rules.ts';

const EXPIRES_AFTER = 'P7D';
const LONGEST = Duration.fromISO('P1Y');

/** When what expires after an ISO 8601 duration does so; months and years are those of the calendar, in UTC. */
export const expiryOf = (now: Date, duration: string): Date =>
  DateTime.fromJSDate(now, { zone: 'utc' }).plus(Duration.fromISO(duration)).toJSDate();

/** Longer than nothing, and at most a year. */
function isUsable(duration: string): boolean {
  const { milliseconds } = Duration.fromISO(duration).shiftTo('milliseconds').toObject();
  return milliseconds !== undefined && milliseconds > 0 && milliseconds <= LONGEST.toMillis();
}

/** The shape of a policy, in an environment and in the payload of a run. */
export const ApprovalPolicySchema = z.strictObject({
  skipApproval: z.boolean().optional(),
  approvers: z
    .array(z.string().trim().min(1).max(255))
    .max(100)
    .optional()
    .meta({ description: 'E-mails and team slugs; none: the owners of the tenant' }),
  minApprovals: z.int().min(1).max(20).optional(),
  allowSelfApproval: z
    .boolean()
    .optional()
    .meta({ description: 'Whether who asks may approve; when absent, everywhere but for releases' }),
  expiresAfter: z.iso
    .duration()
    .refine(isUsable, 'must be longer than nothing and at most a year')
    .optional()
    .meta({ description: 'ISO 8601 duration, P7D when absent', example: 'P7D' }),
});

/** What an approval is given by. */
export interface Terms {
  approvers: string[];
  minApprovals: number;
  allowSelfApproval: boolean;
  /** An owner who asked in person may approve while the tenant has no other owner. */
  allowSoleOwner: boolean;
  expiresAt: Date;
}

interface GivenPolicies {
  /** Policies of the run's targets. */
  policies: readonly PolicySource[];
  /** That the run brings itself. */
  run: ApprovalPolicy | undefined;
  now: Date;
}

const peopleOf = ({ policy }: PolicySource): string =>
  JSON.stringify([...new Set(policy?.approvers?.map(fold))].toSorted());

/** The policies that ask for an approval; what a run brings counts only where none of its targets' does. */
function askingOf({ policies, run }: Omit<GivenPolicies, 'now'>): PolicySource[] {
  const asking = policies.filter(({ policy }) => policy?.skipApproval !== true);
  if (asking.length === 0 && run && run.skipApproval !== true)
    asking.push({ policy: run, isForRelease: policies.some(({ isForRelease }) => isForRelease) });
  return asking;
}

/** How long after it was asked for an approval expires, by the policy that lets it expire first (ISO 8601). */
export function expiresAfterOf({ now, ...given }: GivenPolicies): string {
  const durations = askingOf(given).map(({ policy }) => policy?.expiresAfter ?? EXPIRES_AFTER);
  return durations.toSorted((a, b) => Number(expiryOf(now, a)) - Number(expiryOf(now, b)))[0] ?? EXPIRES_AFTER;
}

/**
 * The terms of a run's approval; undefined when it needs none. The policies of its targets hold whatever the run says:
 * what a run brings counts only where they ask for no approval, so that nobody talks themselves past them. Of several
 * policies the strictest holds: the approvers if they are the same in all, else the owners; the most approvals;
 * approval by who asked only where all allow it; the soonest expiry.
 */
export function termsOf({ policies, run, now }: GivenPolicies): Terms | undefined {
  const asking = askingOf({ policies, run });
  const [first] = asking;
  if (!first) return undefined;
  const isSame = asking.every((each) => peopleOf(each) === peopleOf(first));
  const allowsSelf = ({ policy, isForRelease }: PolicySource) => policy?.allowSelfApproval ?? !isForRelease;
  const expiries = asking.map(({ policy }) => expiryOf(now, policy?.expiresAfter ?? EXPIRES_AFTER).getTime());
  return {
    approvers: (isSame && first.policy?.approvers) || [],
    minApprovals: Math.max(...asking.map(({ policy }) => policy?.minApprovals ?? 1)),
    allowSelfApproval: asking.every(allowsSelf),
    allowSoleOwner: asking.every((each) => each.policy === null || allowsSelf(each)),
    expiresAt: new Date(Math.min(...expiries)),
  };
}

/** The policy that a payload brings. Throws `invalid_request`. */
export function policyOfPayload({ approvalPolicy }: { approvalPolicy?: unknown }): ApprovalPolicy | undefined {
  const own = ApprovalPolicySchema.optional().safeParse(approvalPolicy ?? undefined);
  if (own.success) return own.data;
  const [issue] = own.error.issues;
  throw new DomainError(
    'invalid_request',
    `The payload's approvalPolicy cannot be used: ${issue?.path.join('.')} ${issue?.message}`,
  );
}
