import { z } from 'zod';
import { TIMELINE_TYPES } from '../../../domain/delivery/timelines/timeline-rules.ts';
import { queryInt, Timestamp } from '../../http/parameters.ts';
import { TimelineCursor } from '../../http/place-cursor.ts';

export const TimelineQuery = z.strictObject({ limit: queryInt(1, 100, 50), cursor: TimelineCursor.optional() });

const Item = z
  .object({
    at: Timestamp,
    type: z.enum(TIMELINE_TYPES).meta({
      description:
        '`approval`: a step of one, `status` says which (`voted`: it needs more votes); `superseded`: finalized along with a newer candidate; `overridden`: an owner let a run pass the promotion policy; `held`: somebody, or the failed verification of an environment, holds it back; `hold_lifted`: `status` says how that ended (`lifted`, `expired`, `verified`, or `final`: the candidate went out of use; a hold that other content or a newer hold replaced has none)',
    }),
    by: z.string().nullable().meta({ description: 'Who did it, or set off the run; null if it is not known' }),
    status: z.string().nullable().meta({
      description: 'How a deployment, an approval, a run, a lock or a hold ended, or what the candidate was afterwards',
    }),
    environmentId: z.uuid().nullable().meta({
      description:
        'Where a candidate is held: the environment whose verification failed; null: somebody holds it, from all, or the environment was removed',
    }),
    environmentName: z.string().nullable(),
    domain: z.string().nullable(),
    releaseName: z.string().nullable(),
    executionId: z.string().nullable(),
    approvalId: z.uuid().nullable(),
    ticketId: z.uuid().nullable().meta({ description: 'The ticket of a lock' }),
    taskType: z.string().nullable().meta({ description: 'The type of a run' }),
    detail: z.string().nullable().meta({ description: 'A reason, a comment, an error, or what changed' }),
    until: Timestamp.nullable().meta({ description: 'When a hold is over by itself; null: when it is lifted' }),
  })
  .meta({ id: 'TimelineItem' });

const items = z.array(Item).meta({ description: 'Newest first' });
const nextCursor = z.string().nullable();

export const CandidateTimeline = z.object({
  candidateId: z.uuid(),
  items,
  isComplete: z.boolean().meta({
    description:
      'False for a candidate from before changes were noted: of its earlier changes of content and status the last status alone is known',
  }),
  nextCursor,
});

export const EnvironmentTimeline = z.object({ environmentId: z.uuid(), items, nextCursor });
