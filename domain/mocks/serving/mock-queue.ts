import type { Database } from '../../kernel/data/tables.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import {
  type Called,
  type Compiled,
  type Decided,
  decideBatch,
  type EvaluateInThread,
  type MockPlace,
  type Reply,
} from '../decide-batch.ts';
import type { MockRequest } from './mock-request.ts';
import {
  activeScenario,
  type ActiveScenario,
  advanceRuns,
  bodyOfStep,
  inTenant,
  lockRuns,
  RUNS_MAX,
  stepsToCompile,
} from './replay.queries.ts';
import { compileSteps, type RunState } from './replay.ts';

interface Waiting extends Called {
  done: PromiseWithResolvers<Reply>;
  /** Another process was faster, or the scenario changed: it is matched again with the state of its run locked. */
  isOvertaken: boolean;
  /** When it is given up, in milliseconds of `performance.now()`. */
  until: number;
}

/** Told after the commit that there are new calls of a scenario. Returns at once and never throws. */
export type OnCalls = (place: MockPlace, scenarioId: string) => void;

const BATCH_MAX = 256;
/** However often others are faster, a request waits in line for its turn; longer than that nobody waits for an answer. */
const WAIT_MAX_MS = 60_000;
/** Serialization failure and deadlock. */
const RETRIED = new Set(['40001', '40P01']);

/**
 * Answers the requests to one workspace, one batch after the other: all that wait are matched in memory with what this
 * process knows, and written in one statement, which does nothing where another process was faster or the scenario has
 * changed. Those are matched again with the states of their runs locked.
 */
export class MockQueue {
  readonly place: MockPlace;
  readonly #db: Database;
  readonly #inThread: EvaluateInThread;
  readonly #onCalls: OnCalls;
  #known: Compiled | undefined;
  #waiting: Waiting[] = [];
  #isRunning = false;

  /** @param db connections with the role of the application that do not wait for the disk. */
  constructor(db: Database, place: MockPlace, inThread: EvaluateInThread, onCalls: OnCalls) {
    this.#db = db;
    this.#onCalls = onCalls;
    this.place = place;
    this.#inThread = inThread;
  }

  get isIdle(): boolean {
    return !this.#isRunning && this.#waiting.length === 0;
  }

  /** @param run as `X-Mock-Run` names it; empty without it. Throws `rate_limited` for too many runs. */
  answer(request: MockRequest, run: string): Promise<Reply> {
    const done = Promise.withResolvers<Reply>();
    this.#waiting.push({ request, run, done, isOvertaken: false, until: performance.now() + WAIT_MAX_MS });
    if (!this.#isRunning) void this.#work();
    return done.promise;
  }

  /** A body that is not kept with its step. */
  async bodyOf(scenarioId: string, seq: number): Promise<Buffer> {
    const { tenantId } = this.place;
    const [row] = await inTenant(this.#db, tenantId, (tx) => bodyOfStep(tx, { tenantId, scenarioId, seq }));
    return Buffer.from(row?.body ?? []);
  }

  async #work(): Promise<void> {
    this.#isRunning = true;
    // Those that come at the same time share the statement.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH_MAX);
      const isKnown = batch.every(({ run, isOvertaken }) => !isOvertaken && this.#known?.runs.has(run));
      try {
        await (isKnown ? this.#answerKnown(batch) : this.#answerLocked(batch));
      } catch (error) {
        this.#known = undefined;
        const isRetried = RETRIED.has((error as { code?: string }).code ?? '');
        const [again, over] = isRetried ? inLine(batch) : [[], batch];
        for (const one of over) one.done.reject(error);
        this.#waiting.unshift(...again);
      }
    }
    this.#isRunning = false;
  }

  async #answerKnown(batch: readonly Waiting[]): Promise<void> {
    const known = this.#known as Compiled;
    const decided = await decideBatch(this.place.tenantId, known, batch, this.#inThread);
    const advanced = await inTenant(this.#db, this.place.tenantId, (tx) => this.#advance(tx, known, decided));
    this.#settle(batch, decided, advanced);
  }

  async #answerLocked(batch: readonly Waiting[]): Promise<void> {
    const outcome = await inTenant(this.#db, this.place.tenantId, async (tx) => {
      const names = [...new Set(batch.map(({ run }) => run))];
      const reply = await this.#load(tx, names);
      if (reply) return { reply };
      const known = this.#known as Compiled;
      const admitted = batch.filter(({ run }) => known.runs.has(run));
      // No connection is held while a thread evaluates: what takes long is decided in the next batch, without locks.
      const decided = await decideBatch(this.place.tenantId, known, admitted);
      if (decided.isSlowNext) for (const one of admitted) one.isOvertaken &&= decided.replies.has(one);
      const advanced = admitted.length === 0 ? new Set<string>() : await this.#advance(tx, known, decided);
      return { admitted, decided, advanced };
    });
    if ('reply' in outcome) {
      for (const { done } of batch) done.resolve(outcome.reply);
      return;
    }
    for (const one of batch) if (!outcome.admitted.includes(one)) one.done.reject(tooManyRuns());
    this.#settle(outcome.admitted, outcome.decided, outcome.advanced);
  }

  #advance(tx: Database, { scenario }: Compiled, { changes, calls }: Decided<Waiting>): Promise<Set<string>> {
    const { tenantId, workspaceId, keyHash } = this.place;
    const { id: scenarioId, version, round } = scenario;
    return advanceRuns(tx, {
      tenantId,
      workspaceId,
      keyHash,
      scenarioId,
      version,
      round,
      changes: [...changes.values()],
      calls,
    });
  }

