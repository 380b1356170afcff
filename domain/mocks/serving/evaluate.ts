import { FilterError } from '../../events/webhooks/filter-rules.ts';
import {
  type PatternWork,
  PatternWorkError,
  patternWork,
  withPatternWork,
} from '../../events/webhooks/pattern-work.ts';
import type { Turns } from '../../kernel/shared/turns.ts';
import type { CompiledStep } from '../scenarios/compile-step.ts';
import type { RequestFault } from '../validate-request.ts';
import type { MockRequest } from './mock-request.ts';
import { nearestSteps, type NearMiss } from './nearest-steps.ts';
import { type CompiledSteps, type RunPlace, stepFor } from './replay.ts';
import { type KeptBody, type StepUse, useOf } from './step-use.ts';

/** What evaluating a request needs of a scenario. */
export interface EvaluatedScenario {
  steps: CompiledSteps;
  /** Bodies of responses, by the numbers of their steps. */
  bodies: ReadonlyMap<number, KeptBody>;
}

export interface Asked {
  request: MockRequest;
  run: RunPlace;
  /** Whether the steps are wanted that would have answered most nearly. */
  wantsNearest: boolean;
  /** ISO 8601; what templates insert. */
  now: string;
  uuid: string;
}

/** What a scenario says to a request: all of an answer that depends on what users write, and may take long. */
export type Verdict =
  | { kind: 'step'; seq: number; use: StepUse }
  /** The step is for other requests than this one. */
  | { kind: 'refused'; seq: number; fault: RequestFault }
  /** The schemas of the step cannot be used. */
  | { kind: 'unusable'; seq: number; reason: string }
  /** `nearest` is undefined where they take too much work to tell. */
  | { kind: 'unmatched'; nearest: NearMiss[] | undefined }
  | { kind: 'cut'; reason: string };

export interface Means {
  /** Begins the budget of one part of an evaluation. @param part compiling schemas happens once for a step. */
  begin: (part?: 'schemas') => <T>(evaluate: () => T) => T;
  turns: Turns;
}

/** The most work of all patterns and tests for one request, and as much for its nearest steps: some 110 ms of a core each. */
const REQUEST_WORK_MAX = 5_000_000;
/** The most work of one step, as reading the largest body and compiling the largest schemas take: some 45 ms of a core. */
const STEP_WORK_MAX = 2_000_000;

/** The whole budget of each part of an evaluation. @param all counts what is used of it. */
export const wholeBudget = (all: PatternWork) => () => {
  const work = patternWork(REQUEST_WORK_MAX);
  return <T>(one: () => T): T => all(() => work(() => withPatternWork(STEP_WORK_MAX, one)));
};

/** Evaluates a request. The same one is cut or not, whoever has compiled the schemas, and wherever that is. */
export async function evaluate({ steps, bodies }: EvaluatedScenario, asked: Asked, means: Means): Promise<Verdict> {
  try {
    const { request, run } = asked;
    const step = await stepFor(steps, run, request, { work: means.begin(), turns: means.turns });
    if (!step) return { kind: 'unmatched', nearest: asked.wantsNearest ? await nearest(steps, asked, means) : [] };
    const { seq } = step;
    const fault = faultOf(step, request, means);
    if (fault) return { kind: 'refused', seq, fault };
    const use = means.begin()(() => useOf(step, run.variables, request, { ...asked, kept: bodies.get(seq) }));
    return { kind: 'step', seq, use };
  } catch (error) {
    if (error instanceof UnusableError) return { kind: 'unusable', seq: error.seq, reason: error.message };
    if (error instanceof PatternWorkError) return { kind: 'cut', reason: error.message };
    throw error;
  }
}

class UnusableError extends Error {
  readonly seq: number;

  constructor(seq: number, reason: string) {
    super(reason);
    this.seq = seq;
  }
}

/** What is wrong with a request that a step matches. */
function faultOf(
  { seq, validation, parameters }: CompiledStep,
  request: MockRequest,
  { begin }: Means,
): RequestFault | undefined {
  if (!validation) return undefined;
  try {
    const validate = begin('schemas')(validation);
    return begin()(() => validate(request, parameters(request.path)));
  } catch (error) {
    if (error instanceof FilterError) throw new UnusableError(seq, error.message);
    throw error;
  }
}

async function nearest(
  steps: CompiledSteps,
  { run, request }: Asked,
  { begin, turns }: Means,
): Promise<NearMiss[] | undefined> {
  try {
    return await nearestSteps(steps, run, request, { work: begin(), turns });
  } catch (error) {
    if (error instanceof PatternWorkError) return undefined;
    throw error;
  }
}
