import type { IncomingMessage, ServerResponse } from 'node:http';
import { createMockUpstream } from '../../activities/adapters/mocks/mock-upstream.ts';
import { connectDatabase } from '../../domain/kernel/data/database.ts';
import type { OutboundAddresses } from '../../domain/kernel/outbound/outbound-addresses.ts';
import { mocksHostOf, mocksUrlOf } from '../../domain/kernel/settings/config.ts';
import { createRecordCall } from '../../domain/mocks/recording/record-call.ts';
import { createEvaluationThreads } from '../../domain/mocks/serving/evaluation-threads.ts';
import { createMockQueues } from '../../domain/mocks/serving/mock-queues.ts';
import type { ApiBase } from '../base.ts';
import { createRateLimit } from '../http/rate-limit.ts';
import type { HttpMetrics } from '../http/server/metrics.ts';
import { createMockServer } from './mock-server.ts';

export interface MockAdapters {
  /** The addresses that mock scenarios may record, and the one at which they answer, without a slash at its end. */
  mocks: { upstreams: OutboundAddresses; url: string };
}

declare module '../http/scope.ts' {
  interface Adapters extends MockAdapters {}
}

export const createMockAdapters = ({ backend: { mockUpstreams }, config }: ApiBase): MockAdapters => ({
  mocks: { upstreams: mockUpstreams, url: mocksUrlOf(config) },
});

export interface MockAnswering {
  /** Whether it is a request to a mock, which is then answered. */
  answer: (request: IncomingMessage, response: ServerResponse) => boolean;
  close: () => Promise<unknown>;
}

/** Connections of the mock server: what a crash of the database loses of a rehearsal is rehearsed again. */
const CONNECTIONS = { poolSize: 4, isPipelined: true, settings: { synchronous_commit: 'off' } };

export function createMockAnswering({ backend, config, database }: ApiBase, metrics: HttpMetrics): MockAnswering {
  const { access, actingAs, encryption, log } = backend;
  const own = connectDatabase({ ...access, ...CONNECTIONS }, backend.onConnectionLost);
  const threads = createEvaluationThreads();
  const { forward, close } = createMockUpstream(backend.mockUpstreams, config.publicUrl);
  const answer = createMockServer({
    queues: createMockQueues({
      database: own.db,
      actingAs,
      evaluateInThread: threads.evaluate,
      onCalls: (place, id) => backend.signals.changed(place, [{ topic: 'mock_call', id, repositoryIdentifier: null }]),
      onError: (error) => log.warn({ err: error }, 'a request without a step was not announced'),
    }),
    forward,
    record: createRecordCall({ forward, actingAs, encryption }),
    publicUrl: config.publicUrl,
    mocksUrl: mocksUrlOf(config),
    host: mocksHostOf(config),
    limit: createRateLimit(database, {
      name: 'mocks',
      perMinute: config.MOCK_RATE_LIMIT_PER_MINUTE,
      withoutStore: 'count-alone',
    }),
    unknownLimit: createRateLimit(database, {
      name: 'unknown-mocks',
      perMinute: config.RATE_LIMIT_PER_MINUTE,
      withoutStore: 'count-alone',
    }),
    trustedProxies: config.TRUST_PROXY,
    basePath: config.BASE_PATH,
    log,
    metrics,
  });
  return { answer, close: () => Promise.all([threads.close(), own.close(), close()]) };
}
