import { z } from 'zod';
import { LEASE_MINUTES, LEASE_MINUTES_MAX } from '../../../domain/delivery/environment-locks/lock-rules.ts';
import { FreeText, Name, Timestamp } from '../../http/parameters.ts';

const LeaseMinutes = z.number().min(0.01).max(LEASE_MINUTES_MAX).meta({
  description: 'Minutes after which the lock expires unless it is extended or released',
  default: LEASE_MINUTES,
});

export const LockIn = z.strictObject({
  reason: FreeText.optional(),
  leaseMinutes: LeaseMinutes.optional(),
  executionId: Name.optional().meta({
    description:
      'Identifies what the lock is for, chosen by the caller. A caller has one open ticket per `executionId`, and one without',
  }),
});

export const LeaseIn = z.strictObject({
  leaseMinutes: LeaseMinutes.optional().meta({
    description: 'Minutes from now; default: the length of the current lease',
  }),
});

export const LockTicket = z
  .object({
    ticketId: z.uuid(),
    state: z.enum(['asked', 'queued', 'held', 'released', 'expired', 'withdrawn']).meta({
      description: '`held`: has the lock; `queued`: waits for it; `released`, `expired` and `withdrawn` are final',
    }),
    position: z
      .int()
      .nullable()
      .meta({ description: '0: holds the lock; 1: next in the queue; null: not in the queue' }),
    estimatedWaitSeconds: z.int().nullable().meta({
      description:
        'Estimated from the median duration of past locks: the rest of the current lock plus one duration for each ticket ahead; null without past locks',
    }),
    leaseMinutes: z.number(),
    expiresAt: Timestamp.nullable().meta({
      description: 'When the lease expires and the lock passes to the next ticket',
    }),
    heldBy: z.string().meta({ description: 'E-mail of a person, or name of an application token or a run' }),
    executionId: z.string().nullable(),
    reason: z.string().nullable(),
    createdAt: Timestamp,
    heldAt: Timestamp.nullable(),
    endedAt: Timestamp.nullable(),
  })
  .meta({ id: 'LockTicket' });

export const LockQueue = z.object({
  environmentId: z.uuid(),
  isLocked: z.boolean(),
  tickets: z.array(LockTicket).meta({ description: 'The ticket that holds the lock, then the queue in order' }),
  total: z.int(),
});
