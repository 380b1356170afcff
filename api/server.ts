import { createServer, type Server } from 'node:http';
import type { Logger } from 'pino';
import { createObjectStore } from '../activities/adapters/object-store.ts';
import { connectOrm } from '../domain/data/orm.ts';
import { createFencedReads } from '../domain/data/fenced-reads.ts';
import { connectPool } from '../domain/data/pool.ts';
import { createLockTurns } from '../domain/environment-locks/lock-turns.ts';
import { createSmtpMailer } from '../activities/adapters/smtp-mailer.ts';
import { createOpenInvitation } from '../domain/invitations/invitations.queries.ts';
import { createTokenRing } from '../domain/auth/token-ring.ts';
import { createAccessTokens } from '../domain/auth/access-tokens.ts';
import { createAuthenticator } from '../domain/auth/authenticator.ts';
import { createSignInThrottle } from '../domain/auth/sign-in-throttle.ts';
import { createSecondFactors } from '../domain/auth/second-factor.ts';
import { createSignIn } from '../domain/auth/sign-in.ts';
import { loadCommands } from '../domain/flows/commands-file.ts';
import { configuredSignInHosts } from '../activities/adapters/sign-in-hosts.ts';
import { configuredOpenIdProvider } from '../activities/adapters/openid-provider.ts';
import { createCommitGraphCache } from '../domain/git/commit-graph-cache.ts';
import { createDocumentStore } from '../domain/documents/document-store.ts';
import { createAnalysisCache } from '../domain/releases/analysis-cache.ts';
import { createIdempotency } from '../domain/idempotency/idempotency.queries.ts';
import { createDownloadLinks } from '../domain/objects/download-links.ts';
import { objectStoreLocation } from '../domain/objects/object-store-location.ts';
import { createEncryption } from '../domain/shared/encryption.ts';
import { loadKeys } from '../domain/shared/keys.ts';
import { configuredAddresses } from '../domain/webhooks/outbound-addresses.ts';
import { createTriggerQueue } from '../domain/webhooks/trigger-queue.ts';
import { lockQuestions } from '../workflows/environment-locks/environment-lock.contract.ts';
import type { Launch } from '../workflows/launch.ts';
import { createWakes } from '../workflows/wakes.contract.ts';
import { createApp } from './app.ts';
import type { ApiConfig } from './config.ts';
import { cookiesOf } from './http/cookies.ts';
import type { Dependency } from './http/health.ts';
import type { HttpMetrics } from './http/metrics.ts';
import { createDomainTurns } from './release-candidates/domain-turns.ts';
import { createRateLimit } from './http/rate-limit.ts';
import { routes } from './routes.ts';

export interface ApiParts {
  config: ApiConfig;
  log: Logger;
  metrics: HttpMetrics;
  launch: Launch;
  /** Dependencies beside the database. */
  dependencies: readonly Dependency[];
}

export interface ApiServer {
  server: Server;
  /** From now on not ready: load balancers look elsewhere, while requests under way go on. */
  announceStop: () => void;
  /** Closes the connections to the database; after the server is closed. */
  disconnect: () => Promise<void>;
}

/** What mail of the service comes from, unless it is configured. */
const senderOf = ({ MAIL_FROM, publicUrl }: ApiConfig): string =>
  MAIL_FROM ?? `Quayside <no-reply@${new URL(publicUrl).hostname}>`;

/** Puts the API together; it listens nowhere yet. */
export function createApi({ config, log, metrics, launch, dependencies }: ApiParts): ApiServer {
  const access = {
    databaseUrl: config.DATABASE_URL,
    role: config.DATABASE_APP_ROLE,
    poolSize: config.DATABASE_POOL_SIZE,
  };
  const onLost = (error: Error) => log.warn({ err: error }, 'database connection lost');
  const orm = connectOrm(access, onLost);
  const reads = createFencedReads(access, onLost);
  const pool = connectPool(access, onLost);
  const keys = loadKeys(config);
  const ring = createTokenRing(keys.tokenKeys);
  const accessTokens = createAccessTokens(ring, config.publicUrl);
  const encryption = createEncryption(keys.encryptionKeys);
  const now = () => new Date();
  const identityProvider = configuredOpenIdProvider(config);
  const secondFactors = createSecondFactors(orm, encryption);
  const signInThrottle = createSignInThrottle(pool);
  const wakes = createWakes(launch);
  let isStopping = false;
  const app = createApp(routes, {
    orm,
    reads,
    authenticator: createAuthenticator(pool, accessTokens, identityProvider, (error) =>
      log.warn({ err: error }, 'last use of a token not noted'),
    ),
    cookies: cookiesOf(config.publicUrl),
    idempotency: createIdempotency(encryption),
    tokenLimit: createRateLimit('token', config.RATE_LIMIT_PER_MINUTE),
    addressLimit: createRateLimit('address', config.AUTH_RATE_LIMIT_PER_MINUTE),
    adapters: {
      launch,
      encryption,
      objects: createObjectStore(objectStoreLocation(config)),
      mail: config.SMTP_URL === undefined ? undefined : createSmtpMailer(config.SMTP_URL, senderOf(config)),
      openInvitation: createOpenInvitation(pool),
      downloads: createDownloadLinks(ring, config.publicUrl),
      domainTurns: createDomainTurns(launch),
      lockTurns: createLockTurns(lockQuestions(launch)),
      signIn: createSignIn(orm, { accessTokens, encryption, secondFactors, signInThrottle, identityProvider, now }),
      signInThrottle,
      secondFactors,
      signInHosts: configuredSignInHosts(config),
      ...(identityProvider && { identityProvider }),
      commitGraphs: createCommitGraphCache(),
      analyses: createAnalysisCache(config.ROLLING_ANALYSIS_CACHE_TTL_SECONDS),
      triggers: createTriggerQueue(pool, wakes.lanes),
      outbound: configuredAddresses(config),
      commands: loadCommands(config.COMMANDS_FILE),
      workflowUrl: workflowUrls(config),
      documents: createDocumentStore({ pool, kept: config.DOCUMENT_VERSIONS, wakeLanes: wakes.lanes }),
    },
    wakes,
    publicUrl: config.publicUrl,
    now,
    log,
    metrics,
    accessTokens,
    dependencies: [{ name: 'postgresql', check: () => pool.query('select 1') }, ...dependencies],
    isStopping: () => isStopping,
    basePath: config.BASE_PATH,
    isBehindProxy: config.TRUST_PROXY,
  });
  const server = createServer(app.callback());
  return {
    server,
    announceStop() {
      isStopping = true;
    },
    async disconnect() {
      await Promise.all([orm.close(true), reads.close(), pool.end()]);
    },
  };
}

const workflowUrls =
  ({ TEMPORAL_UI_URL: root, TEMPORAL_NAMESPACE: namespace }: ApiConfig) =>
  (workflowId: string): string | undefined =>
    root === undefined
      ? undefined
      : `${root.replace(/\/$/, '')}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`;
