import type { Client } from './generated/client/index.ts';
import type { Problem } from './generated/types.gen.ts';
import { ProblemError } from './problems.ts';
import { eventParser, type ServerSentEvent } from './server-sent-events.ts';
import { wait } from './waiting.ts';

/** Something changed; what it is now is asked from its own operation. */
export interface Change {
  topic: string;
  id: string | null;
  repositoryIdentifier: string | null;
}

export type ChangeEvent =
  /** The stream stands; what changed before is not told. */
  | { type: 'hello'; id: string; heartbeatSeconds: number; api?: unknown }
  | { type: 'changes'; id: string; changes: Change[] }
  /** Changes may have been missed: everything that is shown is to be asked again. */
  | { type: 'reset'; id: string; reason: string };

export interface ChangesOptions {
  client: Client;
  /** Only these. Absent: all that the role may read. */
  topics?: readonly string[];
  repositoryIdentifier?: string;
  /** Id of the last event that was handled, to go on behind it. */
  lastEventId?: string;
  signal?: AbortSignal;
  /** Called when a connection has ended or could not be made, before another one is tried. */
  onLost?: () => void;
  /** For tests: waiting and chance. */
  parts?: { wait?: typeof wait; random?: () => number };
}

/** Codes that may be over a while later. */
const PASSING: ReadonlySet<string> = new Set(['unreachable', 'unavailable', 'rate_limited', 'internal', 'timed_out']);
const RETURN_MS = 5_000;
const PAUSE_MAX_MS = 30_000;

/**
 * What changes in the service, as it happens (`GET /api/changes`), for as long as it is iterated. A connection that ends, or
 * falls silent for two heartbeats, is made again, and goes on behind the last event. Ends when the signal is aborted; throws
 * `ProblemError` where the stream is refused for good.
 */
export async function* changes(options: ChangesOptions): AsyncGenerator<ChangeEvent, void, undefined> {
  const {
    client,
    topics,
    repositoryIdentifier,
    signal,
    onLost,
    parts: { wait: pause = wait, random = Math.random } = {},
  } = options;
  let { lastEventId } = options;
  const query = { ...(topics && { topics: topics.join(',') }), ...(repositoryIdentifier && { repositoryIdentifier }) };
  for (let failures = 0; ; ) {
    try {
      signal?.throwIfAborted();
      for await (const { event, data, id } of connection(client, { query, lastEventId, signal })) {
        failures = 0;
        if (id !== '') lastEventId = id;
        if (event === 'bye') break;
        const shown = changeEvent(event, data, id);
        if (shown) yield shown;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof ProblemError && !isPassing(error.problem)) throw error;
      failures += 1;
    }
    onLost?.();
    try {
      // All clients of a process that stops come back at different moments.
      const pauseMs = failures === 0 ? random() * RETURN_MS : Math.min(PAUSE_MAX_MS, 500 * 2 ** failures) * random();
      await pause(pauseMs, signal);
    } catch {
      return;
    }
  }
}

const isPassing = ({ code, status }: Problem): boolean => PASSING.has(code) || status >= 500;

function changeEvent(event: string, data: string, id: string): ChangeEvent | undefined {
  const body: unknown = JSON.parse(data || '{}');
  switch (event) {
    case 'hello':
      return { heartbeatSeconds: 25, ...(body as object), type: 'hello', id };
    case 'changes':
      return { type: 'changes', id, changes: body as Change[] };
    case 'reset':
      return { reason: '', ...(body as object), type: 'reset', id };
    default:
      return undefined;
  }
}

interface Connection {
  query: Record<string, string>;
  lastEventId: string | undefined;
  signal: AbortSignal | undefined;
}

/** The events of one connection, until it ends or falls silent. */
async function* connection(
  client: Client,
  { query, lastEventId, signal }: Connection,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const ending = new AbortController();
  const end = () => ending.abort(signal?.reason);
  signal?.addEventListener('abort', end, { once: true });
  let silence: ReturnType<typeof setTimeout> | undefined;
  let heartbeatMs = 25_000;
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(() => ending.abort(), 2 * heartbeatMs);
  };
  try {
    heard();
    const { data, error } = await client.get<{ 200: ReadableStream<Uint8Array> }>({
      url: '/api/changes',
      query,
      parseAs: 'stream',
      security: [{ scheme: 'bearer', type: 'http' }],
      headers: { Accept: 'text/event-stream', ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) },
      signal: ending.signal,
    });
    if (data === undefined) throw new ProblemError(error as Problem);
    const parse = eventParser();
    const decoder = new TextDecoder();
    const reader = data.getReader();
    // The signal of a request is not always told to a body that has begun to come.
    ending.signal.addEventListener('abort', () => void reader.cancel().catch(() => undefined), { once: true });
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      heard();
      for (const event of parse(decoder.decode(read.value, { stream: true }))) {
        if (event.event === 'hello') heartbeatMs = heartbeatOf(event.data) ?? heartbeatMs;
        // As long as the caller is busy nothing is read, and nothing is silent.
        clearTimeout(silence);
        yield event;
        heard();
      }
    }
  } finally {
    clearTimeout(silence);
    signal?.removeEventListener('abort', end);
    ending.abort();
  }
}

function heartbeatOf(data: string): number | undefined {
  const { heartbeatSeconds } = JSON.parse(data) as { heartbeatSeconds?: unknown };
  return typeof heartbeatSeconds === 'number' && heartbeatSeconds > 0 ? heartbeatSeconds * 1_000 : undefined;
}
