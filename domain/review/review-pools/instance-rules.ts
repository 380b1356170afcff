import { DomainError } from '../../kernel/shared/errors.ts';

export const POOL_TYPES = ['SANDBOX', 'SCRATCH_ORG'] as const;
export type PoolType = (typeof POOL_TYPES)[number];

/** What becomes of an org when its assignment ends: retired, free again at once, or free once a builder has refreshed it. */
export const ON_RELEASE = ['discard', 'reuse', 'refresh'] as const;
export type OnRelease = (typeof ON_RELEASE)[number];

export const INSTANCE_STATES = ['provisioning', 'available', 'assigned', 'refreshing', 'expired', 'failed'] as const;
export type InstanceState = (typeof INSTANCE_STATES)[number];

/** How many orgs of a pool are in each state. */
export type InstanceCounts = Record<InstanceState, number>;

/** The whole state machine of an org in a pool; `expired` and `failed` are final. */
const MOVES: Record<InstanceState, readonly InstanceState[]> = {
  provisioning: ['available', 'expired', 'failed'],
  available: ['assigned', 'refreshing', 'expired', 'failed'],
  assigned: ['available', 'refreshing', 'expired', 'failed'],
  refreshing: ['available', 'expired', 'failed'],
  expired: [],
  failed: [],
};

export const mayMove = (from: InstanceState, to: InstanceState): boolean => MOVES[from].includes(to);

/** Whether it counts towards the most instances of its pool. */
export const isLive = (state: InstanceState): boolean => MOVES[state].length > 0;

/** What is not available so many seconds after it was registered has failed. */
export const PROVISIONED_WITHIN_SECONDS = 24 * 3_600;

/** Whether somebody has it. */
export const isAssigned = (state: InstanceState): boolean => state === 'assigned';
/** Whether it can be handed out. */
export const isAvailable = (state: InstanceState): boolean => state === 'available';

/** States that people and builders set; `assigned` comes from assignments alone. */
export const SETTABLE_STATES = ['available', 'refreshing', 'expired', 'failed'] as const;
export type SettableState = (typeof SETTABLE_STATES)[number];

/** Whether an instance that gets this state ends the assignment that has it. */
export const endsAssignment = (state: SettableState): state is 'expired' | 'failed' =>
  state === 'expired' || state === 'failed';

/** False: it is in the state already. Throws `invalid_transition`, also for an assigned org that would be free. */
export function decideMove(from: InstanceState, to: SettableState): boolean {
  if (from === to) return false;
  if (isAssigned(from) && !endsAssignment(to))
    throw new DomainError('invalid_transition', 'The org is assigned: release its assignment instead');
  if (!mayMove(from, to)) throw new DomainError('invalid_transition', `An org that is ${from} cannot become ${to}`);
  return true;
}

/** What an assigned org becomes when its assignment ends. */
export const stateAfterRelease = (onRelease: OnRelease): InstanceState => {
  switch (onRelease) {
    case 'discard':
      return 'expired';
    case 'reuse':
      return 'available';
    case 'refresh':
      return 'refreshing';
  }
};
