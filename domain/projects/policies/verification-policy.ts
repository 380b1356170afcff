import { z } from 'zod';
import { pathProblem } from '../../mocks/scenarios/path-template-rules.ts';
import { Name } from './pipeline.schemas.ts';
import { BROWSER_CHECK, checkRecording } from './browser-check.schemas.ts';
import { CHECKS_MAX, FAILURE_REACTIONS } from './verification-policy-rules.ts';

const Names = z.array(Name).min(1).max(200);

const timeoutMinutes = z.int().min(1).max(1_440).default(120).meta({
  description: 'How long its run may take, with what that waits for; later than that, the check has failed',
});

const ApexTests = z.strictObject({
  type: z.literal('apex-tests'),
  testLevel: Name.optional(),
  classNames: Names.optional(),
  suites: Names.optional().meta({ description: 'Names of test suites' }),
  minCoverage: z.number().min(0).max(100).optional(),
  timeoutMinutes,
});

const Command = z.strictObject({
  type: z.literal('command'),
  name: Name.meta({ description: 'What is to be checked: `check` of the payload of `verify-deployment`' }),
  timeoutMinutes,
});

const Metric = z.strictObject({
  type: z.literal('metric'),
  query: z.string().trim().min(1).max(4_000).meta({ description: 'MetricsQL, as `GET /api/metrics/query` takes it' }),
  min: z.number().optional().meta({ description: 'No value of any series is below it' }),
  max: z.number().optional().meta({ description: 'No value of any series is above it' }),
  minutes: z.int().min(1).max(1_440).meta({ description: 'For how long after the deployment' }),
});

const calls = z.int().min(0).max(10_000);

const Rehearsal = z.strictObject({
  type: z.literal('rehearsal'),
  workspace: Name.meta({ description: 'Workspace of the mock scenario' }),
  scenario: Name,
  method: z
    .string()
    .regex(/^[A-Z]{1,20}$/, 'must be a method in upper case')
    .optional()
    .meta({ description: 'Any when absent' }),
  path: z
    .string()
    .min(1)
    .max(2_000)
    .superRefine((path, { addIssue }) => {
      const problem = pathProblem(path);
      if (problem !== undefined) addIssue(problem);
    })
    .meta({ description: 'As the path of a step of the scenario' }),
  atLeast: calls.default(1),
  atMost: calls.optional(),
  minutes: z.int().min(1).max(1_440).meta({ description: 'For how long after the deployment the calls may come' }),
});

const BrowserCheck = z.strictObject({ type: z.literal('browser-check'), ...BROWSER_CHECK, timeoutMinutes });

const Check = z
  .discriminatedUnion('type', [ApexTests, Command, Metric, Rehearsal, BrowserCheck])
  .superRefine((check, { addIssue }) => {
    if (check.type === 'browser-check') checkRecording(check, addIssue);
    if (check.type === 'rehearsal' && check.atMost !== undefined && check.atLeast > check.atMost)
      addIssue({ code: 'custom', path: ['atLeast'], message: 'must not be more than `atMost`' });
    if (check.type !== 'metric') return;
    const { min, max } = check;
    if (min === undefined && max === undefined)
      addIssue({ code: 'custom', path: ['max'], message: 'a metric needs `min`, `max` or both' });
    if (min !== undefined && max !== undefined && min > max)
      addIssue({ code: 'custom', path: ['min'], message: 'must not be more than `max`' });
  });

/** The shape of how deployments to an environment are verified. */
export const VerificationPolicySchema = z.strictObject({
  checks: z.array(Check).min(1).max(CHECKS_MAX).meta({
    description:
      "All must pass. `apex-tests`: a run of `run-apex-tests`; `command`: a run of `verify-deployment`, by a program of the operator's list (`COMMANDS_FILE`); `metric`: every value since the deployment is within bounds, and there is one; `rehearsal`: so many calls of a mock scenario since the deployment; `browser-check`: a run of `run-browser-check`, which plays a recording of Chrome DevTools at the org of the environment",
  }),
  onFailure: z.enum(FAILURE_REACTIONS).default('notify').meta({
    description:
      '`rollback`: a run of `rollback-release` begins; `hold`: the release goes to no later environment until a verification of it succeeds here; `notify`: it is announced, as it always is',
  }),
});
