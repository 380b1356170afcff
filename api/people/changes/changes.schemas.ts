import { z } from 'zod';
import { FRAME_MAX } from './change-stream.ts';
import { TOPICS } from '../../../domain/kernel/changes/topic-rules.ts';
import { queryList, RepositoryIdentifier } from '../../http/parameters.ts';

const Topics = z.enum(TOPICS);

export const ChangesQuery = z.strictObject({
  topics: queryList(Topics, TOPICS.length).meta({
    description: 'What to be told of; absent: everything that the caller may read',
    items: { type: 'string', enum: [...TOPICS] },
  }),
  repositoryIdentifier: RepositoryIdentifier.optional().meta({
    description: 'Leaves out what belongs to other repositories, or to none',
  }),
});

export const ChangesHeaders = z.object({
  'last-event-id': z
    .string()
    .max(100)
    .optional()
    .meta({ description: 'Where an earlier stream ended; browsers send it' }),
});

/** `data` of an event `changes`. */
export const ChangesFrame = z
  .array(
    z.object({
      topic: Topics,
      id: z.string().nullable().meta({ description: 'Null: something of this topic' }),
      repositoryIdentifier: z.string().nullable(),
    }),
  )
  .max(FRAME_MAX);
