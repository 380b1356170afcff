import type { Server } from 'node:http';
import type { Logger } from 'pino';
import { createBackend } from '../activities/backend.ts';
import { createCommitGraphCache } from '../domain/code/git/graph/commit-graph-cache.ts';
import { createDocumentStore } from '../domain/documents/document-store.ts';
import { createDeliveryQueue } from '../domain/events/webhooks/delivery-queue.ts';
import { createAskMetrics } from '../domain/insight/metrics/ask-metrics.ts';
import { createIdempotency } from '../domain/kernel/idempotency/idempotency.mutations.ts';
import { createDownloadLinks } from '../domain/kernel/objects/download-links.ts';
import { Slots } from '../domain/kernel/queues/slots.ts';
import type { Dependency, Outages } from '../domain/kernel/system/outages.ts';
import { createFindChatSenders } from '../domain/people/chat/chat-actions.queries.ts';
import { assignmentOfOrg } from '../domain/review/review-assignments/review-assignments.queries.ts';
import { openAssignedOrg } from '../domain/review/review-pools/assigned-org-doors.ts';
import type { Launch } from '../workflows/launch.ts';
import { createApp } from './app.ts';
import { type ApiBase, openApiBase } from './base.ts';
import type { ApiConfig } from './config.ts';
import { createDeliveryAdapters } from './delivery/parts.ts';
import { createRateLimit, type RateLimit } from './http/rate-limit.ts';
import type { Adapters } from './http/scope.ts';
import { createCompression } from './http/server/compression.ts';
import { createHttpServer } from './http/server/http-server.ts';
import type { HttpMetrics } from './http/server/metrics.ts';
import { createSocketServer } from './http/sockets/socket-routes.ts';
import { createIdentityParts } from './identity/parts.ts';
import { createPeopleAdapters, type PeopleAdapters } from './people/parts.ts';
import { createMockAdapters, createMockAnswering } from './mocks/parts.ts';
import { createOrgAdapters } from './orgs/parts.ts';
import { createReviewAdapters, type ReviewAdapters } from './review/parts.ts';
import { sessionSockets } from './review/browser-sessions/session-sockets.ts';
import { routes } from './routes.ts';

export interface ApiParts {
  config: ApiConfig;
  log: Logger;
  metrics: HttpMetrics;
  launch: Launch;
  outages: Outages;
  /** Dependencies in addition to those of the backend. */
  dependencies: readonly Dependency[];
}

export interface ApiServer {
  server: Server;
  /** Reports not ready from now on, so that load balancers send no more requests; those in flight continue. */
  announceStop: () => void;
  /** Closes sockets that were passed on to hosts, and ends streams: the server closes without waiting for them. */
  closeSockets: () => void;
  /** Closes the database connections; call it after closing the server. */
  disconnect: () => Promise<void>;
}

/**
 * Transactions of a tenant wait for each other's locks: with half of the connections they leave the others to the rest.
 * Those that wait for a connection hold none.
 */
const changesOf = (connections: number): Slots =>
  new Slots({
    works: 'changes',
    total: connections,
    perHolder: Math.max(1, Math.floor(connections / 2)),
    waitingPerHolder: 1_000,
    waitMs: 30_000,
    isContinuedFirst: true,
  });

/** One address may send so many times the hooks of one project, since a host sends those of all its projects. */
const HOOKED_PROJECTS = 10;

