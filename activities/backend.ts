import { HOOKS } from '../domain/areas.ts';
import { join, resolve } from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import type { FencedReads } from '../domain/kernel/data/fenced-reads.ts';
import type { ChatPlatform } from '../domain/people/chat/chat-platform.port.ts';
import { createOrgPolls, type OrgPolls } from '../domain/orgs/org-limits/org-polls.ts';
import { createOrgConnections } from '../domain/orgs/crm-orgs/tokens/org-connections.ts';
import type { CrmParts } from '../domain/orgs/crm-orgs/org-scope.ts';
import { connectDatabase } from '../domain/kernel/data/database.ts';
import { connectOrm } from '../domain/orm.ts';
import type { DatabaseAccess } from '../domain/kernel/data/pool.ts';
import { createAskModel } from '../domain/insight/language-models/ask-model.ts';
import { createLockQueue } from '../domain/delivery/environment-locks/lock-queue.ts';
import type { LockQueue } from '../domain/delivery/environment-locks/lock-queue.port.ts';
import { programLeaseTimes } from '../domain/delivery/flows/gates/lock-lost-rules.ts';
import { type Commands, loadCommands } from '../domain/delivery/flows/programs/commands-file.ts';
import { createIngest, type IngestMetrics } from '../domain/insight/metrics/ingest.mutations.ts';
import type { MetricsStore } from '../domain/insight/metrics/metrics-store.port.ts';
import { happeningEntry } from '../domain/kernel/system/happening-log-rules.ts';
import type { Dependency, Outages, ReportAway } from '../domain/kernel/system/outages.ts';
import { createOwnMetrics } from '../domain/insight/metrics/own-metrics.ts';
import type { ObjectStore } from '../domain/kernel/objects/object-store.port.ts';
import type { BrowserProvider } from '../domain/review/browser-sessions/browser-provider.port.ts';
import type { Recordings } from '../domain/review/browser-sessions/recordings/replays.mutations.ts';
import type { Actor } from '../domain/kernel/shared/actor.ts';
import { type Config, ConfigError, internalUrlOf, mocksUrlOf, publicUrlOf } from '../domain/kernel/settings/config.ts';
import { createEncryption, type Encryption } from '../domain/kernel/encryption/encryption.ts';
import { type Keys, loadKeys } from '../domain/kernel/encryption/keys.ts';
import { type UnitOfWork, unitOfWork, type CommitSignals, type WorkContext } from '../domain/unit-of-work.ts';
import { configuredAddresses, type OutboundAddresses } from '../domain/kernel/outbound/outbound-addresses.ts';
import { createOwnListeners, type OwnListeners } from '../domain/kernel/outbound/own-listeners.ts';
import {
  findOwnMocks,
  type HostAddresses,
  withOwnMocks,
  withoutAny,
  withoutOwn,
} from '../domain/mocks/serving/own-mocks.ts';
import { lockQueueMessages } from '../workflows/delivery/environment-locks/environment-lock.contract.ts';
import type { Launch } from '../workflows/launch.ts';
import type { FindWorkTracker } from '../domain/work/work-items/work-tracker.port.ts';
import { createCommitSignals } from '../workflows/commit-signals.contract.ts';
import { signalMetricsLane } from '../workflows/insight/metrics/metrics-lane.contract.ts';
import { createBrowserbase } from './adapters/browserbase/browserbase.ts';
import { createBrowserbaseAccess } from './adapters/browserbase/browserbase-access.ts';
import { createCrmPlatform } from './adapters/crm/crm-platform.ts';
import { createGitBranches } from './adapters/git-hosts/git-branches.ts';
import { createGitHosts } from './adapters/git-hosts/git-hosts.ts';
import { createGitMirrors } from './adapters/git/git-mirrors.ts';
import { metricsDependency } from './adapters/metrics/metrics-dependency.ts';
import { createMetricsStore } from './adapters/metrics/metrics-store.ts';
import { createLanguageModels } from './adapters/models/language-models.ts';
import { createMockUpstream } from './adapters/mocks/mock-upstream.ts';
import { createProgramRunner } from './adapters/programs/program-runner.ts';
import { createSalesforceAnalyzer } from './adapters/analyzer/salesforce-analyzer.ts';
import { createSlackPlatform } from './adapters/messages/slack-platform.ts';
import { createWebhookSender } from './adapters/messages/webhook-sender.ts';
import { createWorkTrackers } from './adapters/trackers/work-trackers.ts';
import { databaseAccess } from './database-access.ts';
import type { Deps } from './deps.ts';
import { CommandRuns } from './delivery/flows/command-runs.ts';
import { connectStores } from './stores.ts';

