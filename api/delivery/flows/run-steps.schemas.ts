import { z } from 'zod';
import { STEP_STATES } from '../../../domain/delivery/org-steps/org-step-rules.ts';
import { RUN_STATUSES } from '../../../domain/delivery/flows/run-status-rules.ts';
import { Timestamp } from '../../http/parameters.ts';

export const RunStep = z
  .object({
    name: z.string(),
    state: z.enum(STEP_STATES).meta({
      description:
        '`asked`: the org may have been asked, and its answer is not known. `unknown`: nobody can tell whether it was done. `skipped`: there was nothing to do',
    }),
    since: Timestamp.nullable().meta({ description: 'When the org was asked for it; null: not yet' }),
    until: Timestamp.nullable().meta({ description: 'When it ended; null: it has not' }),
    detail: z.string().nullable(),
    progress: z
      .object({ percent: z.number().optional(), counts: z.record(z.string(), z.number()).optional() })
      .nullable()
      .meta({ description: 'As far as the org says it' }),
    error: z.string().nullable(),
    externalId: z.string().nullable().meta({ description: 'Its id in the org' }),
  })
  .meta({ id: 'FlowRunStep' });

export const RunState = z
  .object({
    state: z.enum(RUN_STATUSES as [string, ...string[]]),
    since: Timestamp.nullable().meta({
      description: 'Null: it is not known, as the run came to that state before moves of runs were kept',
    }),
    until: Timestamp.nullable().meta({ description: 'Null for the state that it has now' }),
    detail: z.string().nullable().meta({ description: 'What it waited for' }),
    approvalId: z.uuid().optional().meta({ description: 'The approval that it waited for' }),
    ticketId: z.uuid().optional().meta({
      description:
        'The ticket for the lock that it waited for; the last of several, none where it is not known any more',
    }),
  })
  .meta({ id: 'FlowRunState' });
