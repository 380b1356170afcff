import { z } from 'zod';
import { COUNTED_MAX } from '../../../domain/delivery/flows/run-list.queries.ts';
import { DISPLAY_STATUSES, RUN_STATUSES } from '../../../domain/delivery/flows/run-status-rules.ts';
import { momentOf } from '../../../domain/kernel/text/date-time-rules.ts';
import { WORK_ITEM_TYPES } from '../../../domain/delivery/flows/work-item-ref.schemas.ts';
import { FLOW_CATEGORIES } from '../../../domain/delivery/flows/flow-categories.ts';
import { PolicyViolations } from '../../projects/environments/policy-violations.schemas.ts';
import {
  Day,
  FreeText,
  JsonObject,
  Name,
  queryFlag,
  queryInt,
  RepositoryIdentifier,
  Timestamp,
} from '../../http/parameters.ts';
import { EXECUTORS, warnings } from './flow-starts.schemas.ts';
import { RunState, RunStep } from './run-steps.schemas.ts';

const WorkItemRef = z.object({
  type: z.string(),
  key: z.string(),
  url: z.string().nullish(),
  repository: z.string().nullish(),
  organization: z.string().nullish(),
  project: z.string().nullish(),
});

export const Run = z
  .object({
    id: z.uuid(),
    projectIdentifier: z.string().nullable(),
    flowPath: z.string(),
    status: z.enum(DISPLAY_STATUSES),
    rawStatus: z.enum(RUN_STATUSES as [string, ...string[]]),
    success: z
      .object({ isSuccess: z.boolean(), error: z.string().nullable() })
      .nullable()
      .meta({ description: 'Null until the run has ended' }),
    createdAt: Timestamp,
    startedAt: Timestamp.nullable(),
    endedAt: Timestamp.nullable(),
    durationMs: z
      .int()
      .nullable()
      .meta({ description: 'Execution time in milliseconds, so far if still running; null before the start' }),
    triggeredBy: z.string().meta({ description: 'E-mail, `app:<token name>`, `cron` or `api`' }),
    taskType: z.string(),
    category: z.string(),
    executionMode: z.enum(['flow', 'cicd']),
    cicdRunUrl: z.string().nullable(),
    workItemRef: WorkItemRef.nullable(),
    rerunOfExecutionId: z.uuid().nullable(),
    rerunType: z.string().nullable(),
    parentExecutionId: z.uuid().nullable(),
    environmentName: z.string().nullable(),
    domain: z.string().nullable(),
    releaseName: z.string().nullable(),
    nextWindowAt: Timestamp.nullable().meta({
      description: 'When a run that waits for a window can go on, as far as that is known',
    }),
    waitsFor: z.string().nullable().meta({
      description:
        'Why a run waits in `waiting_window` (the window, the freeze, or what must be deployed before), in `waiting_org_calls`, or in `running` (the run that changes its org)',
    }),
    override: z
      .object({ reason: z.string(), by: z.string(), at: Timestamp })
      .nullable()
      .meta({ description: 'By which the run passes the promotion policy of its environment' }),
  })
  .meta({ id: 'FlowRun' });

export const RunDetail = Run.extend({
  ...warnings,
  payload: JsonObject,
  result: JsonObject,
  progress: z
    .object({
      step: z.string().meta({ description: 'What it is at' }),
      percent: z.number().optional(),
      counts: z.record(z.string(), z.number()).optional(),
    })
    .nullable()
    .meta({
      description: 'How far it is, as far as its org says it; null for what the service does not follow in an org',
    }),
  outputTail: z.string().nullable().meta({
    description: 'The last of the output, up to 64 KiB; while the run goes on, what there is by now',
  }),
  outputBytes: z
    .int()
    .nullable()
    .meta({ description: 'How much it has printed; null: nothing is known to be printed' }),
  cancelRequestedAt: Timestamp.nullable(),
  schedulePath: z.string().nullable(),
  children: z.array(
    z.object({ id: z.uuid(), taskType: z.string(), domain: z.string().nullable(), status: z.enum(DISPLAY_STATUSES) }),
  ),
  policyViolations: PolicyViolations.meta({
    description:
      'What the deployments that were reported with this run as their `executionId` broke of the policies of their environments, oldest first; a run of this service that passed their gates breaks none',
  }),
  states: z.array(RunState).meta({
    description:
      'The gates and other states in which the run was, in order, the last one that of now; at most the newest 200. Of a run from before they were kept only the present one is known',
  }),
  steps: z.array(RunStep).meta({
    description:
      'What the service does in the org for the run, in order; empty for what a program or a pipeline executes, or what takes one call',
  }),
  locks: z.array(z.object({ lockKey: z.string(), ticketId: z.string().nullable(), runId: z.string().nullable() })),
  temporalUrl: z
    .url()
    .optional()
    .meta({ description: 'Address of the run in the Temporal UI, if `TEMPORAL_UI_URL` is configured' }),
}).meta({ id: 'FlowRunDetail' });

