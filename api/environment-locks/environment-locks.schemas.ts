import { z } from 'zod';
import { LEASE_MINUTES, LEASE_MINUTES_MAX } from '../../domain/environment-locks/lock-rules.ts';
import { FreeText, Name, Timestamp } from '../http/parameters.ts';

const LeaseMinutes = z
  .number()
  .min(0.01)
  .max(LEASE_MINUTES_MAX)
  .meta({ description: 'Minutes that the lock is held unless it is extended or given back', default: LEASE_MINUTES });

export const LockIn = z.strictObject({
  reason: FreeText.optional(),
  leaseMinutes: LeaseMinutes.optional(),
  executionId: Name.optional().meta({
    description:
      'What the lock is for, as the caller names it. One caller has one live ticket for each; without it, one in all',
  }),
});

export const LeaseIn = z.strictObject({
  leaseMinutes: LeaseMinutes.optional().meta({
    description: 'Minutes from now; absent: as long as the lease that there is',
  }),
});

export const LockTicket = z
  .object({
    ticketId: z.uuid(),
    state: z.enum(['asked', 'queued', 'held', 'released', 'expired', 'withdrawn']).meta({
      description: '`held` has the lock, `queued` waits for it; `released`, `expired` and `withdrawn` are final',
    }),
    position: z.int().nullable().meta({ description: '0: has the lock; 1: the next; null: not in the line' }),
    estimatedWaitSeconds: z.int().nullable().meta({
      description:
        'What is left of the present hold, and one for each ticket in between, if all last as long as the median of the past ones; null when there are none',
    }),
    leaseMinutes: z.number(),
    expiresAt: Timestamp.nullable().meta({ description: 'When the lease runs out and the lock goes to the next' }),
    heldBy: z.string().meta({ description: 'E-mail of the person, or name of the token or of the run' }),
    executionId: z.string().nullable(),
    reason: z.string().nullable(),
    createdAt: Timestamp,
    heldAt: Timestamp.nullable(),
    endedAt: Timestamp.nullable(),
  })
  .meta({ id: 'LockTicket' });

export const LockLine = z.object({
  environmentId: z.uuid(),
  isLocked: z.boolean(),
  tickets: z.array(LockTicket).meta({ description: 'The one that has the lock first, then those that wait, in order' }),
  total: z.int(),
});
