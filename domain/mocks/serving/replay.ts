import { firstFrom } from '../../kernel/shared/ordered-rules.ts';
import type { Turns } from '../../kernel/shared/turns.ts';
import { TemplateError } from '../../events/webhooks/body-template.ts';
import { type CompiledStep, compileStep, rootOf, type StoredStepParts } from '../scenarios/compile-step.ts';
import type { Variables } from '../scenarios/step-conditions.ts';
import type { MockRequest } from './mock-request.ts';
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

export function compileSteps(mode: MockMode, stored: readonly StoredStepParts[]): CompiledSteps {
  const steps = stored.map((step) => compileStep(step)).toSorted((a, b) => a.seq - b.seq);
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
export const isLeft = (step: CompiledStep, mode: MockMode, run: RunState): boolean =>
  (run.hits.get(step.seq) ?? 0) < usesOf(step, mode);

/** The step that a mode `strict` waits for. */
export const nextStep = ({ steps }: CompiledSteps, { cursor }: RunState): CompiledStep | undefined =>
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
  run: RunState,
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

const VARIABLES_MAX = 200;
const VARIABLE_MAX_CHARS = 4_096;

/** What templates see. */
export interface TemplateContext {
  request: ReturnType<typeof rootOf>;
  state: Variables;
  /** ISO 8601. */
  now: string;
  uuid: string;
}

/** What became of a request that a step answers. */
export interface Hit {
  step: CompiledStep;
  /** Counts the answers of the step in this run, from 1. */
  hit: number;
  /** Undefined where nothing of the response is from the request. */
  context: TemplateContext | undefined;
  /** Why a variable could not be set. */
  templateError?: string;
}

/** Uses a step: counts, advances the cursor, and changes the variables of the run. */
export function useStep(
  { mode }: CompiledSteps,
  run: RunState,
  step: CompiledStep,
  request: MockRequest,
  { now, uuid }: Pick<TemplateContext, 'now' | 'uuid'>,
): Hit {
  const hit = (run.hits.get(step.seq) ?? 0) + 1;
  run.hits.set(step.seq, hit);
  run.matched++;
  if (mode !== 'strict' || hit >= usesOf(step, mode)) run.cursor = step.seq;
  run.variables = withVariables(run.variables, step.captured(request));
  const { sets, template, echo } = step.response;
  if (sets === undefined && template !== true && echo === undefined) return { step, hit, context: undefined };
  const context = { request: rootOf(request, step), state: run.variables, now, uuid };
  if (sets === undefined) return { step, hit, context };
  try {
    const rendered = Object.entries(sets).map(([name, value]) => [
      name,
      typeof value === 'string' ? (step.texts.get(value)?.(context) ?? value) : value,
    ]);
    run.variables = withVariables(run.variables, Object.fromEntries(rendered) as Variables);
    return { step, hit, context };
  } catch (error) {
    if (error instanceof TemplateError) return { step, hit, context, templateError: error.message };
    throw error;
  }
}

/** Variables are few and short: each batch of calls writes them. */
function withVariables(before: Variables, changes: Variables): Variables {
  const names = Object.keys(changes);
  if (names.length === 0) return before;
  const after: Record<string, unknown> = { ...before };
  for (const name of names) {
    const value = changes[name];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const isKept = text.length <= VARIABLE_MAX_CHARS && (typeof value === 'string' || !isUnstorable(text));
    if (isKept && (Object.hasOwn(after, name) || Object.keys(after).length < VARIABLES_MAX))
      after[name] = typeof value === 'string' ? storable(value) : value;
  }
  return after;
}

/** PostgreSQL holds neither U+0000 nor unpaired surrogates. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '');

/** Whether the JSON of a value has what PostgreSQL does not hold. */
export const isUnstorable = (json: string): boolean => /\\u(?:0000|d[89a-f])/i.test(json);

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
