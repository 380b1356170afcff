import { z } from 'zod';
import {
  CALLBACK_EVENTS,
  HISTORY_MAX,
  NOTED_EVENTS,
  REQUEST_STATUSES,
} from '../../../domain/work/work-item-requests/callback-rules.ts';
import { momentOf } from '../../../domain/kernel/text/date-time-rules.ts';
import { TRACKER_PLATFORMS } from '../../../domain/work/work-items/work-tracker.port.ts';
import {
  DateTime,
  FreeText,
  JsonObject,
  Name,
  queryInt,
  RepositoryIdentifier,
  Timestamp,
} from '../../http/parameters.ts';
import { RunState } from '../../http/run-state.ts';

const RESULT_MAX_BYTES = 65_536;

const Platform = z.enum(TRACKER_PLATFORMS);
const ReleaseCandidate = z
  .string()
  .max(511)
  .regex(/^[^:]+:.+$/, 'must be domain:name')
  .meta({ description: '`domain:name`', example: 'sales:2026.03' });

export const CallbackIn = z.strictObject({
  event: z.enum(CALLBACK_EVENTS),
  platform: Platform,
  workItemKey: Name.meta({ description: 'Key or number of the work item' }),
  projectIdentifier: RepositoryIdentifier,
  taskType: Name.optional(),
  requestId: z.uuid().optional().meta({ description: 'As in the payload of the work item' }),
  executionId: Name.optional().meta({
    description: 'Run, pipeline or job that executes the request; without it the newest one is meant',
  }),
  workItemUrl: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional(),
  releaseCandidate: ReleaseCandidate.optional(),
  message: FreeText.optional(),
  error: FreeText.optional(),
  result: JsonObject.refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= RESULT_MAX_BYTES,
    'must be at most 64 KiB',
  ).optional(),
  occurredAt: DateTime.optional().meta({
    description: 'When it occurred; the time at which the service receives it when absent',
  }),
});

const Statuses = z
  .string()
  .max(200)
  .transform((text) => [...new Set(text.split(',').map((word) => word.trim()))].filter((word) => word !== ''))
  .pipe(z.array(z.enum(REQUEST_STATUSES, `must consist of ${REQUEST_STATUSES.join(', ')}`)).min(1));

export const RequestsQuery = z.strictObject({
  projectIdentifier: RepositoryIdentifier.optional(),
  status: Statuses.optional().meta({ type: 'string', description: 'One or more, separated by commas' }),
  platform: Platform.optional(),
  taskType: Name.optional(),
  releaseCandidate: ReleaseCandidate.optional(),
  repositoryIdentifier: RepositoryIdentifier.optional(),
  createdBy: Name.optional().meta({ description: 'E-mail of a person, or `app:<token name>`' }),
  since: z
    .string()
    .transform((text, context) => {
      const moment = momentOf(text);
      if (moment !== undefined) return new Date(moment);
      context.addIssue('must be an ISO 8601 timestamp or day');
      return z.NEVER;
    })
    .optional()
    .meta({ type: 'string', format: 'date-time', description: 'Those made at this time or later' }),
  limit: queryInt(1, 200, 50),
  offset: queryInt(0, 999_999_999, 0),
});

const listed = {
  id: z.uuid(),
  platform: Platform,
  projectIdentifier: z.string(),
  repositoryIdentifier: z.string().meta({ description: "That of the payload, else the project's" }),
  workItemKey: z.string().nullable().meta({ description: 'Null until the tracker has confirmed the work item' }),
  workItemUrl: z.string().nullable(),
  title: z.string().nullable(),
  taskType: z.string().nullable(),
  releaseCandidate: z.string().nullable(),
  createdBy: z.string().meta({ description: 'E-mail, or `app:<token name>`' }),
  status: z.enum(REQUEST_STATUSES).meta({
    description: '`creating` until the tracker has confirmed the work item',
  }),
  executionId: z.string().nullable().meta({ description: 'The newest execution' }),
  execution: RunState.nullable().meta({
    description: 'The run that the newest execution is; null where it is none of this service, or there is none yet',
  }),
  startedAt: Timestamp.nullable(),
  completedAt: Timestamp.nullable(),
  message: z.string().nullable(),
  error: z.string().nullable(),
  result: JsonObject.nullable(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

export const ListedRequest = z.object(listed).meta({ id: 'ListedWorkItemRequest' });

export const Requests = z
  .object({ items: z.array(ListedRequest), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'WorkItemRequests' });

export const RequestOut = z
  .object({
    ...listed,
    history: z
      .array(
        z.object({
          event: z.enum(NOTED_EVENTS).meta({
            description: '`accepted`: a run of this service was accepted, which may wait before it begins',
          }),
          occurredAt: Timestamp.nullable(),
          receivedAt: Timestamp,
          executionId: z.string().nullable(),
          message: z.string().nullable(),
        }),
      )
      .meta({ description: `By time, the last ${HISTORY_MAX}` }),
  })
  .meta({ id: 'WorkItemRequest' });
