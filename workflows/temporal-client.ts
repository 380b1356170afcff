import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  type ClientPlugin,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';
import { GRPC } from './temporal-errors.ts';

export interface EngineAccess {
  address: string;
  namespace: string;
  plugins?: ClientPlugin[];
  /** Multiplies the pauses between attempts to reach an engine that is away; 1 but for tests. */
  pace?: number;
}

/** With at most a second between them these last longer than the deadline of any call, which then ends it. */
const BUSY_ATTEMPTS = 60;
/** With at most 250 ms between them some nine seconds: a call that has no deadline is given up then. */
const AWAY_ATTEMPTS = 40;
const AWAY_RETRY_MAX_MS = 250;
const BUSY = new Set<number>([GRPC.RESOURCE_EXHAUSTED, GRPC.ABORTED]);
/** By default the pauses between attempts to connect grow to two minutes: so long an engine that is back would be away. */
const RECONNECT = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 500 };

/**
 * A client that connects when it is first used, so that a process starts and serves while Temporal is away. Calls are
 * retried after 20 ms, not after the SDK's second, because a workflow that is about to complete refuses them for some
 * milliseconds. What a busy server refuses, and what cannot reach one that starts, is retried until the call's deadline.
 */
export function createTemporalClient({ address, namespace, plugins = [], pace = 1 }: EngineAccess): Client {
  const byDefault = defaultGrpcRetryOptions({
    initialIntervalMs: () => 20,
    maxIntervalMs: ({ code }) => (BUSY.has(code) ? 1_000 : AWAY_RETRY_MAX_MS * pace),
  });
  let isClosing = false;
  let lastRetryAt = 0;
  const retries = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) =>
      !isClosing &&
      (BUSY.has(status.code)
        ? attempt < BUSY_ATTEMPTS
        : attempt < AWAY_ATTEMPTS && byDefault.retryableDecider(0, status)),
    delayFunction(attempt, status) {
      const delayMs = byDefault.delayFunction(attempt, status);
      lastRetryAt = Math.max(lastRetryAt, Date.now() + delayMs);
      return delayMs;
    },
  });
  const connection = Connection.lazy({ address, interceptors: [retries], channelArgs: RECONNECT });
  const close = connection.close.bind(connection);
  // The SDK retries calls from a timer: on a closed channel that throws where nobody catches, and ends the process.
  connection.close = async () => {
    isClosing = true;
    const remainingMs = lastRetryAt - Date.now();
    if (remainingMs > 0) await sleep(remainingMs + 50);
    await close();
  };
  return new Client({ connection, namespace, plugins });
}
