import { backoffMs } from '../../kernel/shared/backoff-rules.ts';
import type { CrmFailureKind } from '../crm/crm-platform.port.ts';

const HOUR_MS = 3_600_000;
const LONGEST_BACKOFF_MS = 6 * HOUR_MS;
/** An org whose calls are used up gets more of them as the day goes on. */
const LONGEST_PAUSE_MS = HOUR_MS;

/**
 * When an org is polled next, epoch milliseconds. Each org has a moment of its own in the interval, by its id, so that
 * the orgs of a tenant are spread evenly. One that was just polled waits a quarter of the interval at least.
 */
export function nextPollAt(orgId: string, nowMs: number, everyMs: number): number {
  // The end of an id is random.
  const phase = Number.parseInt(orgId.slice(-8), 16) % everyMs;
  const next = Math.floor((nowMs - phase) / everyMs) * everyMs + phase + everyMs;
  return next - nowMs < everyMs / 4 ? next + everyMs : next;
}

/** When an org that did not answer is polled next: the interval, doubled with each failure, up to six hours. */
export function retryPollAt(kind: CrmFailureKind, failuresInARow: number, nowMs: number, everyMs: number): number {
  const longest = kind === 'limited' ? LONGEST_PAUSE_MS : LONGEST_BACKOFF_MS;
  return nowMs + backoffMs(failuresInARow, everyMs, Math.max(longest, everyMs));
}
