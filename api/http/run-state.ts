import { z } from 'zod';
import { DISPLAY_STATUSES, RUN_STATUSES } from '../../domain/delivery/flows/run-status-rules.ts';
import { WAIT_KINDS } from '../../domain/delivery/flows/run-wait-rules.ts';
import { Timestamp } from './parameters.ts';

/** Where a run is, in replies about what it was requested by. */
export const RunState = z
  .object({
    id: z.uuid(),
    taskType: z.string(),
    environmentName: z.string().nullable(),
    releaseName: z.string().nullable(),
    status: z.enum(DISPLAY_STATUSES),
    rawStatus: z.enum(RUN_STATUSES as [string, ...string[]]),
    waiting: z
      .object({
        for: z.enum(WAIT_KINDS),
        who: z.array(z.string()).meta({
          description:
            'E-mails and team slugs of those who may approve (empty: the owners of the tenant), or who holds the lock',
        }),
        reason: z.string().meta({ description: 'For people', example: 'Approval by lead@acme.example' }),
        until: Timestamp.nullable().meta({
          description:
            'When the approval expires, the window opens or the lease of the lock ends, as far as that is known; null for calls of an org, of which nobody knows',
        }),
      })
      .nullable()
      .meta({
        description:
          'For what and for whom the run waits, before its work begins or for calls of its org; null: for nothing',
      }),
  })
  .meta({ id: 'RunState' });
