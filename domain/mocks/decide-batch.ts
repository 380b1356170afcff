import type { TenantKey } from '../kernel/shared/actor.ts';
import { newId } from '../kernel/shared/ids.ts';
import { Turns } from '../kernel/shared/turns.ts';
import { FilterError } from '../events/webhooks/filter-rules.ts';
import {
  PatternShareError,
  PatternShares,
  PatternWorkError,
  withPatternWork,
} from '../events/webhooks/pattern-work.ts';
import { drawnFault } from './serving/answer.ts';
import { calledRequest } from './serving/called-request.ts';
import type { CompiledStep } from './scenarios/compile-step.ts';
import type { MockRequest } from './serving/mock-request.ts';
import type { BodyForm } from './mocks.entities.ts';
import type { ActiveScenario, CallNote, RunChange } from './serving/replay.queries.ts';
import { nearestSteps, type NearMiss } from './serving/nearest-steps.ts';
import { type CompiledSteps, type Evaluation, type Hit, type RunState, stepFor, useStep } from './serving/replay.ts';
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
  | { kind: 'share_used'; scenario: ActiveScenario; retryInMs: number }
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
export interface Compiled {
  workspace: string;
  scenario: ActiveScenario;
  steps: CompiledSteps;
  bodies: Map<number, { body: Uint8Array | null; bodyForm: BodyForm | null }>;
  runs: Map<string, RunState>;
}

export interface Decided<T extends Called> {
  replies: Map<T, Reply>;
  changes: Map<string, RunChange>;
  calls: CallNote[];
}

/** Requests that are left when this time is over wait for the next batch, so that others are served in between. */
const DECIDING_MS = 20;

/** Matches requests one after the other, as many as there is time for; changes the states of their runs. */
export async function decideBatch<T extends Called>(
  tenantId: string,
  known: Compiled,
  batch: readonly T[],
): Promise<Decided<T>> {
  const turns = new Turns(TURN_MS);
  const until = performance.now() + DECIDING_MS;
  const replies = new Map<T, Reply>();
  const changes = new Map<string, RunChange>();
  const calls: CallNote[] = [];
  const now = new Date().toISOString();
  for (const one of batch) {
    if (replies.size > 0 && performance.now() > until) break;
    const state = known.runs.get(one.run) as RunState;
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
    const { reply, note } = await decide({ tenantId, turns }, known, state, one.request, now);
    replies.set(one, reply);
    if (note?.outcome === 'matched') change.matched++;
    else if (note) change.unmatched++;
    if (reply.kind === 'step') change.hits[reply.hit.step.seq] = reply.hit.hit;
    if (note) calls.push({ ...noteOf(one), ...note });
    change.cursor = state.cursor;
    change.variables = state.variables;
  }
  return { replies, changes, calls };
}

/** What a call is noted as, beside the request; undefined for one that is not counted. */
type Note = Pick<CallNote, 'outcome' | 'seq' | 'status' | 'fault'>;

async function decide(
  given: Given,
  { steps, bodies, scenario, workspace }: Compiled,
  state: RunState,
  request: MockRequest,
  now: string,
): Promise<{ reply: Reply; note?: Note }> {
  const cut = (error: PatternWorkError): { reply: Reply; note?: Note } => {
    if (error instanceof PatternShareError)
      return { reply: { kind: 'share_used', scenario, retryInMs: error.retryInMs } };
    state.unmatched++;
    return { reply: { kind: 'too_costly', scenario, reason: error.message }, note: UNMATCHED };
  };
  const step = await withinPatternWork(given, (evaluation) => stepFor(steps, state, request, evaluation));
  if (step instanceof PatternWorkError) return cut(step);
  if (!step) {
    state.unmatched++;
    const nearest =
      scenario.unmatched === 'not_found'
        ? await withinPatternWork(given, (evaluation) => nearestSteps(steps, state, request, evaluation))
        : [];
    return {
      reply: {
        kind: 'unmatched',
        scenario,
        workspace,
        nearest: nearest instanceof PatternWorkError ? undefined : nearest,
        unmatched: state.unmatched,
      },
      note: scenario.unmatched === 'pass_through' ? { ...UNMATCHED, outcome: 'passed_on' } : UNMATCHED,
    };
  }
  const { seq, response } = step;
  const fault = await faultOf(given, step, request);
  if (fault instanceof PatternWorkError) return cut(fault);
  if (fault instanceof FilterError) {
    state.unmatched++;
    return { reply: { kind: 'unusable', scenario, seq, reason: fault.message }, note: UNMATCHED };
  }
  if (fault) {
    state.matched++;
    const status = response.validates?.status ?? 400;
    return {
      reply: { kind: 'refused', scenario, seq, status, fault },
      note: { outcome: 'matched', seq, status, fault: null },
    };
  }
  const hit = useStep(steps, state, step, request, { now, uuid: newId() });
  const { body = null, bodyForm = null } = bodies.get(seq) ?? {};
  return {
    reply: { kind: 'step', scenario, hit, body: body === null ? undefined : Buffer.from(body), bodyForm },
    note: {
      outcome: 'matched',
      seq,
      status: response.status,
      fault: drawnFault(scenario.seed, hit)?.kind ?? null,
    },
  };
}

/** What is wrong with a request that a step matches. The same request is cut or not, whoever has compiled the schemas. */
async function faultOf(
  given: Given,
  { validation, parameters }: CompiledStep,
  request: MockRequest,
): Promise<RequestFault | PatternWorkError | FilterError | undefined> {
  if (!validation) return undefined;
  try {
    const validate = await withinPatternWork(given, ({ work }) => work(validation));
    if (validate instanceof PatternWorkError) return validate;
    return await withinPatternWork(given, ({ work }) => work(() => validate(request, parameters(request.path))));
  } catch (error) {
    if (error instanceof FilterError) return error;
    throw error;
  }
}

const UNMATCHED: Note = { outcome: 'unmatched', seq: null, status: null, fault: null };

/** Others have their turn after so long, between two steps. */
const TURN_MS = 10;
/** The most work of all patterns and tests for one request, and as much for its nearest steps: some 110 ms of a core each. */
const PATTERN_WORK_MAX = 5_000_000;
/** The most work of one step, as reading the largest body takes: some 30 ms of a core. */
const STEP_WORK_MAX = 1_250_000;

const patternShares = new PatternShares();

interface Given {
  tenantId: string;
  turns: Turns;
}

async function withinPatternWork<T>(
  { tenantId, turns }: Given,
  evaluate: (evaluation: Evaluation) => T | Promise<T>,
): Promise<T | PatternWorkError> {
  try {
    const all = patternShares.begin(tenantId, PATTERN_WORK_MAX);
    return await evaluate({ turns, work: (one) => all(() => withPatternWork(STEP_WORK_MAX, one)) });
  } catch (error) {
    if (error instanceof PatternWorkError) return error;
    throw error;
  }
}

const noteOf = ({ request, run }: Called) => {
  const { method, path } = request;
  return {
    run,
    method,
    path: path.slice(0, 2_000).replaceAll('\0', '').toWellFormed(),
    request: calledRequest(request),
  };
};
