import { withdrawRequested } from '../../../domain/delivery/environment-locks/environment-locks.mutations.ts';
import { abandonedTickets, stalledLocks } from '../../../domain/delivery/environment-locks/stalled-locks.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import {
  environmentLockContract,
  reevaluateSignal,
} from '../../../workflows/delivery/environment-locks/environment-lock.contract.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';

/** A ticket that nobody queued for so long was abandoned by the request that made it; a run requests it again. */
const OVERDUE_SECONDS = 30;

/** Withdraws tickets whose requests died. */
export const lockTicketsSweep = defineSweep({
  name: 'environment-lock-tickets',
  due: ({ system }, limit) => abandonedTickets(system, OVERDUE_SECONDS, limit),
  key: ({ ticketId }) => ticketId,
  async handle({ actingAs }, { environmentId, ticketId, ...tenant }) {
    const unit = actingAs(systemActor(tenant, 'environment-lock'));
    await unit((tx) => withdrawRequested(tx, environmentId, ticketId));
  },
});

/** Reevaluates locks whose signal was lost: Temporal was away, or a process died between two steps. */
export const environmentLocksSweep = defineSweep({
  name: 'environment-locks',
  limit: 100,
  due: ({ system }, limit) => stalledLocks(system, limit),
  key: ({ environmentId }) => environmentId,
  handle: ({ launch }, key) => launch.signalWithStart(environmentLockContract, key, reevaluateSignal),
});
