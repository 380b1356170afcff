import type { OrgHealthStatus } from '../crm-orgs/org-health-rules.ts';
import type { CrmFailureKind } from '../crm/crm-platform.port.ts';
import type { LimitLevel } from './limit-level-rules.ts';

/**
 * - `ok`, `warning`, `critical`: the highest level of its limits
 * - `stale`: the last answer is older than an hour or, where orgs are polled less often, than two intervals
 * - `unreachable`: the last poll failed
 * - `auth_failed`: the org refused its credential; it is not polled until that is renewed
 * - `pending`: not polled yet
 */
export const ORG_LIMIT_STATUSES = [
  'ok',
  'warning',
  'critical',
  'stale',
  'unreachable',
  'auth_failed',
  'pending',
] as const;
export type OrgLimitStatus = (typeof ORG_LIMIT_STATUSES)[number];

const HOUR_MS = 3_600_000;

export interface PollFacts {
  health: OrgHealthStatus;
  /** Epoch milliseconds of the last answer; null before there is one. */
  polledAt: number | null;
  /** Failure of the last poll; null when it succeeded. */
  failure: CrmFailureKind | null;
  worstLevel: LimitLevel | null;
}

export function orgLimitStatus(
  { health, polledAt, failure, worstLevel }: PollFacts,
  nowMs: number,
  everyMs: number,
): OrgLimitStatus {
  if (health === 'auth_failed' || failure === 'auth_failed') return 'auth_failed';
  // An org whose calls are used up has answered: its last figures hold until they are old.
  if (failure !== null && (failure !== 'limited' || polledAt === null)) return 'unreachable';
  if (polledAt === null) return 'pending';
  return nowMs - polledAt > Math.max(HOUR_MS, 2 * everyMs) ? 'stale' : (worstLevel ?? 'ok');
}
