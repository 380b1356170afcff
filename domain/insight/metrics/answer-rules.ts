import { TENANT_LABEL } from './metrics-store.port.ts';
import type { QueryTrouble } from './query-rules.ts';

/** Replies are not larger: they are refused, or break off. */
export const REPLY_MAX_BYTES = 50 * 1024 * 1024;

/** The part of a list of chunks between two offsets in bytes, not copied. */
function* between(chunks: readonly Buffer[], from: number, to: number): Generator<Buffer> {
  let offset = 0;
  for (const chunk of chunks) {
    const part = chunk.subarray(Math.max(0, from - offset), Math.max(0, to - offset));
    if (part.length > 0) yield part;
    offset += chunk.length;
  }
}

/** Enough to find where the data begins, and where it ends. */
const EDGE_BYTES = 256;

/** An answer with `result` on top, which is `data.result`, or `data` where that is a list. */
export function* withResult(chunks: readonly Buffer[]): Generator<Buffer> {
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  const text = (from: number, to: number) => Buffer.concat([...between(chunks, from, to)]).toString('latin1');
  const head = text(0, EDGE_BYTES);
  const tailFrom = Math.max(0, size - EDGE_BYTES);
  const end = tailFrom + text(tailFrom, size).lastIndexOf('}');
  const data = head.indexOf('"data":') + '"data":'.length;
  const isList = head[data] === '[';
  yield* between(chunks, 0, end);
  yield Buffer.from(',"result":');
  yield* isList
    ? between(chunks, data, end)
    : between(chunks, head.indexOf('"result":', data) + '"result":'.length, end - 1);
  yield Buffer.from('}');
}

/** What the store's refusal means in Prometheus' words. */
export function troubleOf(status: number, body: string): QueryTrouble {
  if (status === 503 || status === 429) return TIMED_OUT;
  if (status !== 400 && status !== 422) return AWAY;
  const reason = reasonIn(body);
  if (status === 400) return { errorType: 'bad_data', error: `invalid parameter "query": parse error: ${reason}` };
  return TIMEOUT.test(reason.replace(QUOTED, '""')) ? TIMED_OUT : { errorType: 'execution', error: reason };
}

/** What the caller wrote, as the store repeats it. */
const QUOTED = /"(?:[^"\\]|\\.)*"|`[^`]*`/g;
/** The store's own texts, which it gives with 422. */
const TIMEOUT =
  /timeout exceeded (?:before starting|during|while fetching) [^:]*: [\d.]+ seconds|(?:^|: )deadline exceeded$/;

const TENANT_FILTER = new RegExp(String.raw`${TENANT_LABEL}(?:\s*[=!~]+\s*\\?"[^"]*")?`, 'g');
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
  return reason.replace(TENANT_FILTER, '…') || NO_REASON;
}

export const TIMED_OUT: QueryTrouble = { errorType: 'timeout', error: 'query timed out in query execution' };
export const AWAY: QueryTrouble = { errorType: 'unavailable', error: 'The metrics store is not available' };
