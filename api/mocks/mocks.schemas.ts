import { z } from 'zod';
import {
  ResponseHeaders,
  MockStatus,
  Seq,
  StepIn,
  StepRequestIn,
  StepResponseIn,
  Times,
} from '../../domain/mocks/scenarios/mock-steps.schemas.ts';
import { UpstreamIn, UpstreamsIn } from '../../domain/mocks/serving/scenario-upstreams.ts';
import { SCENARIO_STATUSES, ARM_MINUTES, ARM_MINUTES_MAX } from '../../domain/mocks/scenarios/scenario-rules.ts';
import { MOCK_MODES, NAME_MAX, SEQ_MAX, STEPS_MAX } from '../../domain/mocks/scenarios/step-rules.ts';
import { FreeText, JsonObject, queryFlag, queryInt, Timestamp, WITHOUT_CONTROLS } from '../http/parameters.ts';

/** Name of a scenario or a workspace; slashes are encoded in a path. */
export const MockName = z
  .string()
  .min(1)
  .max(NAME_MAX)
  .regex(WITHOUT_CONTROLS, 'must have no control characters')
  .refine((name) => name.trim() === name, 'must not begin or end with white space');

export const inWorkspace = z.object({ workspace: MockName });
export const byName = z.object({ workspace: MockName, name: MockName });
export const bySeq = z.object({
  workspace: MockName,
  name: MockName,
  seq: z
    .string()
    .regex(/^[1-9]\d{0,6}$/)
    .transform(Number)
    .refine((seq) => seq <= SEQ_MAX)
    .meta({ override: { type: 'integer', minimum: 1, maximum: SEQ_MAX } }),
});

const UnmatchedIn = z.union([
  z.enum(['not_found', 'pass_through']),
  z.strictObject({ status: MockStatus, headers: ResponseHeaders.optional(), body: z.unknown().optional() }),
]);

export const ScenarioIn = z.strictObject({
  name: MockName.meta({ example: 'release/2026.03' }),
  description: FreeText.default(''),
  mode: z.enum(MOCK_MODES).default('perEndpoint').meta({
    description:
      '`strict`: only the step at the cursor answers. `perEndpoint`: of the steps that match and are not used up the first. `any`: the most specific, then the first',
  }),
  upstream: UpstreamIn.nullable().optional().meta({
    description: 'The host that is recorded, or to which requests without a step are passed on',
    example: 'https://api.example.com',
  }),
  upstreams: UpstreamsIn.optional().meta({
    description:
      'Further hosts, each below a prefix of the path: a login that names the host of its instance leads there. Links to them in answers get the prefix',
  }),
  unmatched: UnmatchedIn.default('not_found').meta({
    description: 'What requests without a step get: 404, what the upstream answers, or a fixed response',
  }),
  seed: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .optional()
    .meta({ description: 'Draws delays and faults. Default: drawn' }),
  record: z.boolean().optional().meta({ description: 'Whether it begins to record. Default: where it has no `steps`' }),
  steps: z.array(StepIn).max(STEPS_MAX).optional(),
});

export const ScenariosQuery = z.strictObject({ limit: queryInt(1, 200, 50), offset: queryInt(0, 1_000_000, 0) });

export const StepPut = z.strictObject({
  request: StepRequestIn.optional().meta({ description: 'Absent: stays as it is; of a new step, any request' }),
  response: StepResponseIn,
  times: Times.optional(),
});

export const ArmIn = z
  .strictObject({
    minutes: z.int().min(1).max(ARM_MINUTES_MAX).default(ARM_MINUTES).meta({ description: 'Until it disarms itself' }),
  })
  .optional();
export const ArmQuery = z.strictObject({
  replace: queryFlag(false).meta({ description: 'Stops whatever else is active in the workspace' }),
});

export const MockStep = z
  .object({
    seq: Seq,
    request: JsonObject,
    response: JsonObject.meta({ description: 'As it was given' }),
    times: z.int().nullable(),
    hits: z.int().meta({ description: 'How often it has answered in the run without `X-Mock-Run`' }),
  })
  .meta({ id: 'MockStep' });

export const MockScenario = z
  .object({
    id: z.uuid(),
    name: z.string(),
    workspace: z.string(),
    description: z.string(),
    status: z.enum(SCENARIO_STATUSES),
    mode: z.enum(MOCK_MODES),
    cursor: z.int().meta({
      description:
        'Position of the run without `X-Mock-Run`: the step that `strict` has used up last, in other modes the one that answered last; 0 at the beginning',
    }),
    upstream: z.string().nullable(),
    upstreams: z.array(z.object({ prefix: z.string(), upstream: z.string() })),
    unmatched: z.union([z.string(), JsonObject]),
    seed: z.int(),
    baseUrl: z
      .string()
      .meta({ description: 'Where clients under test reach the workspace; the key in it is a secret' }),
    stepCount: z.int(),
    armedUntil: Timestamp.nullable(),
    calls: z
      .object({ matched: z.int(), unmatched: z.int() })
      .meta({ description: 'Since the last rewind, of all runs' }),
    createdBy: z.string(),
    updatedBy: z.string(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'MockScenario' });

export const MockScenarioWithSteps = MockScenario.extend({ steps: z.array(MockStep) }).meta({
  id: 'MockScenarioWithSteps',
});

export const MockScenarioList = z.object({
  items: z.array(MockScenario),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
});

export const MockWorkspace = z.object({ workspace: z.string(), baseUrl: z.string() }).meta({ id: 'MockWorkspace' });

export const MockWorkspaceList = z.object({
  items: z.array(
    MockWorkspace.extend({
      scenarios: z.int().meta({ description: 'How many it has' }),
      activeScenario: z
        .string()
        .nullable()
        .meta({ description: 'Name of the scenario that answers or records; null: none' }),
      createdAt: Timestamp,
    }).meta({ id: 'ListedMockWorkspace' }),
  ),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
});