  #settle(batch: readonly Waiting[], { replies, changes }: Decided<Waiting>, advanced: ReadonlySet<string>): void {
    const runs = this.#known?.runs;
    if (this.#known && advanced.size > 0) this.#onCalls(this.place, this.#known.scenario.id);
    for (const name of changes.keys()) {
      const state = runs?.get(name);
      if (state && advanced.has(name)) state.revision++;
      else runs?.delete(name);
    }
    const left: Waiting[] = [];
    const overtaken: Waiting[] = [];
    for (const one of batch) {
      const reply = replies.get(one);
      if (!reply) left.push(one);
      else if (advanced.has(one.run)) one.done.resolve(reply);
      else overtaken.push(one);
    }
    const [again, over] = inLine(overtaken);
    for (const one of over)
      one.done.reject(new DomainError('unavailable', 'The scenario was changed all the time; try again'));
    this.#waiting.unshift(...again, ...left);
  }

  /** Reads what is active, and locks the states of runs. Answers the reply to all where nothing is armed. */
  async #load(tx: Database, names: readonly string[]): Promise<Reply | undefined> {
    const { tenantId } = this.place;
    const active = await activeScenario(tx, this.place);
    if (!active) return { kind: 'gone' };
    const { workspace } = active;
    const scenario = active.scenario as ActiveScenario | undefined;
    if (!scenario) return { kind: 'inactive', workspace };
    if (scenario.status === 'recording') return { kind: 'recording', scenario, workspace };
    const before = this.#known;
    const isSame = before?.scenario.id === scenario.id && before.scenario.version === scenario.version;
    this.#known = undefined;
    const runs = isSame ? before.runs : new Map<string, RunState>();
    for (const { hits, ...run } of await lockRuns(tx, tenantId, scenario.id, names)) {
      const counts = Object.entries(hits).map(([seq, count]) => [Number(seq), count] as const);
      runs.set(run.name, { ...run, hits: new Map(counts) });
    }
    this.#known = isSame
      ? { ...before, scenario, workspace, runs }
      : { workspace, scenario, runs, ...(await this.#compiled(tx, scenario)) };
    return undefined;
  }

  async #compiled(tx: Database, { id, mode }: ActiveScenario): Promise<Pick<Compiled, 'steps' | 'bodies'>> {
    const rows = await stepsToCompile(tx, this.place.tenantId, id);
    const bodies = rows.map(({ seq, body, bodyForm }) => [seq, { body, bodyForm }] as const);
    return { steps: await compileSteps(mode, rows), bodies: new Map(bodies) };
  }
}

/** The requests that are matched again, in their order, and the ones that have waited long enough. */
function inLine(batch: readonly Waiting[]): [again: Waiting[], over: Waiting[]] {
  const now = performance.now();
  const again = batch.filter(({ until }) => now < until);
  for (const one of again) one.isOvertaken = true;
  return [again, batch.filter(({ until }) => now >= until)];
}

const tooManyRuns = () =>
  new DomainError('rate_limited', `A scenario has at most ${RUNS_MAX} runs within an hour`, {
    headers: { 'Retry-After': '60' },
  });
