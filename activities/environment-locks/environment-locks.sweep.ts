import { lockPlace } from '../../domain/environment-locks/environment-locks.queries.ts';
import { withdrawAsked } from '../../domain/environment-locks/lock-tickets.ts';
import { abandonedTickets, stalledLocks } from '../../domain/environment-locks/stalled-locks.queries.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import {
  environmentLockContract,
  reevaluateSignal,
} from '../../workflows/environment-locks/environment-lock.contract.ts';
import { defineSweep } from '../system/define-sweep.ts';

/** A ticket that nobody queued for so long was given up by the request that asked for it; a run asks again. */
const OVERDUE_SECONDS = 30;

/** Withdraws tickets that were asked for by requests which died. */
export const lockTicketsSweep = defineSweep({
  name: 'environment-lock-tickets',
  due: ({ system }, limit) => abandonedTickets(system, OVERDUE_SECONDS, limit),
  key: ({ ticketId }) => ticketId,
  async handle({ actingAs }, { tenantId, environmentId, ticketId }) {
    const unit = actingAs(systemActor(tenantId, 'environment-lock'));
    await unit(async (tx) => withdrawAsked(tx, await lockPlace(tx, environmentId), ticketId));
  },
});

/** Has locks go on whose signal was lost: Temporal was away, or a process died between two steps. */
export const environmentLocksSweep = defineSweep({
  name: 'environment-locks',
  limit: 100,
  due: ({ system }, limit) => stalledLocks(system, limit),
  key: ({ environmentId }) => environmentId,
  handle: ({ launch }, line) => launch.signalWithStart(environmentLockContract, line, reevaluateSignal),
});
