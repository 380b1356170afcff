import { startUrlOf } from '../../activities/review/browser-sessions/start-url.ts';
import {
  createBrowserSessionActivities,
  type ThisHost,
} from '../../activities/review/browser-sessions/browser-sessions.activities.ts';
import { workerQueues } from '../../activities/registry.ts';
import { createFleet } from '../../activities/worker.ts';
import { bundleFolder, ensureBundle } from '../../activities/workflow-bundle.ts';
import type { BrowserProvider } from '../../domain/review/browser-sessions/browser-provider.port.ts';
import { newId } from '../../domain/kernel/shared/ids.ts';
import {
  browserSessionContract,
  sessionChangedSignal,
} from '../../workflows/review/browser-sessions/browser-session.contract.ts';
import { BROWSER_SESSIONS_QUEUE } from '../../workflows/queues.contract.ts';
import { activityDeps } from './activities.ts';
import type { TestApp } from './app.ts';
import type { Bearer, Json } from './client.ts';
import type { FakeBrowsers } from './fake-browsers.ts';
import { reviewStage } from './review.ts';
import { eventually, type TestWorker } from './worker.ts';
import { SHARED_THREAD } from './workflow-thread.ts';

export const SESSIONS_PATH = '/api/browser-sessions';
const QUEUES = ['environment-locks-v1', 'crm-v1', 'flows-v1', 'system-v1'];

export const addHost = (
  { db }: Pick<TestApp, 'db'>,
  host: { id: string; queue: string; places?: number; trouble?: string | null; startUrlKey?: string },
) =>
  db
    .insertInto('browser_host')
    .values({
      id: host.id,
      name: 'host-1',
      queue: host.queue,
      isolation: 'jailed',
      startUrlKey: host.startUrlKey ?? null,
      records: host.trouble == null,
      trouble: host.trouble ?? null,
      places: host.places ?? 4,
      startedAt: new Date(),
      seenAt: new Date(Date.now() + 3_600_000),
    })
    .execute();

/** Ordinary workers that call these providers, in the process of the test. */
export async function startSessionWorkers(
  app: TestApp,
  providers: readonly BrowserProvider[],
  queues = QUEUES,
): Promise<TestWorker> {
  const { deps, close } = activityDeps(app);
  const find = (name: string) => providers.find((provider) => provider.name === name);
  const browsers = { ...deps.browsers, find, findReplays: find };
  const fleet = await createFleet({
    ...engineOf(app),
    ...workerQueues({ ...deps, browsers }, queues),
    thread: SHARED_THREAD,
    firstPolls: 1,
    bundlePath: await ensureBundle({ folder: bundleFolder(app.env), isTraced: false }),
  });
  const ended = fleet.run();
  ended.catch(() => undefined);
  return {
    async stop() {
      fleet.stop();
      await ended;
      await close();
    },
  };
}

/** A host that allocates these browsers, in the process of the test. */
export async function startBrowserHost(
  app: Pick<TestApp, 'env' | 'launch' | 'queuePrefix'>,
  browsers: FakeBrowsers,
  host: ThisHost & { queue: string; trouble?: string } = {
    id: newId(),
    queue: `browser-host-${newId()}`,
    name: 'host-1',
  },
): Promise<TestWorker & { id: string }> {
  const { deps, close } = activityDeps(app);
  await addHost({ db: deps.system }, host);
  browsers.host = { id: host.id, queue: host.queue };
  const find = () => browsers;
  const activities = createBrowserSessionActivities(deps, {
    find,
    findReplays: find,
    host,
    startUrlOf: (key, session) => startUrlOf(deps, key, session),
  });
  const options = { maxHeartbeatThrottleInterval: '200 milliseconds' };
  const fleet = await createFleet({
    ...engineOf(app),
    queues: [BROWSER_SESSIONS_QUEUE, host.queue].map((taskQueue) => ({
      taskQueue,
      activities,
      options,
      isWithoutWorkflows: true,
    })),
    bundlePath: '',
  });
  const ended = fleet.run();
  ended.catch(() => undefined);
  return {
    id: host.id,
    async stop() {
      fleet.stop();
      await ended;
      await close();
    },
  };
}

const engineOf = ({ env, queuePrefix }: Pick<TestApp, 'env' | 'queuePrefix'>) => ({
  address: env.TEMPORAL_ADDRESS ?? '',
  namespace: 'default',
  queuePrefix,
});

let lastNumber = 100;

/** A project with orgs for its pull requests, and the calls about their sessions. */
export async function sessionStage(app: TestApp) {
  const stage = await reviewStage(app, { maxInstances: 200 });
  const owner = app.as(app.owner);
  return {
    ...stage,
    /** A pull request to which an org is assigned. */
    async pullRequest(): Promise<number> {
      const number = ++lastNumber;
      await stage.orgs(1);
      await stage.assign({ assignmentId: String(number) });
      return number;
    },
    record: (prNumber: number, body: object = {}, status = 202, caller: Bearer = app.owner): Promise<Json> =>
      app.as(caller).post(status, `${SESSIONS_PATH}/record-for-pr`, {
        repositoryIdentifier: stage.repositoryIdentifier,
        prNumber,
        ...body,
      }),
    read: (id: string, status = 200): Promise<Json> => owner.get(status, `${SESSIONS_PATH}/${id}`),
    becomes: (id: string, status: string): Promise<Json> =>
      eventually(
        () => owner.get(200, `${SESSIONS_PATH}/${id}`),
        (session: Json) => session.status === status,
      ),
    /** Has the workflow of a session look at its row. */
    wake: (sessionId: string) =>
      app.launch.signalWithStart(
        browserSessionContract,
        { ...app.tenantKey, sessionId, repositoryIdentifier: stage.repositoryIdentifier, subject: 'PR' },
        sessionChangedSignal,
      ),
    run: (id: string): Promise<Json> => owner.get(200, `/api/flows/runs/${id}`),
  };
}
export type SessionStage = Awaited<ReturnType<typeof sessionStage>>;
