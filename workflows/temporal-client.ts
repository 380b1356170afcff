import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientPlugin, Connection, isRetryableError, makeGrpcRetryInterceptor } from '@temporalio/client';
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
const BUSY_RETRY_MAX_MS = 1_000;
const BUSY = new Set<number>([GRPC.RESOURCE_EXHAUSTED, GRPC.ABORTED]);
/** By default the pauses between attempts to connect grow to two minutes: so long an engine that is back would be away. */
const RECONNECT = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 500 };

/**
 * A client that connects when it is first used, so that a process starts and serves while Temporal is away. Calls are
 * retried after 20 ms, not after the SDK's second, because a workflow that is about to complete refuses them for some
 * milliseconds. What a busy server refuses, and what cannot reach one that starts, is retried until the call's deadline.
 */
export function createTemporalClient({ address, namespace, plugins = [], pace = 1 }: EngineAccess): Client {
  let isClosing = false;
  let lastRetryAt = 0;
  const retries = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) =>
      !isClosing &&
      (BUSY.has(status.code) ? attempt < BUSY_ATTEMPTS : attempt < AWAY_ATTEMPTS && isRetryableError(status)),
    delayFunction(attempt, status) {
      const delayMs = pauseMs(attempt, BUSY.has(status.code) ? BUSY_RETRY_MAX_MS : AWAY_RETRY_MAX_MS * pace);
      lastRetryAt = Math.max(lastRetryAt, Date.now() + delayMs);
      return delayMs;
    },
  });
  const connection = Connection.lazy({ address, interceptors: [retries], channelArgs: RECONNECT });
  const close = connection.close.bind(connection);
  // The SDK retries calls from a timer: on a closed channel that throws where nobody catches, and ends the process.
  connection.close = async () => {
    isClosing = true;
    // A timer that is overdue, since the process was busy, fires before one that is set now.
    if (lastRetryAt > 0) await sleep(Math.max(0, lastRetryAt - Date.now()) + 50);
    await close();
  };
  return new Client({ connection, namespace, plugins });
}

/** Not the SDK's (1.24.0), which ignores the longest pause that it is given and grows to five seconds. */
const pauseMs = (attempt: number, maxMs: number): number =>
  Math.min(20 * 1.7 ** attempt, maxMs) * (0.8 + Math.random() * 0.4);
