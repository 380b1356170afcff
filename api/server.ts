import type { Server } from 'node:http';
import type { Logger } from 'pino';
import { createBackend } from '../activities/backend.ts';
import { TenantQueue } from '../domain/kernel/queues/tenant-queue.ts';
import { connectDatabase } from '../domain/kernel/data/database.ts';
import { createMockUpstream } from '../activities/adapters/mocks/mock-upstream.ts';
import { createSmtpMailer } from '../activities/adapters/messages/smtp-mailer.ts';
import { createOwnInvitations } from '../domain/identity/invitations/acceptance.mutations.ts';
import { createFindInvited } from '../domain/identity/invitations/invitations.queries.ts';
import { createTokenRing } from '../domain/kernel/encryption/token-ring.ts';
import { createAccessTokens } from '../domain/identity/auth/access-tokens.ts';
import { createAuthenticator } from '../domain/identity/auth/authenticator.ts';
import { createFindLiveAccess } from '../domain/review/browser-sessions/live/live-access.ts';
import { createLiveLinkTokens } from '../domain/review/browser-sessions/live/live-link-tokens.ts';
import { createHostTokens } from '../domain/review/browser-sessions/hosts/host-tokens.ts';
import { createSignInThrottle } from '../domain/identity/auth/sign-in-throttle.ts';
import { createSessions } from '../domain/identity/auth/sessions.ts';
import { createSignIn } from '../domain/identity/auth/sign-in.ts';
import { configuredSignInHosts } from '../activities/adapters/git-hosts/sign-in-hosts.ts';
import { configuredOpenIdProvider } from '../activities/adapters/identity/openid-provider.ts';
import { createAccessNotes } from '../domain/orgs/crm-orgs/doors/access-notes.ts';
import { createFindChatSenders } from '../domain/people/chat/chat-actions.queries.ts';
import { createCommitGraphCache } from '../domain/code/git/graph/commit-graph-cache.ts';
import { createDocumentStore } from '../domain/documents/document-store.ts';
import { findEnvironmentStates } from '../domain/delivery/releases/environment-states.ts';
import { createDeploymentLogCache } from '../domain/delivery/deployments/deployment-log-cache.ts';
import { assignmentOfOrg } from '../domain/review/review-assignments/review-assignments.queries.ts';
import { createCompression } from './http/server/compression.ts';
import { openAssignedOrg } from '../domain/review/review-pools/assigned-org-doors.ts';
import { createRuleCache } from '../domain/review/review-rules/rule-cache.ts';
import { createDashboardCache } from '../domain/orgs/org-limits/limit-dashboard.ts';
import { bytesOfText, createCacheMemory } from '../domain/kernel/caches/cache-memory.ts';
import { createRecordCall } from '../domain/mocks/recording/record-call.ts';
import { createMockQueues } from '../domain/mocks/serving/mock-queues.ts';
import { createAskMetrics } from '../domain/insight/metrics/ask-metrics.ts';
import { createIdempotency } from '../domain/kernel/idempotency/idempotency.mutations.ts';
import { createDownloadLinks } from '../domain/kernel/objects/download-links.ts';
import { createDeliveryQueue } from '../domain/events/webhooks/delivery-queue.ts';
import type { Launch } from '../workflows/launch.ts';
import { createApp } from './app.ts';
import { mocksHostOf, mocksUrlOf } from '../domain/kernel/settings/config.ts';
import type { ApiConfig } from './config.ts';
import { cookiesOf } from './http/cookies.ts';
import type { Dependency, Outages } from '../domain/kernel/system/outages.ts';
import { createHttpServer } from './http/server/http-server.ts';
import type { HttpMetrics } from './http/server/metrics.ts';
import { createMockServer } from './mocks/mock-server.ts';
import { createSocketSlots } from './http/sockets/socket-slots.ts';
import { createSocketServer } from './http/sockets/socket-routes.ts';
import { sessionSockets } from './review/browser-sessions/session-sockets.ts';
import { createReleaseEventQueue } from './delivery/release-candidates/release-event-queue.ts';
import { createRateLimit } from './http/rate-limit.ts';
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
  /** Closes sockets that were passed on to hosts: the server closes without waiting for them. */
  closeSockets: () => void;
  /** Closes the database connections; call it after closing the server. */
  disconnect: () => Promise<void>;
}