const names = z
  .string()
  .max(4_000)
  .transform((text) =>
    text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  )
  .refine((list) => list.length > 0 && list.length <= 100, 'must be 1 to 100 values, separated by commas')
  .optional();

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
/** A point in time, or a duration before now. */
const Since = z.string().transform((text, context) => {
  const [, count, unit] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined) return { msBefore: Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS] };
  const moment = momentOf(text);
  if (moment !== undefined) return new Date(moment);
  context.addIssue('must be an ISO 8601 timestamp or a duration such as 30m, 24h, 7d, 2w');
  return z.NEVER;
});

const Categories = names.pipe(
  z.array(z.enum(FLOW_CATEGORIES, `must consist of ${FLOW_CATEGORIES.join(', ')}`)).optional(),
);

export const RunsQuery = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier.optional(),
  limit: queryInt(1, 100, 50),
  page: queryInt(1, 1_000_000, 1),
  executionMode: z.enum(['flow', 'cicd']).optional(),
  category: Categories.meta({ type: 'string', description: 'One or more, separated by commas' }),
  taskType: names.meta({ type: 'string', description: 'One or more, separated by commas' }),
  status: names.meta({ type: 'string', description: 'Displayed or raw statuses, separated by commas' }),
  flowPath: FreeText.min(1).optional().meta({ description: 'Part of the path, case-insensitive' }),
  workItemKey: names.meta({ type: 'string', description: 'One or more, separated by commas' }),
  workItemType: z.enum(WORK_ITEM_TYPES).optional(),
  since: Since.optional().meta({
    type: 'string',
    description:
      'ISO 8601 timestamp or day (UTC where it names no offset), or a duration before now: `30m`, `24h`, `7d`, `2w`',
  }),
  date: Day.optional().meta({ type: 'string', format: 'date', description: 'A single day in UTC' }),
  triggeredBy: names.meta({
    type: 'string',
    description: 'E-mails, `app:<token name>`, `cron`, `api`, separated by commas',
  }),
  environment: Name.optional().meta({ description: 'Name of the environment' }),
  domain: Name.optional(),
  release: Name.optional().meta({ description: 'Name of the release' }),
  parent: z.uuid().optional().meta({ description: 'Id of the run whose children are listed' }),
  includeScheduled: queryFlag(false),
  includeInternal: queryFlag(false),
  counts: queryFlag(false).meta({ description: 'Add `counts`' }),
});

export const Runs = z
  .object({
    runs: z.array(Run),
    count: z.int().meta({ description: 'Runs on this page' }),
    totalCount: z.int().meta({ description: 'Runs after filtering' }),
    totalCountIsExact: z.boolean().meta({
      description: `False if a filter by time, trigger or work item key matches more than ${COUNTED_MAX} runs; \`totalCount\` is then that number`,
    }),
    counts: z
      .partialRecord(z.enum(DISPLAY_STATUSES), z.int())
      .optional()
      .meta({
        description: `With \`counts=true\`: runs after filtering by all but \`status\`, by status; those without are left out. Where \`totalCountIsExact\` could be false, of the first ${COUNTED_MAX} runs`,
      }),
    page: z.int(),
  })
  .meta({ id: 'FlowRuns' });

export const FlowTypeOut = z
  .object({
    id: z.string(),
    summary: z.string(),
    category: z.enum(FLOW_CATEGORIES),
    executor: z.enum(EXECUTORS).nullable(),
    gates: z.object({ approval: z.boolean(), lock: z.boolean() }),
    isInternal: z.boolean(),
    available: z.boolean(),
    reason: z.string().nullable().meta({ description: 'Why the flow type is not available' }),
    executors: z
      .array(
        z.object({
          executor: z.enum(['service', 'command', 'pipeline']),
          available: z.boolean(),
          reason: z.string().nullable(),
        }),
      )
      .meta({
        description: 'What a payload may ask for as its `executor`, and why not; a `pipeline` must be named there, too',
      }),
    payloadSchema: JsonObject.meta({ description: 'JSON Schema of the payload' }),
  })
  .meta({ id: 'FlowType' });

export const FlowHealth = z
  .object({
    status: z.enum(['ok', 'degraded']),
    waiting: z.int(),
    running: z.int(),
    notLaunched: z.int().meta({
      description:
        'Runs accepted more than 30 s ago that have not started, because the workflow engine or its workers are unavailable',
    }),
    oldestNotLaunchedAt: Timestamp.nullable(),
    types: z.object({ available: z.int(), unavailable: z.int() }),
  })
  .meta({ id: 'FlowHealth' });
