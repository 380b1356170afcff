import { setTimeout as sleep } from 'node:timers/promises';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { FilterError } from '../../events/webhooks/filter-rules.ts';
import { PatternWorkError, patternWork, withPatternWork } from '../../events/webhooks/pattern-work.ts';
import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import { Turns } from '../../kernel/shared/turns.ts';
import { callsAfter, type CallRow } from './calls.queries.ts';
import { type CompiledStep, compileStep } from '../scenarios/compile-step.ts';
import { keptRequest } from '../kept-request.ts';
import { scenarioByName } from '../mocks.queries.ts';
import { type CriterionReport, reportOfConditions } from '../serving/nearest-steps.ts';
import type { StepRequest } from '../scenarios/step-rules.ts';
import {
  boundsOf,
  type CallTimes,
  type Expectation,
  type VerificationProblem,
  verificationProblems,
} from './verification-rules.ts';

export interface ExpectedCall {
  match: StepRequest;
  times?: CallTimes | undefined;
}

export interface Verification {
  expect: readonly ExpectedCall[];
  inOrder: boolean;
  /** How long calls may still come that meet the expectations. */
  waitMs: number;
  /** Name of a run, as `X-Mock-Run` gives it. Absent: calls of all runs. */
  run?: string | undefined;
  /** Only calls from then on. */
  since?: Date | undefined;
}

export interface VerificationFailure {
  /** Place of the expectation, from 0. */
  expectation: number;
  /** Unknown: it depends on calls of which what is tested was not kept, or is too large. */
  reason: 'count' | 'order' | 'unknown';
  /** How many calls matched; of `order`: behind those of the expectations before. */
  found: number;
  atLeast: number;
  /** Null: any number. */
  atMost: number | null;
  /** How many calls there are of which it is not known whether they match. */
  unknown: number;
  /** Calls that matched nearly, and what kept them from it; of `unknown` those of which it is not known. */
  nearest: { number: string; method: string; path: string; criteria: CriterionReport[] }[];
}

/** With the calls that meet it, as far as they have come. */
interface Expected extends Expectation {
  step: CompiledStep;
  matching: number[];
  unknown: number[];
}

const POLL_MS = 100;
const PAGE = 1_000;
/** So many calls are looked at. */
export const CALLS_MAX = 10_000;
const NEAREST = 3;

/**
 * Whether the calls since the last rewind are those that are expected. Waits until they are, asking again and again: no
 * connection is held meanwhile. Throws `not_found`, and `invalid_request` for operators that mean nothing.
 * @param signal of the client.
 */
export async function verifyCalls(
  reads: Reads,
  workspace: string,
  name: string,
  { expect, inOrder, waitMs, run, since }: Verification,
  signal: () => AbortSignal,
): Promise<{ passed: boolean; calls: number; failures: VerificationFailure[] }> {
  const expected = expect.map(
    ({ match, times }, index): Expected => ({
      ...boundsOf(times),
      step: compiled(match, index),
      matching: [],
      unknown: [],
    }),
  );
  const { id, round } = await scenarioByName(reads, workspace, name);
  const until = performance.now() + waitMs;
  const work = boundedWork();
  const calls: CallRow[] = [];
  for (;;) {
    for (const call of await newCalls(reads, id, { round, run, since }, calls.at(-1)?.number ?? '0')) {
      const request = keptRequest(call);
      for (const { step, matching, unknown } of expected) {
        const verdict = await work(() => step.judge(request, {}));
        if (verdict !== false) (verdict === true ? matching : unknown).push(calls.length);
      }
      calls.push(call);
    }
    const problems = verificationProblems(expected, inOrder);
    const leftMs = until - performance.now();
    if (problems.length === 0 || leftMs <= 0 || calls.length >= CALLS_MAX) {
      const failures: VerificationFailure[] = [];
      for (const problem of problems)
        failures.push(await failureOf(problem, expected[problem.expectation] as Expected, calls, work));
      return { passed: failures.length === 0, calls: calls.length, failures };
    }
    await sleep(Math.min(POLL_MS, leftMs), undefined, { signal: signal() });
  }
}

async function failureOf(
  { kind, expectation, found }: VerificationProblem,
  { step, unknown, atLeast, atMost }: Expected,
  calls: readonly CallRow[],
  work: BoundedWork,
): Promise<VerificationFailure> {
  const places = new Set(unknown);
  const shown = kind === 'unknown' ? calls.filter((_, place) => places.has(place)) : calls;
  const isReported = kind === 'unknown' || (kind === 'count' && found < atLeast);
  return {
    expectation,
    reason: kind,
    found,
    unknown: unknown.length,
    atLeast,
    atMost: Number.isFinite(atMost) ? atMost : null,
    nearest: isReported ? await nearestCalls(step, shown, work) : [],
  };
}

/** The most work of the patterns in one verification: some 4 s of a core, in turns. */
const PATTERN_WORK_MAX = 200_000_000;
/** The most work of the patterns of one expectation for one call: some 30 ms of a core. */
const CALL_WORK_MAX = 1_250_000;
/** Others have their turn after so long. */
const TURN_MS = 10;

type BoundedWork = <T>(evaluate: () => T) => Promise<T>;

/** Evaluates in turns, so that other requests are served meanwhile. Throws `unprocessable` for more than there may be. */
function boundedWork(): BoundedWork {
  const all = patternWork(PATTERN_WORK_MAX);
  const turns = new Turns(TURN_MS);
  return async (evaluate) => {
    if (turns.isOver) await turns.next();
    try {
      return all(() => withPatternWork(CALL_WORK_MAX, evaluate));
    } catch (error) {
      if (!(error instanceof PatternWorkError)) throw error;
      throw new DomainError('unprocessable', `Whether the calls are those expected is not known: ${error.message}`);
    }
  };
}

function compiled(match: StepRequest, index: number): CompiledStep {
  const unkept = match.checks?.findIndex(({ of }) => of === 'url' || of === 'cookies') ?? -1;
  if (unkept !== -1)
    throw invalidField(
      `expect/${index}/match/checks/${unkept}/of`,
      'is not kept of calls: url and cookies cannot be verified',
    );
  try {
    return compileStep({ seq: 1, request: match, response: { status: 200 }, times: null });
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    throw invalidField(`expect/${index}/match/${error.path.replace(/^request\//, '')}`, error.message);
  }
}

async function newCalls(
  reads: Reads,
  scenarioId: string,
  filter: { round: number; run: string | undefined; since: Date | undefined },
  after: string,
): Promise<CallRow[]> {
  const found: CallRow[] = [];
  for (let last = after; found.length < CALLS_MAX; ) {
    const page = await callsAfter(reads, scenarioId, filter, { after: last, limit: PAGE });
    found.push(...page);
    if (page.length < PAGE) return found;
    last = page.at(-1)?.number ?? last;
  }
  return found;
}

async function nearestCalls(
  step: CompiledStep,
  calls: readonly CallRow[],
  work: BoundedWork,
): Promise<VerificationFailure['nearest']> {
  const scored = [];
  for (const call of calls) {
    const request = keptRequest(call);
    const criteria = await work(() => reportOfConditions(step, request, {}));
    scored.push({ call, criteria, score: criteria.filter(({ matches }) => matches).length });
  }
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, NEAREST)
    .map(({ call: { number, method, path }, criteria }) => ({ number, method, path, criteria }));
}
