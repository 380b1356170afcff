import type { CrmFailure } from '../crm/crm-platform.port.ts';

/**
 * - `auth_failed`: the org refused its credential; nothing calls it until people renew or test it
 * - `unknown`: never asked
 */
export const ORG_HEALTH_STATUSES = ['ok', 'auth_failed', 'unreachable', 'limited', 'unknown'] as const;
export type OrgHealthStatus = (typeof ORG_HEALTH_STATUSES)[number];

const HEALTH: Record<CrmFailure['kind'], OrgHealthStatus> = {
  auth_failed: 'auth_failed',
  limited: 'limited',
  unreachable: 'unreachable',
  timeout: 'unreachable',
  refused: 'unreachable',
  not_found: 'unreachable',
  malformed: 'unreachable',
};

/** The health of an org after a call. @param failure undefined when it answered. */
export const healthAfter = (failure: CrmFailure | undefined): OrgHealthStatus =>
  failure ? HEALTH[failure.kind] : 'ok';

/** What a call says of the health of an org; undefined where it says nothing: the org did answer, or refused the call. */
export function learntHealth(failure: CrmFailure | undefined): OrgHealthStatus | undefined {
  if (!failure) return 'ok';
  return failure.kind === 'limited' || failure.kind === 'unreachable' || failure.kind === 'timeout'
    ? healthAfter(failure)
    : undefined;
}

/** The health of an org as replies show it. */
export const shownHealth = (org: {
  healthStatus: OrgHealthStatus;
  healthCheckedAt: string | null;
  healthError: string | null;
  healthHint: string | null;
}) => ({ status: org.healthStatus, checkedAt: org.healthCheckedAt, error: org.healthError, hint: org.healthHint });
