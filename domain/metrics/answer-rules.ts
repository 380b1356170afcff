import { TENANT_LABEL } from './metrics-store.port.ts';
import type { QueryTrouble } from './query-rules.ts';

/** Larger answers are refused, or break off. */
export const ANSWER_MAX_BYTES = 50 * 1024 * 1024;

/** In the store's JSON a quote within a text is escaped, so that these find members and never text. */
const TENANT_MEMBER = new RegExp(String.raw`([{,])"${TENANT_LABEL}":"(?:[^"\\]|\\.)*"(,?)`, 'g');
const WHOLE_TENANT = new RegExp(String.raw`^"${TENANT_LABEL}":"(?:[^"\\]|\\.)*"[,}]`);
const STATS = /,"stats":\{[^{}]*\}/g;
const PARTIAL = /"isPartial":(?:true|false),/g;

const cleaned = (json: string): string =>
  json
    .replace(TENANT_MEMBER, (_, before: string, after: string) => (before === '{' ? '{' : after))
    .replace(STATS, '')
    .replace(PARTIAL, '');

/** Where text can be cut so that what is taken out is whole on one side. Of that only the tenant may have brackets. */
function cutOf(text: string): number {
  const cut = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')) + 1;
  const tenant = text.slice(0, cut).lastIndexOf(`"${TENANT_LABEL}":"`);
  return tenant < 0 || WHOLE_TENANT.test(text.slice(tenant, cut)) ? cut : tenant - 1;
}

/** The store's JSON without the tenant's label and what Prometheus has not. Throws when it is too long. */
export async function* cleanedAnswer(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  // One character a byte: what is looked for is ASCII, and everything else stays as it is.
  let rest = '';
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > ANSWER_MAX_BYTES) throw new AnswerTooLargeError();
    rest += Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
    const cut = cutOf(rest);
    if (cut === 0) continue;
    yield Buffer.from(cleaned(rest.slice(0, cut)), 'latin1');
    rest = rest.slice(cut);
  }
  if (rest !== '') yield Buffer.from(cleaned(rest), 'latin1');
}

export class AnswerTooLargeError extends Error {
  constructor() {
    super(`the answer is larger than ${ANSWER_MAX_BYTES} bytes`);
  }
}

/** A whole answer with `result` on top, which is `data.result`, or `data` where that is a list. */
export function withResult(answer: string): string {
  const place = answer.indexOf('"data":');
  const data = answer.slice(place + '"data":'.length, answer.lastIndexOf('}'));
  const result = data.startsWith('{') ? data.slice(data.indexOf('"result":') + '"result":'.length, -1) : data;
  return `${answer.slice(0, answer.lastIndexOf('}'))},"result":${result}}`;
}

/** What the store's refusal means in Prometheus' words. */
export function troubleOf(status: number, body: string): QueryTrouble {
  if (status === 503 || status === 429) return TIMED_OUT;
  if (status !== 400 && status !== 422) return AWAY;
  const reason = reasonIn(body);
  if (/timeout|deadline|longer than|-search\.max(QueryDuration|ConcurrentRequests)/.test(reason)) return TIMED_OUT;
  return status === 400
    ? { errorType: 'bad_data', error: `invalid parameter "query": parse error: ${reason}` }
    : { errorType: 'execution', error: reason };
}

const NO_REASON = 'the query cannot be answered';

/** The store says first what it was asked, with what we added; then why. */
function reasonIn(body: string): string {
  let error: string;
  try {
    ({ error = '' } = JSON.parse(body) as { error?: string });
  } catch {
    // Not JSON: it says nothing to clients.
    return NO_REASON;
  }
  const asked = /^error when executing query="(?:[^"\\]|\\.)*" (?:for|on the time range) \([^)]*\): /.exec(error);
  const reason = asked ? error.slice(asked[0].length) : error;
  return reason.replaceAll(TENANT_LABEL, '…') || NO_REASON;
}

export const TIMED_OUT: QueryTrouble = { errorType: 'timeout', error: 'query timed out in query execution' };
export const AWAY: QueryTrouble = { errorType: 'unavailable', error: 'The metrics store is not available' };
