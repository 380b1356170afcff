import type { TenantKey } from '../kernel/shared/actor.ts';
import { firstFrom } from '../kernel/shared/ordered-rules.ts';
import { DomainError } from '../kernel/shared/errors.ts';
import { newId } from '../kernel/shared/ids.ts';
import { Turns } from '../kernel/shared/turns.ts';
import { PatternShares, type PatternWork, PatternWorkError, patternWork } from '../events/webhooks/pattern-work.ts';
import { drawnFault } from './serving/answer.ts';
import { calledRequest } from './serving/called-request.ts';
import type { CompiledStep } from './scenarios/compile-step.ts';
import type { MockRequest } from './serving/mock-request.ts';
import type { BodyForm } from './mocks.entities.ts';
import type { ActiveScenario, CallNote, RunChange } from './serving/replay.queries.ts';
import { type Asked, evaluate, type EvaluatedScenario, type Verdict } from './serving/evaluate.ts';
import type { NearMiss } from './serving/nearest-steps.ts';
import { type Hit, noteUse, type RunState } from './serving/replay.ts';
import type { RequestFault } from './validate-request.ts';

export interface MockPlace extends TenantKey {
  workspaceId: string;
  keyHash: string;
}

/** What a workspace answers to a request. */
export type Reply =
  | { kind: 'step'; scenario: ActiveScenario; hit: Hit; body: Buffer | undefined; bodyForm: BodyForm | null }
  /** The step is for other requests than this one. */
  | { kind: 'refused'; scenario: ActiveScenario; seq: number; status: 400 | 422; fault: RequestFault }
  /** The schemas of the step, which nobody tried before, cannot be used. */
  | { kind: 'unusable'; scenario: ActiveScenario; seq: number; reason: string }
  | {
      kind: 'unmatched';
      scenario: ActiveScenario;
      workspace: string;
      /** Undefined where the patterns of the steps take too much work to tell. */
      nearest: NearMiss[] | undefined;
      unmatched: number;
    }
  | { kind: 'too_costly'; scenario: ActiveScenario; reason: string }
  /** Its tenant has to wait, or the thread that evaluated it ended. */
  | { kind: 'not_now'; error: DomainError }
  | { kind: 'recording'; scenario: ActiveScenario; workspace: string }
  /** Nothing is armed. */
  | { kind: 'inactive'; workspace: string }
  /** The key leads nowhere any more. */
  | { kind: 'gone' };

/** A request that waits for its reply. */
export interface Called {
  request: MockRequest;
  /** Name of the run, as `X-Mock-Run` gives it. */
  run: string;
}

/** A scenario as one process knows it. */
export interface Compiled extends EvaluatedScenario {
  workspace: string;
  scenario: ActiveScenario;
  runs: Map<string, RunState>;
  /** Its last request took long to evaluate: the next one is not tried here first. */
  isSlow?: boolean;
}

/** Evaluates a request in a thread, with the whole budget; answers what of it was used. */
export type EvaluateInThread = (
  tenantId: string,
  known: Compiled,
  asked: Asked,
) => Promise<{ verdict: Verdict; used: number }>;

export interface Decided<T extends Called> {
  replies: Map<T, Reply>;
  changes: Map<string, RunChange>;
  calls: CallNote[];
  /** The next request takes long to evaluate: only `inThread` can. */
  isSlowNext: boolean;
}

/** Requests that are left when this time is over wait for the next batch, so that others are served in between. */
const DECIDING_MS = 20;
/** Others have their turn after so long, between two steps. */
const TURN_MS = 10;

/**
 * Matches requests one after the other, as many as there is time for; changes the states of their runs.
 * @param inThread absent: requests that take long are left, with all behind them.
 */
export async function decideBatch<T extends Called>(
  tenantId: string,
  known: Compiled,
  batch: readonly T[],
  inThread?: EvaluateInThread,
): Promise<Decided<T>> {
  const turns = new Turns(TURN_MS);
  const until = performance.now() + DECIDING_MS;
  const decided: Decided<T> = { replies: new Map(), changes: new Map(), calls: [], isSlowNext: false };
  const { replies, changes, calls } = decided;
  const now = new Date().toISOString();
  for (const one of batch) {
    if (replies.size > 0 && performance.now() > until) break;
    const state = known.runs.get(one.run) as RunState;
    // Those that are decided do not wait for one that takes long.
    const isThreadFree = replies.size === 0 ? inThread : undefined;
    const outcome = await outcomeOf({ tenantId, turns, inThread: isThreadFree, now }, known, state, one.request);
    if (outcome === 'slow') {
      decided.isSlowNext = true;
      break;
    }
    const change = changes.get(one.run) ?? {
      run: one.run,
      revision: state.revision,
      cursor: 0,
      hits: {},
      variables: {},
      matched: 0,
      unmatched: 0,
    };
    changes.set(one.run, change);
    const { reply, note } = replyTo(known, state, outcome);
    replies.set(one, reply);
    if (note?.outcome === 'matched') change.matched++;
    else if (note) change.unmatched++;
    if (reply.kind === 'step') change.hits[reply.hit.step.seq] = reply.hit.hit;
    if (note) calls.push({ ...noteOf(one), ...note });
    change.cursor = state.cursor;
    change.variables = state.variables;
  }
  return decided;
}