/** Creates the API server, which does not listen yet. */
export function createApi({ config, log, metrics, launch, outages, dependencies }: ApiParts): ApiServer {
  const backend = createBackend({ config, launch, log, outages });
  const { base, close: closeBase } = openApiBase(backend, config);
  const { database, cookies, memory } = base;
  const { orm, reads, signals, encryption, now } = backend;
  const { publicUrl, BASE_PATH: basePath, TRUST_PROXY: trustedProxies } = config;
  const limitOf: LimitOf = (name, perMinute, withoutStore = 'count-alone') =>
    createRateLimit(database, { name, perMinute, withoutStore });
  const identity = createIdentityParts(base, (actor, target) =>
    assignmentOfOrg(reads.as(actor), { ...target, email: actor.email }),
  );
  const review = createReviewAdapters(base);
  const people = createPeopleAdapters(base, routes);
  const tokenLimit = limitOf('token', config.RATE_LIMIT_PER_MINUTE);
  let isStopping = false;
  const app = createApp(routes, {
    orm,
    reads,
    changes: changesOf(config.DATABASE_POOL_SIZE),
    authenticator: identity.authenticator,
    cookies,
    idempotency: createIdempotency(encryption),
    tokenLimit,
    addressLimit: limitOf('address', config.AUTH_RATE_LIMIT_PER_MINUTE, 'refuse'),
    hookAddressLimit: limitOf('hooks-of-address', config.HOOK_RATE_LIMIT_PER_MINUTE * HOOKED_PROJECTS),
    trustedProxies,
    adapters: adaptersOf(base, config, limitOf, { identity, review, people }),
    signals,
    compressBody: createCompression(memory),
    publicUrl,
    now,
    log,
    metrics,
    accessTokens: identity.accessTokens,
    dependencies: [...backend.dependencies, ...dependencies],
    isStopping: () => isStopping,
    basePath,
  });
  const mocks = createMockAnswering(base, metrics);
  const sockets = createSocketServer(sessionSockets, {
    authenticator: identity.authenticator,
    cookies,
    reads,
    hostTokens: review.browsers.hostTokens,
    findLiveAccess: review.browsers.findLiveAccess,
    tokenLimit,
    addressLimit: limitOf('sockets-of-address', config.RATE_LIMIT_PER_MINUTE),
    trustedProxies,
    slots: review.browsers.socketSlots,
    basePath,
    publicUrl,
    now,
    log,
    metrics,
  });
  const serve = app.callback();
  const server = createHttpServer(
    (request, response) => {
      if (!mocks.answer(request, response)) void serve(request, response);
    },
    {
      headersMs: config.HEADERS_TIMEOUT_SECONDS * 1_000,
      requestMs: config.REQUEST_TIMEOUT_SECONDS * 1_000,
      keepAliveMs: config.KEEP_ALIVE_TIMEOUT_SECONDS * 1_000,
    },
    log,
    sockets,
  );
  backend.listeners.add(server);
  return {
    server,
    announceStop() {
      isStopping = true;
    },
    closeSockets() {
      sockets.close();
      people.changes.end();
    },
    async disconnect() {
      await people.changes.close();
      await Promise.all([backend.close(), closeBase(), mocks.close()]);
    },
  };
}

type LimitOf = (name: string, perMinute: number, withoutStore?: 'count-alone' | 'refuse') => RateLimit;

interface AreaAdapters {
  identity: ReturnType<typeof createIdentityParts>;
  review: ReviewAdapters;
  people: PeopleAdapters;
}

/** What the handlers of all areas use. */
const adaptersOf = (
  base: ApiBase,
  config: ApiConfig,
  limitOf: LimitOf,
  { identity, review, people }: AreaAdapters,
): Adapters => {
  const { backend, database, ring } = base;
  const { signals } = backend;
  return {
    launch: backend.launch,
    encryption: backend.encryption,
    hosts: backend.hosts,
    objects: { store: backend.objects, downloads: createDownloadLinks(ring, config.publicUrl) },
    webhooks: { queue: createDeliveryQueue(database, signals.webhook, signals.changed), outbound: backend.outbound },
    ...identity.adapters,
    documents: createDocumentStore({
      database,
      kept: config.DOCUMENT_VERSIONS,
      signalLanes: signals.webhook,
      changed: signals.changed,
    }),
    ...createMockAdapters(base),
    git: {
      commitGraphs: createCommitGraphCache(),
      remotes: { addresses: backend.outbound, allowLocal: config.ALLOW_LOCAL_GIT },
    },
    ...createOrgAdapters(base, openAssignedOrg),
    ...createDeliveryAdapters(base),
    ...review,
    ...people,
    workItems: { findTracker: backend.findWorkTracker },
    hooks: { limit: limitOf('hooks', config.HOOK_RATE_LIMIT_PER_MINUTE) },
    chat: { ...backend.chat, findSenders: createFindChatSenders(database) },
    metrics: { ...backend.metrics, ask: createAskMetrics(backend.metricsStore) },
  };
};
