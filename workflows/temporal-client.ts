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
}

/** With at most a second between them these last longer than the deadline of any call, which then ends it. */
const BUSY_ATTEMPTS = 60;
const BUSY = new Set<number>([GRPC.RESOURCE_EXHAUSTED, GRPC.ABORTED]);

/**
 * A client that connects when it is first used, so that a process starts and serves while Temporal is away. Calls are
 * retried after 20 ms, not after the SDK's second, because a workflow that is about to complete refuses them for some
 * milliseconds; what a busy server refuses is retried until the deadline of the call.
 */
export function createTemporalClient({ address, namespace, plugins = [] }: EngineAccess): Client {
  const byDefault = defaultGrpcRetryOptions({ initialIntervalMs: () => 20, maxIntervalMs: () => 1_000 });
  let isClosing = false;
  let lastRetryAt = 0;
  const retries = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) =>
      !isClosing && (BUSY.has(status.code) ? attempt < BUSY_ATTEMPTS : byDefault.retryableDecider(attempt, status)),
    delayFunction(attempt, status) {
      const delayMs = byDefault.delayFunction(attempt, status);
      lastRetryAt = Math.max(lastRetryAt, Date.now() + delayMs);
      return delayMs;
    },
  });
  const connection = Connection.lazy({ address, interceptors: [retries] });
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
