import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  type ClientPlugin,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';

export interface EngineAccess {
  address: string;
  namespace: string;
  plugins?: ClientPlugin[];
}

/**
 * A client that connects when it is first used, so that a process starts and serves while Temporal is away. Refused
 * calls are repeated after 20 ms, not after the SDK's second: a workflow that is about to complete refuses for some
 * milliseconds.
 */
export function createTemporalClient({ address, namespace, plugins = [] }: EngineAccess): Client {
  const standard = defaultGrpcRetryOptions({ initialIntervalMs: () => 20, maxIntervalMs: () => 1_000 });
  let isClosing = false;
  let lastRepeatAt = 0;
  const retries = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) => !isClosing && standard.retryableDecider(attempt, status),
    delayFunction(attempt, status) {
      const delayMs = standard.delayFunction(attempt, status);
      lastRepeatAt = Math.max(lastRepeatAt, Date.now() + delayMs);
      return delayMs;
    },
  });
  const connection = Connection.lazy({ address, interceptors: [retries] });
  const close = connection.close.bind(connection);
  // The SDK repeats calls from a timer: on a closed channel that throws where nobody catches, and ends the process.
  connection.close = async () => {
    isClosing = true;
    const remainingMs = lastRepeatAt - Date.now();
    if (remainingMs > 0) await sleep(remainingMs + 50);
    await close();
  };
  return new Client({ connection, namespace, plugins });
}
