import { Client, type ClientPlugin, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

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
  const retries = makeGrpcRetryInterceptor(
    defaultGrpcRetryOptions({ initialIntervalMs: () => 20, maxIntervalMs: () => 1_000 }),
  );
  const connection = Connection.lazy({ address, interceptors: [retries] });
  return new Client({ connection, namespace, plugins });
}
