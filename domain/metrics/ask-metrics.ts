import { AWAY, TIMED_OUT, troubleOf } from './answer-rules.ts';
import { AnswerTooLargeError, cleanedAnswer } from './cleaned-answer.ts';
import { type MetricsStore, type StoreRead, TENANT_LABEL } from './metrics-store.port.ts';
import { type CheckedQuery, isTrouble, type QueryTrouble } from './query-rules.ts';

/** An answer in Prometheus' form, as it comes. */
export interface MetricAnswer {
  json: AsyncIterable<Buffer>;
}

export interface AskOptions {
  /** Ends it. */
  signal: AbortSignal;
  /** Of an answer that is longer, reading throws `AnswerTooLargeError`. */
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

export const createAskMetrics =
  (store: MetricsStore | undefined): AskMetrics =>
  async (tenantId, what, query, { signal, maxBytes }) => {
    if (isTrouble(query)) return query;
    if (what === `label/${TENANT_LABEL}/values`) return { json: one('{"status":"success","data":[]}') };
    if (!store) return AWAY;
    const answer = await store.read(tenantId, what, query.parameters, { timeoutMs: query.timeoutMs, signal });
    if (answer.outcome !== 'answered') return answer.outcome === 'away' ? AWAY : TIMED_OUT;
    if (answer.status !== 200) return troubleOf(answer.status, await textOf(answer.body, REFUSAL_MAX_BYTES));
    return { json: cleanedAnswer(answer.body, { maxBytes, isOfNames: what === 'labels' }) };
  };

// oxlint-disable-next-line require-await
async function* one(json: string): AsyncGenerator<Buffer> {
  yield Buffer.from(json);
}

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
