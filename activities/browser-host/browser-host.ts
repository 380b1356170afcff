import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';
import type { Logger } from 'pino';
import {
  forgetHost,
  hostLives,
  openSessionsOfHost,
} from '../../domain/review/browser-sessions/hosts/browser-hosts.queries.ts';
import { refusedIsolation } from '../../domain/review/browser-sessions/hosts/isolation-rules.ts';
import { viewerOf } from '../../domain/review/browser-sessions/live/live-viewer-rules.ts';
import { HOST_SILENT_SECONDS } from '../../domain/review/browser-sessions/hosts/browser-hosts.queries.ts';
import { SESSIONS } from '../../domain/review/browser-sessions/session-announcements.ts';
import { noteControl, noteInTimeline } from '../../domain/review/browser-sessions/timeline.mutations.ts';
import { systemActor } from '../../domain/kernel/shared/actor.ts';
import { ConfigError } from '../../domain/kernel/settings/config.ts';
import type { HostConfig } from '../../domain/kernel/settings/host-config.ts';
import { newId } from '../../domain/kernel/shared/ids.ts';
import type { Outages } from '../../domain/kernel/system/outages.ts';
import { within } from '../../domain/kernel/queues/within.ts';
import { BROWSER_SESSIONS_QUEUE } from '../../workflows/queues.contract.ts';
import { createTemporalClient } from '../../workflows/temporal-client.ts';
import { temporalDependency } from '../../workflows/temporal-dependency.ts';
import { temporalLaunch } from '../../workflows/temporal-launch.ts';
import { createBrowserSessionActivities } from '../review/browser-sessions/browser-sessions.activities.ts';
import { createFleet } from '../worker.ts';
import type { BrowserEnd } from './chromium/browser.ts';
import { bridge } from './automation/cdp-bridge.ts';
import { startChromium } from './chromium/chromium.ts';
import { createHostBackend } from './host-backend.ts';
import { type HostServerParts, startHostServer } from './host-server.ts';
import { newHostFolder, removeStaleFolders } from './chromium/browser-folder.ts';
import { isolationHere } from './chromium/isolation-here.ts';
import { createLiveServer, type LiveServer } from './live/live-server.ts';
import { LocalBrowsers } from './chromium/local-browsers.ts';
import { findPrograms } from './chromium/programs.ts';
import { startRecorder } from './recording/recorder.ts';
import { sendHeartbeats } from './sessions/heartbeats.ts';

/** Well within `HOST_SILENT_SECONDS`. */
const SIGN_OF_LIFE_MS = 4_000;
/** So many heartbeats apart, the host asks what is still to run on it. */
const STRAYS_EVERY = 2;
const SPARE_NEEDS_BYTES = 2 * 1_024 ** 3;
/** For workflows to learn of the ends of their sessions, and to have their recordings finished here. */
const STOP_MAX_MS = 9_000;
/** Cancellations of what a host does come with the answers to heartbeats. */
const QUICK_CANCELLATION = { maxHeartbeatThrottleInterval: '500 milliseconds' } as const;

export interface BrowserHostParts {
  config: HostConfig;
  log: Logger;
  outages: Outages;
  plugins?: OpenTelemetryPlugin[];
}

export interface BrowserHost {
  id: string;
  /** What it cannot do, for people; null: nothing. */
  trouble: string | null;
  browsers: LocalBrowsers;
  /** Resolves when it has stopped; rejects when it fails. */
  ended: Promise<void>;
  /** Allocates nothing any more, ends what it has allocated, and closes its connections. */
  stop: () => Promise<void>;
}

/**
 * Starts a browser host. Rejects when Temporal or the database does not answer; throws `ConfigError` where no browser may be
 * allocated: without Chromium, or with a weaker isolation than is allowed.
 */
