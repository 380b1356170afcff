import type { CompiledStep } from '../scenarios/compile-step.ts';
import type { Variables } from '../scenarios/step-conditions.ts';
import type { Unjudged } from './judged-text.ts';
import type { MockRequest } from './mock-request.ts';
import { type CompiledSteps, type Evaluation, isLeft, nextStep, type RunPlace, usesOf } from './replay.ts';

/** Whether a request meets one condition of a step. */
export interface CriterionReport {
  criterion: 'method' | 'path' | 'query' | 'headers' | 'body' | 'state' | 'times' | 'order';
  matches: boolean;
  /** Why it is not known whether it matches. Absent: it is. */
  unknown?: Unjudged;
  wanted: unknown;
  found: unknown;
}

/** A step that did not answer, with its conditions. */
export interface NearMiss {
  seq: number;
  criteria: CriterionReport[];
}

const NEAREST = 3;

/** The steps that would have answered most nearly, and why they did not. */
export async function nearestSteps(
  compiled: CompiledSteps,
  run: RunPlace,
  request: MockRequest,
  { work, turns }: Evaluation,
): Promise<NearMiss[]> {
  const next = compiled.mode === 'strict' ? nextStep(compiled, run) : undefined;
  const best: { step: CompiledStep; score: number }[] = [];
  for (const step of compiled.steps) {
    if (turns.isOver) await turns.next();
    const score =
      work(() => nearness(step, run, request)) + (step === next ? 1_000 : isLeft(step, compiled.mode, run) ? 0.5 : 0);
    const last = best[NEAREST - 1];
    if (last && last.score >= score) continue;
    const at = best.findIndex((one) => one.score < score);
    best.splice(at === -1 ? best.length : at, 0, { step, score });
    best.length = Math.min(best.length, NEAREST);
  }
  return best.map(({ step }) => ({
    seq: step.seq,
    criteria: work(() => reportOf(step, compiled, run, request)),
  }));
}

/** How much of a step fits; the path counts most. */
function nearness({ conditions, request: { path } }: CompiledStep, run: RunPlace, request: MockRequest): number {
  let score = 0;
  for (const { criterion, judge } of conditions) {
    const isFit = judge(request, run.variables) === true;
    if (criterion === 'path') score += isFit ? 10 : 4 * sharedStart(path, request.path);
    else if (isFit) score += criterion === 'method' ? 3 : 2;
    else score -= 1;
  }
  return score;
}

/** Which part of the longer of two paths is the same, from the beginning: 0 to 1. */
function sharedStart(a: string, b: string): number {
  const longest = Math.max(a.length, b.length);
  let at = 0;
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at / longest;
}

function reportOf(step: CompiledStep, compiled: CompiledSteps, run: RunPlace, request: MockRequest): CriterionReport[] {
  const criteria = reportOfConditions(step, request, run.variables);
  const hits = run.hits.get(step.seq) ?? 0;
  const uses = usesOf(step, compiled.mode);
  if (uses !== Infinity) criteria.push({ criterion: 'times', matches: hits < uses, wanted: uses, found: hits });
  if (compiled.mode === 'strict') {
    const expected = nextStep(compiled, run)?.seq ?? null;
    criteria.push({ criterion: 'order', matches: expected === step.seq, wanted: expected, found: step.seq });
  }
  return criteria;
}

/** Which conditions of a step a request meets; values are cut where they are long. */
export const reportOfConditions = (
  { conditions }: CompiledStep,
  request: MockRequest,
  variables: Variables,
): CriterionReport[] =>
  conditions.map(({ criterion, wanted, judge, found }) => {
    const verdict = judge(request, variables);
    return {
      criterion,
      matches: verdict === true,
      ...(typeof verdict === 'string' && { unknown: verdict }),
      wanted: shown(wanted),
      found: shown(found(request, variables)),
    };
  });

const SHOWN_MAX = 500;

/** A value for a report, cut where it is long. */
function shown(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === 'string' && value.length > SHOWN_MAX) return `${value.slice(0, SHOWN_MAX).toWellFormed()}…`;
  const text = JSON.stringify(value);
  return text.length <= SHOWN_MAX ? value : `${text.slice(0, SHOWN_MAX).toWellFormed()}…`;
}