/** Connections of the mock server: what a crash of the database loses of a rehearsal is rehearsed again. */
const MOCK_CONNECTIONS = { poolSize: 4, isPipelined: true, settings: { synchronous_commit: 'off' } };

/**
 * Transactions of a tenant wait for each other's locks: with half of the connections they leave the others to the rest.
 * Those that wait for a connection hold none.
 */
const changesOf = (connections: number): TenantQueue =>
  new TenantQueue({
    works: 'changes',
    running: connections,
    runningPerTenant: Math.max(1, Math.floor(connections / 2)),
    waitingPerTenant: 1_000,
    waitMs: 30_000,
    restFactor: 0,
    isContinuedFirst: true,
  });

/** One address may send so many times the hooks of one project, since a host sends those of all its projects. */
const HOOKED_PROJECTS = 10;

/** The configured sender of mail, or a default. */
const senderOf = ({ MAIL_FROM, publicUrl }: ApiConfig): string =>
  MAIL_FROM ?? `Quayside <no-reply@${new URL(publicUrl).hostname}>`;

/** Creates the API server, which does not listen yet. */
export function createApi({ config, log, metrics, launch, outages, dependencies }: ApiParts): ApiServer {
  const backend = createBackend({ config, launch, log, outages });
  const { access, actingAs, orm, reads, signals, keys, encryption, now } = backend;
  const { db: database, close: closeDatabase } = connectDatabase(access, backend.onConnectionLost);
  const ring = createTokenRing(keys.tokenKeys);
  const accessTokens = createAccessTokens(ring, config.publicUrl);
  const identityProvider = configuredOpenIdProvider(config);
  const signInThrottle = createSignInThrottle(database);
  const authenticator = createAuthenticator({
    database,
    accessTokens,
    identityProvider,
    actingAs,
    onError: (error) => log.warn({ err: error }, 'last use of a token not recorded'),
  });
  const cookies = cookiesOf(config.publicUrl);
  const hostTokens = createHostTokens(ring, config.publicUrl);
  const liveLinkTokens = createLiveLinkTokens(ring, config.publicUrl);
  const findLiveAccess = createFindLiveAccess({ reads, tokens: liveLinkTokens, now });
  const tokenLimit = createRateLimit(database, {
    name: 'token',
    perMinute: config.RATE_LIMIT_PER_MINUTE,
    withoutStore: 'count-alone',
  });
  const socketSlots = createSocketSlots();
  const deploymentLogs = createDeploymentLogCache();
  const memory = createCacheMemory(config.CACHE_MB * 1_048_576);
  let isStopping = false;
  const app = createApp(routes, {
    orm,
    reads,
    changes: changesOf(config.DATABASE_POOL_SIZE),
    authenticator,
    cookies,
    idempotency: createIdempotency(encryption),
    tokenLimit,
    addressLimit: createRateLimit(database, {
      name: 'address',
      perMinute: config.AUTH_RATE_LIMIT_PER_MINUTE,
      withoutStore: 'refuse',
    }),
    hookAddressLimit: createRateLimit(database, {
      name: 'hooks-of-address',
      perMinute: config.HOOK_RATE_LIMIT_PER_MINUTE * HOOKED_PROJECTS,
      withoutStore: 'count-alone',
    }),
    trustedProxies: config.TRUST_PROXY,
    adapters: {
      launch,
      encryption,
      auth: {
        signIn: createSignIn({
          database,
          actingAs,
          accessTokens,
          encryption,
          signInThrottle,
          identityProvider,
          now,
        }),
        sessions: createSessions({ database, actingAs, accessTokens }),
        signInThrottle,
        signInHosts: configuredSignInHosts(config),
        ...(identityProvider && { identityProvider }),
        findReviewAssignment: (actor, target) => assignmentOfOrg(reads.as(actor), { ...target, email: actor.email }),
      },
      hooks: {
        limit: createRateLimit(database, {
          name: 'hooks',
          perMinute: config.HOOK_RATE_LIMIT_PER_MINUTE,
          withoutStore: 'count-alone',
        }),
      },
      hosts: backend.hosts,
      mocks: { upstreams: backend.mockUpstreams, url: mocksUrlOf(config) },
      browsers: {
        recordings: backend.recordings,
        replayLinkHours: config.REPLAY_LINK_HOURS,
        sessionsPerTenant: config.BROWSER_SESSIONS_PER_TENANT,
        hostTokens,
        liveLinkTokens,
        findLiveAccess,
        socketSlots,
      },
      chat: { ...backend.chat, findSenders: createFindChatSenders(database) },
      crm: { ...backend.crm, noteAccess: createAccessNotes(database, now), openAssignedOrg },
      documents: createDocumentStore({ database, kept: config.DOCUMENT_VERSIONS, signalLanes: signals.webhook }),
      environmentLocks: backend.environmentLocks,
      environments: { stateOf: findEnvironmentStates(deploymentLogs) },
      flows: { commands: backend.commands, workflowUrl: workflowUrls(config) },
      git: {
        commitGraphs: createCommitGraphCache(),
        remotes: { addresses: backend.outbound, allowLocal: config.ALLOW_LOCAL_GIT },
      },
      invitations: {
        mail: config.SMTP_URL === undefined ? undefined : createSmtpMailer(config.SMTP_URL, senderOf(config)),
        findInvited: createFindInvited(database),
        own: createOwnInvitations(database, actingAs),
      },
      metrics: { ...backend.metrics, ask: createAskMetrics(backend.metricsStore) },
      orgLimits: { polls: backend.orgPolls, dashboards: createDashboardCache(memory) },
      objects: {
        store: backend.objects,
        downloads: createDownloadLinks(ring, config.publicUrl),
      },
      releases: {
        eventQueue: createReleaseEventQueue(launch),
        analyses: memory.cache({ ttlSeconds: config.ROLLING_ANALYSIS_CACHE_TTL_SECONDS, bytesOf: bytesOfText }),
        deploymentLogs,
      },
      reviewRules: createRuleCache(),
      webhooks: { queue: createDeliveryQueue(database, signals.webhook), outbound: backend.outbound },
      workItems: { findTracker: backend.findWorkTracker },
    },
    signals,
    compressBody: createCompression(memory),
    publicUrl: config.publicUrl,
    now,
    log,
    metrics,
    accessTokens,
    dependencies: [...backend.dependencies, ...dependencies],
    isStopping: () => isStopping,
    basePath: config.BASE_PATH,
  });
  const timeouts = {
    headersMs: config.HEADERS_TIMEOUT_SECONDS * 1_000,
    requestMs: config.REQUEST_TIMEOUT_SECONDS * 1_000,
    keepAliveMs: config.KEEP_ALIVE_TIMEOUT_SECONDS * 1_000,
  };
  const mockDatabase = connectDatabase({ ...access, ...MOCK_CONNECTIONS }, backend.onConnectionLost);
  const mockUpstream = createMockUpstream(backend.mockUpstreams, config.publicUrl);
  const mocks = createMockServer({
    queues: createMockQueues({
      database: mockDatabase.db,
      actingAs,
      onError: (error) => log.warn({ err: error }, 'a request without a step was not announced'),
    }),
    forward: mockUpstream.forward,
    record: createRecordCall({ forward: mockUpstream.forward, actingAs, encryption }),
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
  const sockets = createSocketServer(sessionSockets, {
    authenticator,
    cookies,
    reads,
    hostTokens,
    findLiveAccess,
    tokenLimit,
    addressLimit: createRateLimit(database, {
      name: 'sockets-of-address',
      perMinute: config.RATE_LIMIT_PER_MINUTE,
      withoutStore: 'count-alone',
    }),
    trustedProxies: config.TRUST_PROXY,
    slots: socketSlots,
    basePath: config.BASE_PATH,
    publicUrl: config.publicUrl,
    now,
    log,
    metrics,
  });
  const serve = app.callback();
  const server = createHttpServer(
    (request, response) => {
      if (!mocks(request, response)) void serve(request, response);
    },
    timeouts,
    log,
    sockets,
  );
  backend.listeners.add(server);
  return {
    server,
    announceStop() {
      isStopping = true;
    },
    closeSockets: sockets.close,
    async disconnect() {
      await Promise.all([backend.close(), closeDatabase(), mockDatabase.close(), mockUpstream.close()]);
    },
  };
}

const workflowUrls =
  ({ TEMPORAL_UI_URL: root, TEMPORAL_NAMESPACE: namespace }: ApiConfig) =>
  (workflowId: string): string | undefined =>
    root === undefined
      ? undefined
      : `${root.replace(/\/$/, '')}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`;
