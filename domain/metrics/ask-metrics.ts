import { AnswerTooLargeError, AWAY, cleanedAnswer, TIMED_OUT, troubleOf } from './answer-rules.ts';
import { type MetricsStore, type StoreRead, TENANT_LABEL } from './metrics-store.port.ts';
import { type CheckedQuery, isTrouble, type QueryTrouble } from './query-rules.ts';

/** An answer in Prometheus' form, as it comes. */
export interface MetricAnswer {
  json: AsyncIterable<Buffer>;
}

/** Asks the store for what one tenant has; the signal ends that. */
export type AskMetrics = (
  tenantId: string,
  what: StoreRead,
  query: CheckedQuery | QueryTrouble,
  signal: AbortSignal,
) => Promise<MetricAnswer | QueryTrouble>;

/** A refusal of the store is short. */
const REFUSAL_MAX_BYTES = 64 * 1024;

export const createAskMetrics =
  (store: MetricsStore | undefined): AskMetrics =>
  async (tenantId, what, query, signal) => {
    if (isTrouble(query)) return query;
    if (what === `label/${TENANT_LABEL}/values`) return { json: one('{"status":"success","data":[]}') };
    if (!store) return AWAY;
    const answer = await store.read(tenantId, what, query.parameters, { timeoutMs: query.timeoutMs, signal });
    if (answer.outcome !== 'answered') return answer.outcome === 'away' ? AWAY : TIMED_OUT;
    if (answer.status !== 200) return troubleOf(answer.status, await textOf(answer.body, REFUSAL_MAX_BYTES));
    const json = cleanedAnswer(answer.body);
    if (what !== 'labels') return { json };
    const names = (JSON.parse((await wholeAnswer(json)).toString()) as { data: string[] }).data;
    return { json: one(JSON.stringify({ status: 'success', data: names.filter((name) => name !== TENANT_LABEL) })) };
  };

// oxlint-disable-next-line require-await
async function* one(json: string): AsyncGenerator<Buffer> {
  yield Buffer.from(json);
}

/** All of an answer. Throws `AnswerTooLargeError`. */
export async function wholeAnswer(json: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of json) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function textOf(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString();
    if (text.length > maxBytes) break;
  }
  return text;
}

/** What to say when an answer is too large; undefined: it was something else. */
export const tooLarge = (error: unknown): QueryTrouble | undefined =>
  error instanceof AnswerTooLargeError
    ? { errorType: 'execution', error: 'the answer is larger than 50 MB; ask for fewer series or points' }
    : undefined;
