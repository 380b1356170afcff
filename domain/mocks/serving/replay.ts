import { firstFrom } from '../../kernel/shared/ordered-rules.ts';
import { Turns } from '../../kernel/shared/turns.ts';
import { type CompiledStep, compileStep, type StoredStepParts } from '../scenarios/compile-step.ts';
import type { Variables } from '../scenarios/step-conditions.ts';
import type { MockRequest } from './mock-request.ts';
import type { StepUse } from './step-use.ts';
import type { MockMode } from '../scenarios/step-rules.ts';

/** Steps in the order in which they are asked, found by method and path where those are literal. */
export interface CompiledSteps {
  mode: MockMode;
  steps: readonly CompiledStep[];
  /** In the order of the mode, by method and path. */
  literal: ReadonlyMap<string, readonly CompiledStep[]>;
  /** Steps whose method or path is variable, in the order of the mode. */
  variable: readonly CompiledStep[];
  place: ReadonlyMap<CompiledStep, number>;
}

/** Where a client is in a scenario. */
export interface RunState {
  name: string;
  revision: number;
  /** The step that `strict` has used up last; in other modes the one that answered last. */
  cursor: number;
  hits: Map<number, number>;
  variables: Variables;
  matched: number;
  unmatched: number;
}

/** What of a run its next answer depends on. */
export type RunPlace = Pick<RunState, 'cursor' | 'hits' | 'variables'>;

/** Others in the process have their turn after so long. */
const TURN_MS = 10;

/** Prepares the steps of a scenario for many calls; many of them, or many patterns, take seconds. */
export async function compileSteps(mode: MockMode, stored: readonly StoredStepParts[]): Promise<CompiledSteps> {
  const turns = new Turns(TURN_MS);
  const compiled: CompiledStep[] = [];
  for (const step of stored) {
    if (turns.isOver) await turns.next();
    compiled.push(compileStep(step));
  }
  const steps = compiled.toSorted((a, b) => a.seq - b.seq);
  const ordered = mode === 'any' ? steps.toSorted((a, b) => b.specificity - a.specificity || a.seq - b.seq) : steps;
  const literal = new Map<string, CompiledStep[]>();
  const variable: CompiledStep[] = [];
  for (const step of ordered) {
    if (step.literalPath === undefined || step.request.method === '*') {
      variable.push(step);
      continue;
    }
    const key = `${step.request.method} ${step.literalPath}`;
    const same = literal.get(key);
    if (same) same.push(step);
    else literal.set(key, [step]);
  }
  return { mode, steps, literal, variable, place: new Map(ordered.map((step, index) => [step, index])) };
}

/** How often a step answers in a mode. */
export const usesOf = ({ times }: CompiledStep, mode: MockMode): number => times ?? (mode === 'strict' ? 1 : Infinity);

/** Whether a step still answers in a run. */
export const isLeft = (step: CompiledStep, mode: MockMode, run: RunPlace): boolean =>
  (run.hits.get(step.seq) ?? 0) < usesOf(step, mode);

/** The step that a mode `strict` waits for. */
export const nextStep = ({ steps }: CompiledSteps, { cursor }: RunPlace): CompiledStep | undefined =>
  steps[firstFrom(steps, cursor + 1, ({ seq }) => seq)];

/** How steps are evaluated for one request. */
export interface Evaluation {
  /** Bounds the work of one step, and of all of them. */
  work: <T>(evaluate: () => T) => T;
  /** Others in the process have their turn between steps. */
  turns: Turns;
}

/**
 * The step that answers a request. `strict`: the one at the cursor or none. `perEndpoint`: of those that match and are
 * not used up the first, so that recorded answers of one method and path come in their order whatever parallel clients
 * ask meanwhile. `any`: the most specific, then the first.
 */
export async function stepFor(
  compiled: CompiledSteps,
  run: RunPlace,
  request: MockRequest,
  { work, turns }: Evaluation,
): Promise<CompiledStep | undefined> {
  const { mode, literal, variable, place } = compiled;
  const matches = (step: CompiledStep) => work(() => step.matches(request, run.variables));
  if (mode === 'strict') {
    const next = nextStep(compiled, run);
    return next && matches(next) ? next : undefined;
  }
  const firstOf = async (steps: readonly CompiledStep[]) => {
    for (const step of steps) {
      if (turns.isOver) await turns.next();
      if (isLeft(step, mode, run) && matches(step)) return step;
    }
    return undefined;
  };
  const first = await firstOf(literal.get(`${request.method} ${request.path}`) ?? []);
  const other = await firstOf(variable);
  if (!first || !other) return first ?? other;
  return (place.get(first) ?? 0) < (place.get(other) ?? 0) ? first : other;
}

/** What became of a request that a step answers. */
export interface Hit {
  step: CompiledStep;
  /** Counts the answers of the step in this run, from 1. */
  hit: number;
  use: StepUse;
}

/** Counts the use of a step in a run, and moves the run on. */
export function noteUse({ mode }: CompiledSteps, run: RunState, step: CompiledStep, use: StepUse): Hit {
  const hit = (run.hits.get(step.seq) ?? 0) + 1;
  run.hits.set(step.seq, hit);
  run.matched++;
  if (mode !== 'strict' || hit >= usesOf(step, mode)) run.cursor = step.seq;
  run.variables = use.variables;
  return { step, hit, use };
}

/**
 * A number from 0 to 1 (exclusive) that only depends on what it is drawn for, so that a rehearsal repeats exactly.
 * Mixed by the finalizer of MurmurHash3.
 */
export function drawn(seed: number, seq: number, hit: number, purpose: number): number {
  let value = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(seq, 0xc2b2ae35) ^ Math.imul(hit, 0x27d4eb2f);
  value = mixed(value ^ Math.imul(purpose + 1, 0x165667b1));
  return (mixed(value) >>> 0) / 2 ** 32;
}

function mixed(value: number): number {
  let mix = value ^ (value >>> 16);
  mix = Math.imul(mix, 0x85ebca6b);
  mix ^= mix >>> 13;
  mix = Math.imul(mix, 0xc2b2ae35);
  return mix ^ (mix >>> 16);
}