export async function runBrowserHost({ config, log, outages, plugins = [] }: BrowserHostParts): Promise<BrowserHost> {
  const programs = await findPrograms(config.CHROMIUM_PATH);
  if (!programs) throw new ConfigError(WITHOUT_CHROMIUM);
  await removeStaleFolders();
  const engine = { address: config.TEMPORAL_ADDRESS, namespace: config.TEMPORAL_NAMESPACE, plugins };
  const client = createTemporalClient(engine);
  outages.watch(temporalDependency(client, config.TEMPORAL_ADDRESS));
  const launch = temporalLaunch(client, {
    queuePrefix: config.TASK_QUEUE_PREFIX,
    log,
    onAway: outages.reporter('temporal'),
  });
  const deps = await createHostBackend({ config, launch, log, outages });
  const { outbound } = deps;
  const { startsAs, isolation } = await isolationHere({ programs, outbound });
  const refusal = refusedIsolation(isolation, {
    weakest: config.BROWSER_ISOLATION,
    isProduction: config.isProduction,
  });
  if (refusal !== undefined) throw new ConfigError(refusal);

  const id = newId();
  const queue = `browser-host-${id}`;
  const name = hostname();
  const trouble = programs.ffmpeg === null ? 'There is no ffmpeg on the host: its sessions are not recorded' : null;
  const itself = (tenantId: string) => systemActor({ tenantId, tenantSlug: '' }, SESSIONS);
  const { ffmpeg } = programs;
  const folder = await newHostFolder('recordings');
  const recorder = { ...deps, encoder: deps.encoderOf(ffmpeg ?? 'ffmpeg'), folder };
  const browsers = new LocalBrowsers({
    host: { id, queue },
    places: config.BROWSER_PLACES,
    spares: config.BROWSER_SPARES ?? (process.availableMemory() > SPARE_NEEDS_BYTES ? 1 : 0),
    startBrowser: (viewport) => startChromium({ programs, isolation: startsAs, viewport, outbound }),
    startRecorder: ffmpeg === null ? undefined : (browser) => startRecorder(browser, recorder),
    recordings: deps.recordings,
    note: ({ tenantId, sessionId }, entry) =>
      deps.actingAs(itself(tenantId))((tx) => noteInTimeline(tx, sessionId, entry)),
    log,
  });
  const live = createLiveServer({
    browsers,
    noteControl: ({ sessionId }, viewer, previous) =>
      deps.actingAs(viewer.actor)((tx) => noteControl(tx, sessionId, viewer, previous)),
    log,
  });
  const server = await startHostServer({
    allocated: browsers,
    admit: deps.admitTo(id),
    listen: { host: config.HOST, port: config.BROWSER_HOST_PORT, url: config.BROWSER_HOST_URL },
    ...clientsOf(live, log),
    log,
  });

  const startedAt = new Date();
  const sayLives = () =>
    hostLives(deps.hosts, {
      id,
      name,
      queue,
      address: server.address,
      isolation,
      startUrlKey: deps.startUrlKey,
      records: trouble === null,
      trouble,
      places: config.BROWSER_PLACES,
      placesUsed: browsers.placesUsed,
      startedAt,
    });
  await sayLives();
  const wantedOf = (tenantId: string, sessionIds: readonly string[]) =>
    openSessionsOfHost(deps.reads.as(itself(tenantId)), id, sessionIds);
  let signs = 0;
  const stopLiving = sendHeartbeats({
    async say() {
      await sayLives();
      if (++signs % STRAYS_EVERY > 0) return;
      browsers.endStrays(wantedOf).catch((error: unknown) => log.warn({ err: error }, 'strays were not looked for'));
    },
    onFailed: (error) => log.warn({ err: error }, 'no heartbeat could be sent'),
    onSilent() {
      log.error('no heartbeat was taken: what is allocated is ended');
      browsers.endAll(SILENT);
    },
    everyMs: SIGN_OF_LIFE_MS,
    silentMs: HOST_SILENT_SECONDS * 1_000,
  });

  const find = () => browsers;
  const hasPlace = (sessionId: string) => browsers.hasPlace(sessionId);
  const activities = createBrowserSessionActivities(deps, {
    find,
    findReplays: find,
    host: { id, name, hasPlace },
    startUrlOf: (key, session) => deps.startUrlOf(id, key, session),
  });
  const fleet = (queues: readonly string[]) =>
    createFleet({
      ...engine,
      queuePrefix: config.TASK_QUEUE_PREFIX,
      queues: queues.map((taskQueue) => ({
        taskQueue,
        activities,
        options: QUICK_CANCELLATION,
        isWithoutWorkflows: true,
      })),
      bundlePath: '',
    });
  // Apart, so that a host which stops takes no new sessions, and still does what those that it has allocated need.
  const [allocating, own] = await Promise.all([fleet([BROWSER_SESSIONS_QUEUE]), fleet([queue])]);
  const ended = Promise.all([allocating.run(), own.run()]).then(() => undefined);
  void browsers.warmUp();

  return {
    id,
    trouble,
    browsers,
    ended,
    async stop() {
      allocating.stop();
      await within(STOP_MAX_MS, browsers.stop(STOPPED), () => log.warn('sessions were still ending'));
      live.close();
      own.stop();
      stopLiving();
      await server.close();
      await ended;
      // Whatever is still to be done for its sessions, others do without it.
      await forgetHost(deps.hosts, id);
      await Promise.all([
        deps.close(),
        client.connection.close(),
        rm(recorder.folder, { recursive: true, force: true }),
      ]);
    },
  };
}

const WITHOUT_CHROMIUM =
  'There is no Chromium on this machine, which a browser host needs: install it (Debian: apt-get install chromium), or name one in CHROMIUM_PATH.';
const SILENT: BrowserEnd = { reason: 'host_lost', detail: 'The host of the browser was cut off.' };
const STOPPED: BrowserEnd = { reason: 'host_lost', detail: 'The host of the browser was stopped or restarted.' };

/** Who serves the clients that the host lets in. */
const clientsOf = (live: LiveServer, log: Logger): Pick<HostServerParts, 'onLive' | 'onPictures' | 'onConnect'> => ({
  onLive: (socket, { grant }) => live.accept(socket, grant.sessionId, viewerOf(grant)),
  onPictures: (response, { grant }) => live.stream(response, grant.sessionId, viewerOf(grant)),
  onConnect: (socket, { browser }) => void bridge(socket, browser, log),
});
