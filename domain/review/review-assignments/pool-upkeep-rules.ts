import { backoffMs } from '../../kernel/shared/backoff-rules.ts';
import type { InstanceCounts } from '../review-pools/instance-rules.ts';

const MINUTE_MS = 60_000;
const BACKOFF_MAX_MS = 60 * MINUTE_MS;

/** How long no run begins after so many failures in a row: 1 minute, then twice as long each time, up to 60. */
export const prepareBackoffMs = (failures: number): number =>
  backoffMs(Math.max(1, failures), MINUTE_MS, BACKOFF_MAX_MS);

/**
 * How many orgs a pool lacks: for those who wait and those to be kept available, within what the pool may have.
 */
export function missingOrgs(
  { provisioning, available, assigned, refreshing }: InstanceCounts,
  { minAvailable, maxInstances }: { minAvailable: number; maxInstances: number },
  waiting: number,
): number {
  const coming = provisioning + available + refreshing;
  const room = maxInstances - coming - assigned;
  return Math.max(0, Math.min(minAvailable + waiting - coming, room));
}
