import { z } from 'zod';
import { METRIC_TYPES } from '../../../domain/insight/metrics/series-rules.ts';
import { AI_USAGE_DAYS_MAX } from '../../../domain/insight/metrics/ai-usage-rules.ts';
import { queryInt, RepositoryIdentifier } from '../../http/parameters.ts';

export const EVENTS_MAX = 5_000;

/** For the reference: events are checked one by one, so that one that is malformed spoils no other. */
const MetricEvent = z.object({
  metric: z.string().max(128).meta({ description: 'Name in dot notation', example: 'deploy.duration' }),
  type: z.enum([...METRIC_TYPES, 'gauge']).meta({
    description:
      '`count`: adds up within five minutes. `guage` (or `gauge`): the latest value of five minutes is kept. `timers`: likewise, and the series with `_count` and `_sum` add up',
  }),
  value: z.number().optional().meta({ description: 'Value of the event; 1 for a count, whatever is sent' }),
  timestamp: z.int().optional().meta({ description: 'Milliseconds since 1970; default: now' }),
  tags: z.record(z.string().max(64), z.string().max(256)).optional().meta({ description: 'At most 20' }),
});

const { $schema: _, ...shownEvent } = z.toJSONSchema(MetricEvent, { io: 'input' });

export const MetricEvents = z.strictObject({
  events: z
    .array(z.unknown())
    .min(1)
    .max(EVENTS_MAX)
    .meta({ override: ({ jsonSchema }) => Object.assign(jsonSchema, { items: shownEvent }) }),
});

export const IngestReply = z
  .object({
    accepted: z.int(),
    rejected: z.int(),
    message: z.string(),
    errors: z
      .array(z.object({ detail: z.string(), pointer: z.string() }))
      .meta({ description: 'The first 20 events that were rejected, and why' }),
  })
  .meta({ id: 'MetricIngestReply' });

/** More are refused before they are looked at; a caller who repeats what counts once is not. */
const REPEATED_MAX = 1_000;
const Text = z.union([z.string(), z.array(z.string()).max(REPEATED_MAX)]).optional();
const Time = Text.meta({ description: 'RFC 3339, or Unix seconds' });
const Selectors = {
  'match[]': Text.meta({ description: 'Series selectors; may be repeated' }),
  start: Time,
  end: Time,
};
const Timeout = Text.meta({ description: 'A duration such as `5s`; at most 30 s' });
const Query = Text.meta({ description: 'MetricsQL; dots in names become underscores', example: 'sum(deploy.count)' });

// Checked with Prometheus' texts instead of ours, and what else is given is left alone, as Prometheus does.
export const InstantQuery = z.looseObject({ query: Query, time: Time, timeout: Timeout });
export const RangeQuery = z.looseObject({
  query: Query,
  start: Time,
  end: Time,
  step: Text.meta({ description: 'A duration, or seconds' }),
  timeout: Timeout,
});
export const LabelQuery = z.looseObject(Selectors);
export const byLabel = z.object({ name: z.string() });

/** An answer of Prometheus' HTTP API. */
export const PrometheusAnswer = z
  .looseObject({
    status: z.literal('success'),
    data: z.unknown().meta({ description: "As in Prometheus' HTTP API" }),
  })
  .meta({ id: 'PrometheusAnswer' });

/** What Prometheus' HTTP API answers when it cannot answer a query. */
export const PrometheusError = z
  .strictObject({
    status: z.literal('error'),
    errorType: z.enum(['bad_data', 'not_found', 'execution', 'timeout', 'unavailable']).meta({
      description:
        '`bad_data` (400): the query cannot be read; `not_found` (404); `execution` (422): it cannot be executed, or its answer is too large; `timeout` and `unavailable` (503): it took too long, or the store is away',
    }),
    error: z.string(),
  })
  .meta({
    id: 'PrometheusError',
    example: { status: 'error', errorType: 'bad_data', error: 'invalid parameter "query": it is empty' },
  });

export const ResultAnswer = PrometheusAnswer.extend({
  result: z.unknown().meta({ description: '`data.result`; of label values `data`' }),
}).meta({ id: 'MetricResult' });

export const AiUsageQuery = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  windowDays: queryInt(1, AI_USAGE_DAYS_MAX, 30),
});

export const AiUsageReply = z
  .object({
    repositoryIdentifier: z.string(),
    windowDays: z.int(),
    sessions: z.number(),
    prompts: z.number(),
    promptsFailed: z.number(),
    tokens: z.object({
      input: z.number(),
      output: z.number(),
      reasoning: z.number(),
      cacheRead: z.number(),
      cacheWrite: z.number(),
    }),
    turns: z.number(),
    durationMs: z.number(),
    cost: z.number().nullable().meta({ description: 'In USD; null when nothing had a price' }),
  })
  .meta({ id: 'AiUsage' });