/** What a call is noted as, beside the request; undefined for one that is not counted. */
type Note = Pick<CallNote, 'outcome' | 'seq' | 'status' | 'fault'>;
const UNMATCHED: Note = { outcome: 'unmatched', seq: null, status: null, fault: null };

type Outcome = Verdict | Extract<Reply, { kind: 'not_now' }>;

function replyTo(known: Compiled, state: RunState, outcome: Outcome): { reply: Reply; note?: Note } {
  const { scenario, workspace, bodies } = known;
  const unmatched = (reply: Reply, note = UNMATCHED) => {
    state.unmatched++;
    return { reply, note };
  };
  switch (outcome.kind) {
    case 'not_now':
      return { reply: outcome };
    case 'cut':
      return unmatched({ kind: 'too_costly', scenario, reason: outcome.reason });
    case 'unusable':
      return unmatched({ ...outcome, scenario });
    case 'unmatched':
      return unmatched(
        { ...outcome, scenario, workspace, unmatched: state.unmatched + 1 },
        scenario.unmatched === 'pass_through' ? { ...UNMATCHED, outcome: 'passed_on' } : UNMATCHED,
      );
    case 'refused': {
      state.matched++;
      const { seq } = outcome;
      const status = stepOf(known, seq).response.validates?.status ?? 400;
      return { reply: { ...outcome, scenario, status }, note: { outcome: 'matched', seq, status, fault: null } };
    }
    case 'step': {
      const { seq, use } = outcome;
      const step = stepOf(known, seq);
      const hit = noteUse(known.steps, state, step, use);
      const { body = null, bodyForm = null } = bodies.get(seq) ?? {};
      return {
        reply: { kind: 'step', scenario, hit, body: body === null ? undefined : Buffer.from(body), bodyForm },
        note: {
          outcome: 'matched',
          seq,
          status: step.response.status,
          fault: drawnFault(scenario.seed, hit)?.kind ?? null,
        },
      };
    }
  }
}

const stepOf = ({ steps }: Compiled, seq: number): CompiledStep =>
  steps.steps[firstFrom(steps.steps, seq, (step) => step.seq)] as CompiledStep;

/** What is evaluated here, some 3 ms of a core: what takes more is evaluated again, in a thread. */
const HERE_WORK_MAX = 100_000;
/** Compiling the schemas of a step, which happens once, may take longer. */
const SCHEMAS_WORK_MAX = 300_000;

/** What the requests to mocks of each tenant may take of this process. */
export const mockShares = new PatternShares();

/** Throws `rate_limited` for a tenant whose requests have taken their share of the processor for now. */
export function assertShareLeft(tenantId: string): void {
  const retryInMs = mockShares.retryInMs(tenantId);
  if (retryInMs > 0)
    throw new DomainError(
      'rate_limited',
      'The patterns and tests of this tenant have taken their share of the processor for now',
      { headers: { 'Retry-After': String(Math.ceil(retryInMs / 1_000)) } },
    );
}

class SlowError extends Error {}

interface Given {
  tenantId: string;
  turns: Turns;
  inThread: EvaluateInThread | undefined;
  now: string;
}

async function outcomeOf(
  given: Given,
  known: Compiled,
  run: RunState,
  request: MockRequest,
): Promise<Outcome | 'slow'> {
  try {
    return await verdictOn(given, known, run, request);
  } catch (error) {
    if (error instanceof DomainError) return { kind: 'not_now', error };
    throw error;
  }
}

async function verdictOn(
  { tenantId, turns, inThread, now }: Given,
  known: Compiled,
  run: RunState,
  request: MockRequest,
): Promise<Verdict | 'slow'> {
  assertShareLeft(tenantId);
  const wantsNearest = known.scenario.unmatched === 'not_found';
  const asked: Asked = { request, run, wantsNearest, now, uuid: newId() };
  if (!known.isSlow) {
    const verdict = await evaluatedHere(known, asked, { tenantId, turns });
    if (verdict) return verdict;
    known.isSlow = true;
  }
  if (!inThread) return 'slow';
  const { verdict, used } = await inThread(tenantId, known, asked);
  mockShares.spend(tenantId, used);
  known.isSlow = used > HERE_WORK_MAX;
  return verdict;
}

/** Undefined for a request that takes long. */
async function evaluatedHere(
  known: Compiled,
  asked: Asked,
  { tenantId, turns }: Pick<Given, 'tenantId' | 'turns'>,
): Promise<Verdict | undefined> {
  const [work, schemas] = [patternWork(HERE_WORK_MAX), patternWork(SCHEMAS_WORK_MAX)];
  try {
    return await evaluate(known, asked, { begin: (part) => slowAbove(part === 'schemas' ? schemas : work), turns });
  } catch (error) {
    if (error instanceof SlowError) return undefined;
    throw error;
  } finally {
    mockShares.spend(tenantId, work.used() + schemas.used());
  }
}

const slowAbove =
  (work: PatternWork) =>
  <T>(evaluated: () => T): T => {
    try {
      return work(evaluated);
    } catch (error) {
      throw error instanceof PatternWorkError ? new SlowError() : error;
    }
  };

const noteOf = ({ request, run }: Called) => {
  const { method, path } = request;
  return {
    run,
    method,
    path: path.slice(0, 2_000).replaceAll('\0', '').toWellFormed(),
    request: calledRequest(request),
  };
};
