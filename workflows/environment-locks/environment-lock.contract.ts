import type { LockLine } from '../../domain/environment-locks/lock-turns.port.ts';
import { defineContract, defineUpdate, type Launch } from '../launch.ts';

/** The lock of one environment. */
export interface EnvironmentLockInput extends LockLine {
  /** The ticket whose run was told last that it has the lock. */
  toldTicketId?: string;
}

export const ENVIRONMENT_LOCKS_QUEUE = 'environment-locks-v1';

export const environmentLock = defineContract<EnvironmentLockInput>({
  workflow: 'environmentLock',
  taskQueue: ENVIRONMENT_LOCKS_QUEUE,
  workflowId: ({ tenantId, environmentId }) => `${tenantId}/environment-lock/${environmentId}`,
  summary: ({ repositoryIdentifier, environmentName }) => `Lock of ${environmentName} of ${repositoryIdentifier}`,
  searchAttributes: ({ tenantId, repositoryIdentifier, environmentId }) => ({
    Tenant: tenantId,
    Repository: repositoryIdentifier,
    TaskType: 'environment-lock',
    EntityId: environmentId,
  }),
});

/** Update: take these tickets into the line, in this order; answers when that is done. */
export const TAKE_IN = defineUpdate<string[], void>('takeIn');
/** Signal: tickets were given back or extended. */
export const LOOK_SIGNAL = 'look';

/** Told to a run's workflow when it has the lock for which it waits. */
export const LOCK_GRANTED_SIGNAL = 'lockGranted';
export interface LockGranted {
  ticketId: string;
}

/** How long a request waits for its ticket. */
const ANSWER_MS = 5_000;
/** Words that come within this time are one: a turn finds all that there is. */
const QUIET_MS = 20;

/** How a process asks the workflows of locks. */
export const lockQuestions = (launch: Launch) => ({
  takeIn: (line: LockLine, ticketIds: string[]): Promise<void> =>
    launch.ask(environmentLock, line, TAKE_IN, ticketIds, ANSWER_MS),
  look: (line: LockLine): void => launch.wake(environmentLock, line, LOOK_SIGNAL, QUIET_MS),
});
