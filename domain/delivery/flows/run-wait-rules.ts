import { isoOf } from '../../kernel/text/date-time-rules.ts';
import type { RunStatus } from './run-status-rules.ts';

export const WAIT_KINDS = ['approval', 'window', 'hold', 'lock', 'org', 'org_calls'] as const;

/** For what, and for whom, a run waits: before its work begins, or in the middle of it for calls of its org, or until another run has changed that. */
export interface RunWait {
  for: (typeof WAIT_KINDS)[number];
  /** E-mails and team slugs of those who may approve, or who holds the lock; empty: the owners, or nobody in particular. */
  who: string[];
  /** For people. */
  reason: string;
  /**
   * ISO 8601: when the approval expires, the window opens, the hold is over or the lease of the lock ends, as far as that is known. Nobody knows
   * when an org takes calls again.
   */
  until: string | null;
}

/** What is known of the gates of a run. */
export interface GateFacts {
  status: RunStatus;
  /** Why it waits for a window, for a hold of its release, for its org, or for calls of that; null: it waits for none of them. */
  waitsFor: string | null;
  nextWindowAt: string | null;
  approval: { approvers: string[]; minApprovals: number; given: number; expiresAt: string } | null;
  lock: { environmentName: string; heldBy: string | null; expiresAt: string | null } | null;
}

/** What a run waits for; null for one that is at work, has ended, or has not come to a gate yet. */
export function waitOf({ status, waitsFor, nextWindowAt, approval, lock }: GateFacts): RunWait | null {
  if (status === 'waiting_approval' && approval) {
    const { approvers, minApprovals, given, expiresAt } = approval;
    const whose = approvers.length === 0 ? 'the owners' : approvers.join(', ');
    const progress = minApprovals > 1 ? ` (${given} of ${minApprovals} given)` : '';
    return { for: 'approval', who: approvers, reason: `Approval by ${whose}${progress}`, until: isoOf(expiresAt) };
  }
  if (status === 'waiting_window')
    return {
      for: 'window',
      who: [],
      reason: waitsFor ?? 'A window of its environment',
      until: nextWindowAt && isoOf(nextWindowAt),
    };
  if (status === 'waiting_hold')
    return {
      for: 'hold',
      who: [],
      reason: waitsFor ?? 'A hold of its release',
      until: nextWindowAt && isoOf(nextWindowAt),
    };
  if (status === 'waiting_org_calls')
    return { for: 'org_calls', who: [], reason: waitsFor ?? 'Calls of its org', until: null };
  if (status === 'waiting_lock' && lock) {
    const { environmentName, heldBy, expiresAt } = lock;
    const reason = `The lock of ${environmentName}${heldBy === null ? '' : `, which ${heldBy} holds`}`;
    return { for: 'lock', who: heldBy === null ? [] : [heldBy], reason, until: expiresAt && isoOf(expiresAt) };
  }
  return status === 'running' && waitsFor !== null ? { for: 'org', who: [], reason: waitsFor, until: null } : null;
}
