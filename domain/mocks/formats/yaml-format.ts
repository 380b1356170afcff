import { stringify } from 'yaml';
import { z } from 'zod';
import { MockStatus, ResponseHeaders } from '../scenarios/mock-steps.schemas.ts';
import { MOCK_MODES, type Step, STEPS_MAX } from '../scenarios/step-rules.ts';
import { UpstreamIn, UpstreamsIn } from '../serving/scenario-upstreams.ts';
import { readYaml } from './bounded-yaml.ts';
import {
  checked,
  collectSteps,
  FormatError,
  type Imported,
  type ImportedScenario,
  type StepDraft,
} from './imported.ts';

/** Counts changes of the form that older importers would not understand. */
const FORM = 'quayside-mock/1';

const Scenario = z.strictObject({
  format: z.literal(FORM, { error: `must be ${FORM}` }),
  description: z.string().max(2_000).optional(),
  mode: z.enum(MOCK_MODES).default('perEndpoint'),
  seed: z.int().min(0).max(2_147_483_647).optional(),
  upstream: UpstreamIn.optional(),
  upstreams: UpstreamsIn.optional(),
  unmatched: z
    .union([
      z.enum(['not_found', 'pass_through']),
      z.strictObject({ status: MockStatus, headers: ResponseHeaders.optional(), body: z.unknown().optional() }),
    ])
    .optional(),
  steps: z.array(z.unknown()).max(STEPS_MAX, `must be at most ${STEPS_MAX}`).default([]),
});

/**
 * Reads a scenario as `yamlOf` writes it, or as people do. It is taken as a whole or not at all.
 * Throws `FormatError` with the place that is at fault.
 */
export function importYaml(content: string): Imported {
  const { format: _format, steps: given, ...scenario } = checked(Scenario, readYaml(content), 'The scenario');
  const collected = collectSteps();
  for (const [index, step] of given.entries()) collected.add(step as StepDraft, ['steps', index]);
  const imported = collected.imported(scenario);
  const [problem] = imported.notTaken;
  if (problem) throw new FormatError(`${problem.pointer}: ${problem.reason}`);
  return imported;
}

/** Without folding and aliases: a text is written in one way only. */
const FORMAT = {
  version: '1.2',
  schema: 'core',
  lineWidth: 0,
  aliasDuplicateObjects: false,
  indentSeq: false,
} as const;

/** The beginning of an export: what is said of the scenario. Its name is not: it is that of the address. */
export function yamlHead({ description, mode, seed, upstream, upstreams = [], unmatched }: ImportedScenario): string {
  return stringify(
    withoutAbsent({
      format: FORM,
      description: description === '' ? undefined : description,
      mode,
      seed,
      upstream,
      upstreams: upstreams.length === 0 ? undefined : upstreams.map(({ prefix, ...rest }) => ({ prefix, ...rest })),
      unmatched:
        typeof unmatched === 'object' ? withoutAbsent({ ...unmatched, headers: sorted(unmatched.headers) }) : unmatched,
    }),
    FORMAT,
  );
}

/** The steps of an export, in parts, so that a long one need not be in memory; they follow `yamlHead`. */
export function* yamlSteps(steps: Iterable<Step>): Generator<string> {
  let isFirst = true;
  for (const step of steps) {
    yield `${isFirst ? 'steps:\n' : ''}${stringify([writtenStep(step)], FORMAT)}`;
    isFirst = false;
  }
  if (isFirst) yield 'steps: []\n';
}

function writtenStep({ seq, request, response, times }: Step): unknown {
  const { method, path, query, headers, body, exact, checks, requires, captures } = request;
  return {
    seq,
    request: withoutAbsent({
      method,
      path,
      query: sorted(query),
      headers: sorted(headers),
      body,
      exact: exact?.toSorted(),
      checks: checks?.map((check) => sorted({ ...check })),
      requires: sorted(requires),
      captures: sorted(captures),
    }),
    response: withoutAbsent({
      status: response.status,
      headers: sorted(response.headers),
      body: response.body,
      bodyBase64: response.bodyBase64,
      delayMs:
        typeof response.delayMs === 'object'
          ? { min: response.delayMs.min, max: response.delayMs.max }
          : response.delayMs,
      throttle: response.throttle,
      fault: response.fault && withoutAbsent({ kind: response.fault.kind, probability: response.fault.probability }),
      sets: sorted(response.sets),
      template: response.template,
      echo: sorted(response.echo),
      validates: response.validates && withoutAbsent(sorted({ ...response.validates }) ?? {}),
    }),
    times,
  };
}

const withoutAbsent = (value: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));

/** Members in the order of their names: storing does not keep another one. */
const sorted = <T>(map: Record<string, T> | undefined): Record<string, T> | undefined =>
  map && Object.fromEntries(Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1)));
