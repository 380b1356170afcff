import type { Actor } from '../../kernel/shared/actor.ts';
import { DomainError } from '../../kernel/shared/errors.ts';

/** What a ticket for an environment's lock may be. */
export type TicketState = 'asked' | 'queued' | 'held' | 'released' | 'expired' | 'withdrawn';

interface StateTraits {
  /** It has a place in the queue. */
  isLive: boolean;
  /** What it becomes when its holder returns it. */
  afterReturn: TicketState | undefined;
}

/**
 * The whole state machine: asked, then queued, then held, in the order of the queue; returned it is released, or
 * withdrawn when it never held; an expired lease makes it expired. The last three are final.
 */
const TRAITS: Record<TicketState, StateTraits> = {
  asked: { isLive: true, afterReturn: 'withdrawn' },
  queued: { isLive: true, afterReturn: 'withdrawn' },
  held: { isLive: true, afterReturn: 'released' },
  released: { isLive: false, afterReturn: undefined },
  expired: { isLive: false, afterReturn: undefined },
  withdrawn: { isLive: false, afterReturn: undefined },
};

export const isLive = (state: TicketState): boolean => TRAITS[state].isLive;

/** What a ticket becomes when it is returned; undefined: it has ended already. */
export const stateAfterReturn = (state: TicketState): TicketState | undefined => TRAITS[state].afterReturn;

/** Whether it is the one that has the lock. */
export const hasLock = (state: TicketState): boolean => state === 'held';

/** A ticket is changed by its holder, by an owner, or by the service itself. Throws `forbidden`. */
export function assertMayChange({ type, id, role }: Actor, holder: Actor): void {
  const isHolder = holder.type === type && holder.id === id;
  if (isHolder || role === 'owner' || type === 'system') return;
  throw new DomainError('forbidden', `The ticket belongs to ${holder.email}; only they or an owner may change it`);
}

/** Minutes that a lock is held unless it is extended or returned. */
export const LEASE_MINUTES = 30;
export const LEASE_MINUTES_MAX = 240;

export interface WaitFacts {
  /** 0: holds the lock; 1: the next. */
  position: number;
  /** Median of the environment's past holds; null: there are none. */
  medianHoldSeconds: number | null;
  /** how long the lock has been held; null: by nobody. */
  heldForSeconds: number | null;
}

/**
 * Whole seconds until a ticket is expected to have the lock: what is left of the present hold, if all last as long as
 * the median of the past ones, and one median for each ticket in between. Null when no hold has ended yet.
 */
export function estimateWaitSeconds({ position, medianHoldSeconds, heldForSeconds }: WaitFacts): number | null {
  if (position === 0) return 0;
  if (medianHoldSeconds === null) return null;
  const left = heldForSeconds === null ? 0 : Math.max(0, medianHoldSeconds - heldForSeconds);
  return Math.round(left + (position - 1) * medianHoldSeconds);
}
