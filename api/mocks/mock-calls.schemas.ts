import { z } from 'zod';
import { UNJUDGED } from '../../domain/mocks/serving/judged-text.ts';
import { MOCK_MODES } from '../../domain/mocks/scenarios/step-rules.ts';
import { DRIFT_STATUSES, MOCK_OUTCOMES } from '../../domain/mocks/mocks.entities.ts';
import { StepRequestIn } from '../../domain/mocks/scenarios/mock-steps.schemas.ts';
import { SCENARIO_STATUSES } from '../../domain/mocks/scenarios/scenario-rules.ts';
import { JsonObject, queryInt, Timestamp } from '../http/parameters.ts';

/** Calls that are kept, and so the most that are shown. */
export const CALLS_MAX = 10_000;
export const WAIT_MAX_MS = 30_000;

const Run = z.string().max(100);

export const CallsQuery = z.strictObject({
  run: Run.optional().meta({ description: 'As `X-Mock-Run` names it; empty: calls without it' }),
  outcome: z.enum(MOCK_OUTCOMES).optional(),
  limit: queryInt(1, CALLS_MAX, 50),
  offset: queryInt(0, CALLS_MAX, 0),
});

const MockCall = z
  .object({
    number: z.string().meta({ description: 'Counts up' }),
    calledAt: Timestamp,
    run: z.string(),
    outcome: z.enum(MOCK_OUTCOMES),
    seq: z.int().nullable().meta({ description: 'The step that answered, or that was recorded' }),
    method: z.string(),
    path: z.string(),
    status: z.int().nullable(),
    fault: z.string().nullable().meta({ description: 'The kind of the fault that the answer met' }),
    request: z
      .object({ query: JsonObject, headers: JsonObject, body: z.unknown().optional(), bodyBytes: z.int() })
      .meta({ description: 'Credentials are left out, long bodies are not kept' }),
  })
  .meta({ id: 'MockCall' });

export const CallList = z.object({ items: z.array(MockCall), total: z.int(), limit: z.int(), offset: z.int() });

const count = z.int().min(0).max(CALLS_MAX);

export const VerifyIn = z.strictObject({
  expect: z
    .array(
      z.strictObject({
        match: StepRequestIn.meta({
          description:
            'As the `request` of a step, without checks of `url` and `cookies`, which are not kept of calls; `path` without percent-encoding. Credentials, values of 1,000 characters and bodies of more than 8 KB are not kept, nor is how JSON and forms were written: what tests them is unknown',
        }),
        times: z
          .union([count, z.strictObject({ atLeast: count.optional(), atMost: count.optional() })])
          .optional()
          .meta({ description: 'Exactly so often, or within bounds. Default: once or more' }),
      }),
    )
    .min(1)
    .max(100),
  inOrder: z
    .boolean()
    .default(false)
    .meta({ description: 'Calls that meet an expectation come behind those that met the ones before' }),
  waitMs: z.int().min(0).max(WAIT_MAX_MS).default(0).meta({ description: 'How long calls may still come' }),
  run: Run.optional().meta({ description: 'As `X-Mock-Run` names it. Absent: calls of all runs' }),
});

export const VerifyOut = z
  .object({
    passed: z.boolean(),
    calls: z.int().meta({ description: 'Since the last rewind' }),
    failures: z.array(
      z.object({
        expectation: z.int().meta({ description: 'Its place in `expect`, from 0' }),
        reason: z.enum(['count', 'order', 'unknown']).meta({
          description: '`unknown`: it depends on calls of which what is tested was not kept, or is too large',
        }),
        found: z.int().meta({ description: 'How many calls matched' }),
        unknown: z.int().meta({ description: 'Calls of which it is not known whether they match' }),
        atLeast: z.int(),
        atMost: z.int().nullable(),
        nearest: z.array(
          z.object({
            number: z.string(),
            method: z.string(),
            path: z.string(),
            criteria: z.array(
              z.object({
                criterion: z.string(),
                matches: z.boolean(),
                unknown: z
                  .enum(UNJUDGED)
                  .optional()
                  .meta({ description: 'Why it is not known whether it matches. Absent: it is' }),
                wanted: z.unknown(),
                found: z.unknown(),
              }),
            ),
          }),
        ),
      }),
    ),
  })
  .meta({ id: 'MockVerification' });

export const MockDrift = z
  .object({
    id: z.uuid(),
    status: z.enum(DRIFT_STATUSES),
    requestedBy: z.string(),
    checked: z.int().meta({ description: 'Steps that the upstream was asked for' }),
    skipped: z.int().meta({
      description:
        'Steps of other methods than GET, of variable paths, those that ask for more than an address, and those that ask the same as a later one',
    }),
    findings: z.array(
      z.object({
        seq: z.int(),
        method: z.string(),
        path: z.string(),
        changes: z
          .array(JsonObject)
          .meta({ description: 'Changes of status and content type, and of values in JSON by their paths' }),
        error: z.string().nullable().meta({ description: 'Why there was no answer' }),
      }),
    ),
    error: z.string().nullable(),
    createdAt: Timestamp,
    endedAt: Timestamp.nullable(),
  })
  .meta({ id: 'MockDrift' });

const StepUse = z.object({
  seq: z.int(),
  method: z.string(),
  path: z.string(),
  status: z.int(),
  times: z.int().nullable(),
  hits: z.int(),
});

export const MockReport = z
  .object({
    name: z.string(),
    workspace: z.string(),
    status: z.enum(SCENARIO_STATUSES),
    mode: z.enum(MOCK_MODES),
    calls: z
      .object({ matched: z.int(), unmatched: z.int(), passedOn: z.int(), recorded: z.int() })
      .meta({ description: 'Kept calls since the last rewind' }),
    faults: z.record(z.string(), z.int()).meta({ description: 'How many answers met a fault, by its kind' }),
    steps: z.object({ total: z.int(), used: z.int(), unused: z.array(StepUse) }),
    unmatched: z
      .array(z.object({ method: z.string(), path: z.string(), count: z.int(), lastAt: Timestamp }))
      .meta({ description: 'Requests without a step, the most frequent first' }),
    runs: z.array(
      z.object({
        name: z.string(),
        cursor: z.int(),
        variables: JsonObject,
        matched: z.int(),
        unmatched: z.int(),
        usedAt: Timestamp,
      }),
    ),
    drift: MockDrift.nullable().meta({ description: 'The latest comparison with the upstream' }),
  })
  .meta({ id: 'MockReport' });