/** What the API and the workers share; made once per process, by tests from the same configuration. */
export interface Backend {
  /** Connections with the role of the application, to which row-level security applies. */
  access: DatabaseAccess;
  orm: MikroORM;
  reads: FencedReads;
  /** A unit of work in the actor's tenant. */
  actingAs: (actor: Actor, context?: Omit<WorkContext, 'actor' | 'signals'>) => UnitOfWork;
  launch: Launch;
  signals: CommitSignals;
  environmentLocks: LockQueue;
  keys: Keys;
  encryption: Encryption;
  objects: ObjectStore;
  /** Which addresses outgoing requests may go to. */
  outbound: OutboundAddresses;
  /** Addresses of git hosts and CRM orgs that may be called; mock workspaces may stand in for them. */
  hosts: HostAddresses;
  /** Addresses that mock scenarios may pass requests on to. */
  mockUpstreams: OutboundAddresses;
  /** Where this service listens on this machine, so that mock scenarios do not call it. */
  listeners: OwnListeners;
  chat: {
    platform: ChatPlatform;
    /** Root of its interface. */
    apiUrl: string;
  };
  /** The address under which clients reach the service, for links. */
  publicUrl: string;
  crm: CrmParts;
  /** Asks orgs for their limits. */
  orgPolls: OrgPolls;
  findWorkTracker: FindWorkTracker;
  browserbase: BrowserProvider;
  recordings: Recordings;
  /** Undefined where there is none: metrics are kept for it, and cannot be queried. */
  metricsStore: MetricsStore | undefined;
  metrics: {
    intake: IngestMetrics;
    /** There is something for the store. */
    signalLane: () => void;
  };
  /** Programs that the operator allows, by type of flow. */
  commands: Commands;
  log: Logger;
  now: () => Date;
  /** Told of database connections that were lost or refused. */
  onConnectionLost: ReportAway;
  /** What it reaches over the network, but for the engine. */
  dependencies: readonly Dependency[];
  close: () => Promise<void>;
}

export interface BackendParts {
  config: Config;
  launch: Launch;
  log: Logger;
  outages: Outages;
}

