import {
  type PooledThread,
  ThreadEndedError,
  ThreadPool,
  type ThreadPoolLimits,
} from '../../kernel/queues/thread-pool.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import { Turns } from '../../kernel/shared/turns.ts';
import type { Compiled, EvaluateInThread } from '../decide-batch.ts';
import type { StoredStepParts } from '../scenarios/compile-step.ts';
import type { MockMode } from '../scenarios/step-rules.ts';
import type { Asked, Verdict } from './evaluate.ts';
import type { MockRequest } from './mock-request.ts';
import type { KeptBody } from './step-use.ts';

/** A request as it goes to a thread: what is read of it is read there. */
export type Question = Omit<Asked, 'request'> &
  Pick<MockRequest, 'method' | 'target' | 'headers'> & { bytes: Uint8Array<ArrayBuffer> };

/** `key` stands for one version of a scenario, of which all steps come before it does. */
export type ThreadMessage = { key: string } & (
  | { kind: 'steps'; json: string }
  | { kind: 'scenario'; mode: MockMode; bodies: Map<number, KeptBody> }
  | { kind: 'forget' }
  | { kind: 'evaluate'; question: Question }
);

export type EvaluationOutcome = { verdict: Verdict; used: number } | { error: unknown };

const LIMITS: ThreadPoolLimits = {
  works: 'requests that take long to evaluate',
  threads: 2,
  waitingPerHolder: 20,
  waitMs: 10_000,
  // Some twenty times what the budgets of an evaluation take of a core.
  deadlineMs: 15_000,
  memoryMb: 256,
};
/** A thread keeps so many scenarios. */
const SCENARIOS_MAX = 8;
const TURN_MS = 10;
/** Steps are sent in pieces, between which others have their turn. */
const PIECE_CHARS = 64 * 1024;
/** What an evaluation that did not end counts as: its tenant waits for some minutes. */
const UNENDED_WORK = 500_000_000;

/**
 * Evaluates requests in threads, which know the scenarios that they were asked about last; `close` ends them. A tenant has
 * one at a time; others wait, up to a bound (429, 503). What passes its deadline, or takes too much memory, is cut.
 */
export function createEvaluationThreads(
  limits: Partial<ThreadPoolLimits> = {},
  module = new URL('./evaluation-thread.ts', import.meta.url),
): { evaluate: EvaluateInThread; close: () => Promise<void> } {
  const pool = new ThreadPool(module, { ...LIMITS, ...limits });
  return {
    close: () => pool.close(),
    async evaluate(tenantId, known, asked) {
      const key = `${known.scenario.id} ${known.scenario.version}`;
      let isShared = false;
      const ask = () =>
        pool.run(tenantId, key, async (thread) => {
          await give(thread, key, known);
          isShared = thread.held.size > 1;
          const question = questionOf(asked);
          const message: ThreadMessage = { kind: 'evaluate', key, question };
          return (await thread.ask(message, [question.bytes.buffer])) as EvaluationOutcome;
        });
      try {
        const outcome = await ask().catch((error: unknown) => {
          // What others left in its memory may have ended the thread: one that begins anew is asked once more.
          if (error instanceof ThreadEndedError && error.reason === 'memory' && isShared) return ask();
          throw error;
        });
        if ('error' in outcome) throw outcome.error;
        return outcome;
      } catch (error) {
        if (error instanceof ThreadEndedError) return unended(error);
        throw error;
      }
    },
  };
}

function unended({ reason }: ThreadEndedError): Awaited<ReturnType<EvaluateInThread>> {
  if (reason === 'died')
    throw new DomainError('unavailable', 'The evaluation of the request ended before it was complete; try again');
  const why = reason === 'deadline' ? 'it takes too long' : 'it takes too much memory';
  return { verdict: { kind: 'cut', reason: `${why} to evaluate the steps for this request` }, used: UNENDED_WORK };
}

function questionOf({ request, run: { cursor, hits, variables }, wantsNearest, now, uuid }: Asked): Question {
  const { method, target, headers } = request;
  // A copy, which the thread is given: whoever answers the request may still send it on.
  const bytes = new Uint8Array(request.bytes);
  return { method, target, headers, bytes, run: { cursor, hits, variables }, wantsNearest, now, uuid };
}

/** Lets a thread know a scenario, and forget the one that was asked longest ago. */
async function give(
  { held, post }: PooledThread,
  key: string,
  { steps: { mode, steps }, bodies }: Compiled,
): Promise<void> {
  const send = (message: ThreadMessage) => post(message);
  if (!held.delete(key)) {
    const turns = new Turns(TURN_MS);
    let piece: string[] = [];
    let chars = 0;
    const sendPiece = () => {
      send({ kind: 'steps', key, json: `[${piece.join(',')}]` });
      [piece, chars] = [[], 0];
    };
    for (const { seq, request, response, times } of steps) {
      if (turns.isOver) await turns.next();
      const parts: StoredStepParts = { seq, request, response, times };
      const text = JSON.stringify(parts);
      piece.push(text);
      if ((chars += text.length) > PIECE_CHARS) sendPiece();
    }
    if (piece.length > 0) sendPiece();
    const made = steps.filter(({ response }) => response.template === true || response.echo !== undefined);
    const needed = made.flatMap(({ seq }) => (bodies.has(seq) ? [[seq, bodies.get(seq) as KeptBody] as const] : []));
    send({ kind: 'scenario', key, mode, bodies: new Map(needed) });
  }
  held.add(key);
  const [oldest] = held;
  if (held.size > SCENARIOS_MAX && oldest !== undefined) {
    held.delete(oldest);
    send({ kind: 'forget', key: oldest });
  }
}
