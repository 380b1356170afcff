import { DateTime, Duration } from 'luxon';
import { z } from 'zod';
import type { ApprovalPolicy } from '../environments/environments.entities.ts';

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
  expiresAt: Date;
}

interface PolicySources {
  /** Of the environment; null: it has none. */
  environment: ApprovalPolicy | null;
  /** That the run brings itself. */
  run: ApprovalPolicy | undefined;
  isForRelease: boolean;
  now: Date;
}

/**
 * The terms of a run's approval; undefined when it needs none. The environment's policy holds whatever the run says:
 * what a run brings counts only where its environment asks for no approval, so that nobody talks themselves past it.
 */
export function termsOf({ environment, run, isForRelease, now }: PolicySources): Terms | undefined {
  const policy = [environment, run].find((each) => each && each.skipApproval !== true);
  if (!policy) return undefined;
  return {
    approvers: policy.approvers ?? [],
    minApprovals: policy.minApprovals ?? 1,
    allowSelfApproval: policy.allowSelfApproval ?? !isForRelease,
    expiresAt: expiryOf(now, policy.expiresAfter ?? EXPIRES_AFTER),
  };
}