/** Connects to nothing yet: connections are made when they are needed. */
export function createBackend({ config, launch, log, outages }: BackendParts): Backend {
  const access = databaseAccess(config);
  const onConnectionLost = outages.reporter('postgresql');
  const stores = connectStores({ config, access, openOrm: connectOrm, outages });
  const { orm, reads, objects } = stores;
  const signals: CommitSignals = {
    ...createCommitSignals(launch, stores.laneNames),
    happened(tenant, events) {
      ownMetrics.measure(tenant, events);
      for (const event of events) {
        const entry = happeningEntry(event, tenant.tenantSlug);
        if (entry) log[entry.level](entry.members, entry.said);
      }
    },
  };
  const keys = loadKeys(config);
  const outbound = configuredAddresses(config);
  const findOwn = findOwnMocks({
    publicUrl: publicUrlOf(config),
    mocksUrl: mocksUrlOf(config),
    internalUrl: config.INTERNAL_URL === undefined ? mocksUrlOf(config) : internalUrlOf(config),
  });
  const hosts = withOwnMocks(outbound, findOwn);
  const listeners = createOwnListeners([config.PORT, config.METRICS_PORT]);
  const encryption = createEncryption(keys.encryptionKeys);
  const actingAs: Backend['actingAs'] = (actor, context = {}) =>
    unitOfWork(orm, { hooks: HOOKS, ...context, actor, signals });
  const now = () => new Date();
  const platform = createCrmPlatform({
    addresses: hosts,
    apiVersionMax: config.CRM_API_VERSION_MAX,
    scratchAuthField: config.CRM_SCRATCH_AUTH_FIELD,
    timeouts: { callMs: config.CRM_CALL_SECONDS * 1_000 },
  });
  const slack = createSlackPlatform({ addresses: outbound, apiUrl: config.SLACK_API_URL });
  const workTrackers = createWorkTrackers(
    { outbound: hosts, actingAs, encryption, now },
    config.WORK_TRACKER_TIMEOUT_SECONDS * 1_000,
  );
  const metricsStore =
    config.METRICS_URL === undefined ? undefined : createMetricsStore(config.METRICS_URL, outages.reporter('metrics'));
  const metrics = {
    intake: createIngest({ seriesPerDay: config.METRICS_SERIES_PER_DAY, bufferRows: config.METRICS_BUFFER_ROWS }),
    signalLane: () => {
      if (metricsStore) signalMetricsLane(launch);
    },
  };
  const ownMetrics = createOwnMetrics({ ...metrics, actingAs, now, log });
  const browserbase = createBrowserbase({
    outbound: hosts,
    accessOf: createBrowserbaseAccess({ actingAs, encryption, now }),
    now,
    timeoutMs: config.BROWSER_PROVIDER_TIMEOUT_SECONDS * 1_000,
    pace: config.SERVICE_PACE,
  });
  const measuring = metricsDependency(metricsStore);
  outages.watch(measuring);
  const connections = createOrgConnections({ platform, reads, actingAs, encryption, now, log });
  return {
    access,
    orm,
    reads,
    actingAs,
    launch,
    signals,
    environmentLocks: createLockQueue(lockQueueMessages(launch)),
    keys,
    encryption,
    objects,
    outbound,
    hosts,
    mockUpstreams:
      config.isProduction && config.MOCKS_URL === undefined
        ? withoutAny(outbound)
        : withoutOwn(outbound, findOwn, listeners),
    listeners,
    chat: { platform: slack, apiUrl: config.SLACK_API_URL },
    publicUrl: publicUrlOf(config),
    crm: {
      platform,
      connections,
      outbound: hosts,
      encryption,
    },
    orgPolls: createOrgPolls({
      connections,
      reads,
      actingAs,
      now,
      everyMs: config.ORG_LIMITS_EVERY_MINUTES * 60_000,
      log,
    }),
    findWorkTracker: workTrackers.find,
    browserbase,
    recordings: { browserbase, local: stores.recordings },
    metricsStore,
    metrics,
    commands: loadCommands(config.COMMANDS_FILE),
    log,
    now,
    onConnectionLost,
    dependencies: [...stores.dependencies, measuring],
    async close() {
      await ownMetrics.settled();
      await Promise.all([
        stores.close(),
        platform.close(),
        slack.close(),
        workTrackers.close(),
        browserbase.close(),
        metricsStore?.close(),
      ]);
    },
  };
}

/** Throws `ConfigError` for a metrics store that would not keep what is sent as it is meant; one that is away may come. */
export async function assertFitMetricsStore({ METRICS_URL: url }: Config): Promise<void> {
  if (url === undefined) return;
  const store = createMetricsStore(url);
  const problem = await store.problem().finally(() => store.close());
  if (problem !== undefined) throw new ConfigError(problem);
}

/** For the connections of the delivery lanes (ADR 5). */
const LANE_SETTINGS = {
  // Their statements find rows by an index. A plan that was made while the tables were empty would read all rows.
  enable_seqscan: 'off',
  // A delivery stays pending until its outcome is on disk: what a crash of the database loses is sent again.
  synchronous_commit: 'off',
};

