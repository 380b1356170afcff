import { batchedPerKey } from '../shared/batched.ts';
import type { LockLine, LockTurns } from './lock-turns.port.ts';

/** What an update may carry, and its handler should wait for. */
const TICKETS_PER_TURN = 200;

export interface LockQuestions {
  /** Takes these tickets into the line, in this order. */
  takeIn: (line: LockLine, ticketIds: string[]) => Promise<void>;
  look: (line: LockLine) => void;
}

/** Tickets of one environment that are asked for while a turn is under way share the next: an engine takes few at a time. */
export function createLockTurns({ takeIn, look }: LockQuestions): LockTurns {
  const take = batchedPerKey(
    ({ tenantId, environmentId }: LockLine) => `${tenantId}/${environmentId}`,
    async (line, ticketIds: string[]) => {
      await takeIn(line, ticketIds);
      return ticketIds.map(() => undefined);
    },
    { maxBatch: TICKETS_PER_TURN },
  );
  return { take, look };
}
