import { AWAY, TIMED_OUT, troubleOf } from './answer-rules.ts';
import { AnswerTooLargeError, cleanedAnswer } from './cleaned-answer.ts';
import type { MetricsStore, StoreAnswer, StoreParameters, StoreRead } from './metrics-store.port.ts';
import { QueryQuarantine } from './query-quarantine.ts';
import { type CheckedQuery, isTrouble, type QueryTrouble } from './query-rules.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import { Slots } from '../../kernel/queues/slots.ts';

/** An answer in Prometheus' form, as it comes. */
export interface MetricAnswer {
  json: AsyncIterable<Buffer>;
}

export interface AskOptions {
  /** Ends it. */
  signal: AbortSignal;
  /** Most bytes of an answer; reading a longer one throws `AnswerTooLargeError`. */
  maxBytes: number;
}

/** Asks the store for what one tenant has. */
export type AskMetrics = (
  tenantId: string,
  what: StoreRead,
  query: CheckedQuery | QueryTrouble,
  options: AskOptions,
) => Promise<MetricAnswer | QueryTrouble>;

/** A refusal of the store is short. */
const REFUSAL_MAX_BYTES = 64 * 1024;

/** What one tenant may take of the store, of each process that asks it. */
const SHARES = {
  works: 'queries of metrics',
  total: 12,
  perHolder: 3,
  waitingPerHolder: 50,
  waitMs: 10_000,
  restFactor: 1,
};

const QUARANTINED: QueryTrouble = {
  errorType: 'execution',
  error: 'the metrics store ended while this query ran; it is refused for an hour: write it in another way',
};

/** @param store undefined: there is none, and every question is answered so. */
export function createAskMetrics(store: MetricsStore | undefined): AskMetrics {
  const slots = new Slots(SHARES);
  const quarantine = new QueryQuarantine();

  /** Asks with what the query's time is left, and stays until the answer has been read. */
  async function askInTime(
    { tenantId, what, parameters, until }: StoreQuery,
    signal: AbortSignal,
    answered: (answer: MetricsAnswer) => void,
  ): Promise<void> {
    const timeoutMs = Math.ceil(until - performance.now());
    if (!store || timeoutMs <= 0) return answered(store ? { outcome: 'timeout' } : { outcome: 'away' });
    const running = quarantine.begin(queryText(what, parameters));
    if (!running) return answered({ outcome: 'quarantined' });
    try {
      const answer = await store.read(tenantId, what, parameters, { timeoutMs, signal });
      answered(answer);
      if (answer.outcome === 'lost' || (answer.outcome === 'answered' && (await answer.end) === 'lost'))
        running.wasLost();
    } finally {
      running.end();
    }
  }

  return async (tenantId, what, query, { signal, maxBytes }) => {
    if (isTrouble(query)) return query;
    if (!store) return AWAY;
    const asked = { tenantId, what, parameters: query.parameters, until: performance.now() + query.timeoutMs };
    const { promise, resolve, reject } = Promise.withResolvers<MetricsAnswer>();
    slots.run(tenantId, () => askInTime(asked, signal, resolve), { signal }).catch(reject);
    let answer: MetricsAnswer;
    try {
      answer = await promise;
    } catch (error) {
      if (error instanceof DomainError) return { errorType: 'unavailable', error: error.message };
      throw error;
    }
    if (answer.outcome === 'quarantined') return QUARANTINED;
    if (answer.outcome !== 'answered') return answer.outcome === 'timeout' ? TIMED_OUT : AWAY;
    if (answer.status !== 200) return troubleOf(answer.status, await textOf(answer.body, REFUSAL_MAX_BYTES));
    return { json: cleanedAnswer(answer.body, { maxBytes, isOfNames: what === 'labels' }) };
  };
}

type MetricsAnswer = StoreAnswer | { outcome: 'quarantined' };

interface StoreQuery {
  tenantId: string;
  what: StoreRead;
  parameters: StoreParameters;
  /** When it is over, by the process' clock. */
  until: number;
}

/** What makes it the same query, whenever and about whatever span it is asked. */
const queryText = (what: StoreRead, parameters: StoreParameters): string =>
  JSON.stringify([what, parameters.filter(([name]) => name === 'query' || name === 'match[]')]);

async function textOf(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString();
    if (text.length > maxBytes) break;
  }
  return text;
}

const MEGABYTE = 1024 * 1024;

/** What to say when an answer is too large; undefined: it was something else. */
export const tooLarge = (error: unknown): QueryTrouble | undefined =>
  error instanceof AnswerTooLargeError
    ? {
        errorType: 'execution',
        error: `the answer is larger than ${error.maxBytes / MEGABYTE} MB; ask for fewer series or points`,
      }
    : undefined;