export interface WorkerBackend {
  deps: Deps;
  /** Closes the backend, too. */
  close: () => Promise<void>;
}

/** What the activities of a worker reach beside what it shares with the API. */
export function createWorkerBackend(backend: Backend, config: Config): WorkerBackend {
  const { access, actingAs, encryption, outbound, hosts, log, onConnectionLost } = backend;
  const systemAccess = { ...access, role: `${config.DATABASE_APP_ROLE}_system` };
  const system = connectDatabase(systemAccess, onConnectionLost);
  const lanes = connectDatabase({ ...systemAccess, settings: LANE_SETTINGS }, onConnectionLost);
  const webhookSender = createWebhookSender(outbound);
  const mockUpstream = createMockUpstream(backend.mockUpstreams, backend.publicUrl);
  const gitHosts = createGitHosts({ addresses: hosts, actingAs, encryption });
  const languageModels = createLanguageModels({
    addresses: hosts,
    callTimeoutMs: config.AI_CALL_TIMEOUT_SECONDS * 1_000,
  });
  const gitFolder = resolve(config.GIT_MIRROR_DIR ?? join(config.DATA_DIR, 'git'));
  const programLease = programLeaseTimes(config.SERVICE_PACE);
  const remotes = { folder: gitFolder, addresses: outbound, allowLocal: config.ALLOW_LOCAL_GIT };
  return {
    deps: {
      ...backend,
      system: system.db,
      metrics: new Registry(),
      askModel: createAskModel({ actingAs, encryption, log, callModel: languageModels.call }),
      browsers: {
        find: (name) => (name === 'browserbase' ? backend.browserbase : undefined),
        findReplays: (name) => (name === 'external' ? undefined : backend.recordings[name]),
        recordingDays: config.BROWSER_RECORDING_DAYS,
        sessionsPerTenant: config.BROWSER_SESSIONS_PER_TENANT,
      },
      flows: {
        commands: backend.commands,
        commandRuns: new CommandRuns({
          ...backend,
          runProgram: createProgramRunner(programLease.graceMs),
          leaseTimes: programLease,
          apiUrl: internalUrlOf(config),
        }),
      },
      analysis: {
        analyzer: createSalesforceAnalyzer({
          folder: resolve(config.ANALYSIS_DIR ?? join(config.DATA_DIR, 'analysis')),
          heapMb: config.ANALYSIS_HEAP_MB,
        }),
        atOnce: config.ANALYSIS_AT_ONCE,
      },
      git: {
        findHost: gitHosts.find,
        findPullRequestHost: gitHosts.findPullRequests,
        createBranch: createGitBranches(remotes),
        mirrors: createGitMirrors({ ...remotes, log }),
        fetchEverySeconds: config.GIT_FETCH_EVERY_SECONDS,
      },
      mocks: { forward: mockUpstream.forward },
      orgExplorer: {
        indexOnly: new Set(config.ORG_EXPLORER_INDEX_ONLY),
        pauseSeconds: config.ORG_EXPLORER_PAUSE_SECONDS,
        pollMs: config.ORG_EXPLORER_POLL_MS,
      },
      retention: {
        reviewDays: config.REVIEW_RETENTION_DAYS,
        pullRequestDays: config.PULL_REQUEST_RETENTION_DAYS,
        mockCallDays: config.MOCK_CALL_RETENTION_DAYS,
      },
      webhooks: { lanes: lanes.db, send: webhookSender.send, logRetentionDays: config.WEBHOOK_LOG_RETENTION_DAYS },
    },
    async close() {
      await Promise.all([
        backend.close(),
        system.close(),
        lanes.close(),
        webhookSender.close(),
        gitHosts.close(),
        languageModels.close(),
        mockUpstream.close(),
      ]);
    },
  };
}
