import { z } from 'zod';
import {
  lockPlace,
  placedTicket,
  type PlacedTicket,
  readQueue,
} from '../../../domain/delivery/environment-locks/environment-locks.queries.ts';
import { hasLock, LEASE_MINUTES } from '../../../domain/delivery/environment-locks/lock-rules.ts';
import {
  extendLease,
  requestTicket,
  returnTicket,
  withdrawRequested,
} from '../../../domain/delivery/environment-locks/environment-locks.mutations.ts';
import type { Actor } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { EngineUnavailableError } from '../../../workflows/launch.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, Id, NoContent, queryInt } from '../../http/parameters.ts';
import { reply } from '../../http/replies.ts';
import { LeaseIn, LockIn, LockQueue, LockTicket } from './environment-locks.schemas.ts';

const GROUP = 'Environment locks';
const ofTicket = z.object({ id: Id, ticketId: Id });

const view = ({ holder, ...ticket }: PlacedTicket) => ({ ...ticket, heldBy: holder.email });

const holderKeyOf = ({ type, id }: Actor, executionId: string | undefined): string =>
  executionId === undefined ? `${type}:${id}` : `${type}:${id}/${executionId}`;

export const environmentLocksRoutes = [
  defineRoute({
    operationId: 'requestEnvironmentLock',
    method: 'post',
    path: '/api/environments/{id}/locks',
    group: GROUP,
    summary: 'Request the lock of an environment',
    description: [
      'Returns a ticket, which either holds the lock (`held`) or waits for it in order of request (`queued`); poll the ticket until it is held. The lock passes to the next ticket when its holder releases it or its lease expires.',
      'A repeated request by the same caller for the same `executionId` returns the same ticket with 200. If the workflow engine does not answer within 5 s, the reply is 503 and no ticket remains.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    body: LockIn,
    status: 201,
    otherStatuses: [200],
    response: LockTicket,
    audit: ['environment.lock_requested', 'environment.lock_withdrawn', 'environment.lock_expired'],
    async handle(
      { params: { id: environmentId }, body: { reason, leaseMinutes, executionId } },
      { tx, reads, adapters, actor, log },
    ) {
      const { place, ticket, isNew } = await tx((work) =>
        requestTicket(work, {
          environmentId,
          holderKey: holderKeyOf(actor, executionId),
          leaseMinutes: leaseMinutes ?? LEASE_MINUTES,
          reason: reason ?? null,
          executionId: executionId ?? null,
          runId: null,
        }),
      );
      if (ticket.state === 'asked') {
        try {
          await adapters.environmentLocks.enqueue(place, ticket.ticketId);
        } catch (error) {
          if (!(error instanceof EngineUnavailableError)) throw error;
          log.warn({ err: error, environmentId }, 'lock request failed');
          if (await tx((work) => withdrawRequested(work, environmentId, ticket.ticketId))) {
            throw new DomainError(
              'unavailable',
              'The workflow engine does not answer; the ticket has been withdrawn. Try again later',
            );
          }
        }
      }
      const placed = await placedTicket(reads, environmentId, ticket.ticketId);
      return reply(view(placed), { status: isNew ? 201 : 200 });
    },
  }),
  defineRoute({
    operationId: 'getEnvironmentLockQueue',
    method: 'get',
    path: '/api/environments/{id}/locks',
    group: GROUP,
    summary: 'Get the lock queue of an environment',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    query: z.strictObject({ limit: queryInt(1, 1_000, 100) }),
    status: 200,
    response: LockQueue,
    async handle({ params: { id: environmentId }, query: { limit } }, { reads }) {
      await lockPlace(reads, environmentId);
      const { tickets, total } = await readQueue(reads, environmentId, { limit });
      return {
        environmentId,
        isLocked: tickets.some(({ state }) => hasLock(state)),
        tickets: tickets.map(view),
        total,
      };
    },
  }),
  defineRoute({
    operationId: 'getEnvironmentLockTicket',
    method: 'get',
    path: '/api/environments/{id}/locks/{ticketId}',
    group: GROUP,
    summary: 'Get a lock ticket with its position in the queue',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: ofTicket,
    status: 200,
    response: LockTicket,
    handle: async ({ params: { id, ticketId } }, { reads }) => view(await placedTicket(reads, id, ticketId)),
  }),
  defineRoute({
    operationId: 'extendEnvironmentLock',
    method: 'post',
    path: '/api/environments/{id}/locks/{ticketId}/extend',
    group: GROUP,
    summary: 'Extend the lease of a lock',
    description: 'For the holder and owners. A ticket that does not hold the lock, or no longer does, gets 409.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: ofTicket,
    body: LeaseIn,
    status: 200,
    response: LockTicket,
    errors: ['invalid_transition'],
    audit: 'environment.lock_extended',
    async handle({ params: { id, ticketId }, body: { leaseMinutes } }, { tx, adapters }) {
      const { place, placed } = await tx(async (work) => ({
        place: await extendLease(work, id, ticketId, leaseMinutes),
        placed: await placedTicket(work, id, ticketId),
      }));
      adapters.environmentLocks.reevaluate(place);
      return view(placed);
    },
  }),
  defineRoute({
    operationId: 'releaseEnvironmentLock',
    method: 'delete',
    path: '/api/environments/{id}/locks/{ticketId}',
    group: GROUP,
    summary: 'Release a lock or leave its queue',
    description:
      'For the holder and owners. Works without the workflow engine: the lock passes to the next ticket as soon as the engine is available. A ticket that has ended is not changed.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: ofTicket,
    status: 204,
    response: NoContent,
    audit: ['environment.unlocked', 'environment.lock_withdrawn'],
    async handle({ params: { id, ticketId } }, { tx, adapters }) {
      const { place, hasChanged } = await tx((work) => returnTicket(work, id, ticketId));
      if (hasChanged) adapters.environmentLocks.reevaluate(place);
    },
  }),
];
