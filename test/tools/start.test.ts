import { createServer } from 'node:net';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockInstance, runningInstance } from '../../tools/instance-lock.ts';
import { OperatorError } from '../../tools/operator-error.ts';
import { preflight } from '../../tools/preflight.ts';
import { startSettings } from '../../tools/start-settings.ts';
import { ConfigError } from '../../domain/kernel/settings/config.ts';
import { freePort } from '../support/free-port.ts';
import { BROWSER_TIMEOUT_MS, chromiumPath } from '../support/chromium.ts';
import { ApiClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { childOf, newPlace, type Place, startService, type Service, until } from './service.ts';

/** Within less a worker is not loaded. */
const LOOK_AGAIN_MS = 250;

let place: Place;
let instance: Service | undefined;

beforeAll(async () => {
  place = await newPlace();
  place.env.METRICS_PORT = String(await freePort());
  place.env.CHROMIUM_PATH = await chromiumPath();
  // No session is asked for, and each start of a browser takes more than that of its host.
  place.env.BROWSER_SPARES = '0';
}, BROWSER_TIMEOUT_MS);
afterAll(async () => {
  await stop();
  place.remove();
});

/** The instance that the test before left running, or another one on the same data, when it is ready. */
async function running(): Promise<Service> {
  instance ??= startService(place.env);
  await instance.ready();
  return instance;
}

/** Leaves no instance, so that the next is started anew. */
async function stop(): Promise<void> {
  const service = instance;
  instance = undefined;
  if (!service) return;
  service.signal('SIGTERM');
  const kill = setTimeout(() => service.signal('SIGKILL'), 60_000);
  await service.ended;
  clearTimeout(kill);
}

/** Awaits the end of the instance; answers its exit code. */
async function ended(service: Service): Promise<number | null> {
  const code = await service.ended;
  instance = undefined;
  return code;
}

/** Ends with exit code 1 and one sentence, which is the answer. */
async function refused(env: Record<string, string>): Promise<string> {
  const service = startService(env);
  expect(await service.ended).toBe(1);
  const lines = service.stderr().trimEnd().split('\n');
  expect(lines).toHaveLength(1);
  return lines[0] ?? '';
}

const findPid = (part: string): number | undefined => {
  const { parts } = JSON.parse(readFileSync(join(place.dataDir, 'instance.json'), 'utf8')) as {
    parts: { name: string; pid: number }[];
  };
  return parts.find(({ name }) => name === part)?.pid;
};

/** Throws for a part that does not run: a signal to no process would go to all of the test's own. */
function pidOf(part: string): number {
  const pid = findPid(part);
  if (pid === undefined) throw new Error(`no ${part} runs`);
  return pid;
}

/** All parts of the instance; the browser host comes a moment after the instance is ready. */
async function allParts(): Promise<number[]> {
  await until(() => place.leftRunning().length === 6);
  return place.leftRunning();
}

const expectGone = (pids: readonly number[]) => {
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow();
};

const owner = () =>
  JSON.parse(readFileSync(join(place.dataDir, 'owner.json'), 'utf8')) as { email: string; password: string };

async function signIn(): Promise<ApiClient> {
  const { access_token: token } = await new ApiClient(place.url).post(200, '/api/auth/admin/login', owner());
  return new ApiClient(place.url, { token });
}

// The tests go through the life of one data directory: each takes the instance that the one before left running.
describe('npm start', () => {
  test('brings up the whole service, and no second instance runs on its data', async () => {
    const first = await running();
    expect(first.stdout()).toContain(owner().password);
    expect(statSync(join(place.dataDir, 'owner.json')).mode & 0o077).toBe(0);
    expect(statSync(join(place.dataDir, 'postgresql.json')).mode & 0o077).toBe(0);
    const caller = await signIn();
    await caller.post(201, '/api/webhooks', {
      name: 'kept',
      event: 'release.created',
      config: { url: 'http://127.0.0.1:9/x' },
    });
    expect(runningInstance(place.dataDir)).toMatchObject({ url: place.url });
    expect(await refused(place.env)).toBe(
      `DATA_DIR ${place.dataDir} is in use by another instance (process ${first.pid}): stop it, or set DATA_DIR to another folder.`,
    );
    await caller.get(200, '/api/webhooks');
    expect(first.stderr()).toBe('');
  });

  test('a browser host is part of it, and is restarted when it ends by itself', async () => {
    const service = await running();
    expect(service.stdout()).toContain('Browsers     are allocated by this machine');
    const caller = await signIn();
    const isAllocating = async () =>
      (await caller.get(200, '/api/browser-sessions/providers')).local.available as boolean;
    await eventually(isAllocating, Boolean);
    // It allocates a moment before it is noted as started.
    await until(() => findPid('browser host') !== undefined);
    process.kill(pidOf('browser host'), 'SIGKILL');
    await until(() => service.stdout().includes('The browser host is running again.'));
    expect(await caller.get(200, '/readyz')).toMatchObject({ status: 'ready' });
    expect(place.leftRunning()).toHaveLength(6);
  });

  test('after a kill the API, the workers and the browser host stop by themselves; the next start takes over with all data', async () => {
    const killed = await running();
    const parts = await allParts();
    killed.signal('SIGKILL');
    await ended(killed);
    await until(() => place.leftRunning().length === 3);
    const next = await running();
    expect(next.stdout()).not.toContain(owner().password);
    expect(JSON.stringify(await (await signIn()).get(200, '/api/webhooks'))).toContain('kept');
    expectGone(parts);
  });

  test('a metrics store or worker that ends by itself is restarted, the API goes on meanwhile', async () => {
    const service = await running();
    const caller = await signIn();
    expect(await caller.get(200, '/readyz')).toMatchObject({ status: 'ready', dependencies: { metrics: 'up' } });
    process.kill(pidOf('metrics store'), 'SIGKILL');
    await until(() => service.stdout().includes('The metrics store is running again.'));
    expect(await caller.get(200, '/readyz')).toMatchObject({ status: 'ready' });
    const killed = pidOf('worker');
    process.kill(killed, 'SIGKILL');
    await caller.get(200, '/api/users/me');
    await until(() => service.stdout().includes('The worker is running again.'));
    expect(pidOf('worker')).not.toBe(killed);
    expect(await allParts()).toHaveLength(6);
    expect(service.stderr()).toContain('The worker ended unexpectedly (killed); restarting it.');
    const [, workersMetrics = ''] = /Metrics +\S+ +(\S+)/.exec(service.stdout()) ?? [];
    const health = await fetch(workersMetrics.replace('/metrics', '/healthz'));
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
  });

  test('a worker that ends more than three times within a minute takes the rest along', async () => {
    const service = await running();
    const parts = await allParts();
    // Each is killed while it starts: however slow the machine is, they end within the minute.
    let lastKilled: number | undefined;
    const isOver = service.ended.then(() => true);
    while (!(await Promise.race([isOver, sleep(LOOK_AGAIN_MS, false)]))) {
      const worker = childOf(service.pid, 'activities/main');
      if (worker === undefined || worker === lastKilled) continue;
      process.kill(worker, 'SIGKILL');
      lastKilled = worker;
    }
    expect(await ended(service)).toBe(1);
    const restarted = service.stderr().match(/The worker ended unexpectedly \(.+\); restarting it\./g) ?? [];
    expect(restarted.length).toBeGreaterThanOrEqual(3);
    expect(service.stderr()).toMatch(
      /The worker ended unexpectedly \(.+\); it was restarted 3 times within a minute: stopping\./,
    );
    expectGone(parts);
  });

  test('told to stop while it starts, it leaves nothing running', async () => {
    await stop();
    const service = startService(place.env);
    await until(() => existsSync(join(place.dataDir, 'postgresql', 'postmaster.pid')));
    // As when its terminal is closed.
    service.stopReading();
    service.signal('SIGHUP');
    expect(await service.ended).toBe(0);
    expect(service.stdout()).not.toContain('is ready');
    expect(service.stderr()).toBe('');
    expect(existsSync(join(place.dataDir, 'postgresql', 'postmaster.pid'))).toBe(false);
    expect(existsSync(join(place.dataDir, 'instance.json'))).toBe(false);
  });

  test('everything else runs where the metrics store cannot be installed', async () => {
    await stop();
    instance = startService({
      ...place.env,
      QUAYSIDE_CACHE: join(place.dataDir, 'no-cache'),
      GOFLAGS: '-no-such-flag',
      TEMPORAL_ADDRESS: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '',
      TASK_QUEUE_PREFIX: `t${place.env.PORT}-`,
    });
    const service = await running();
    expect(service.stderr()).toContain('Metrics are accepted, and cannot be queried.');
    expect(await (await signIn()).get(200, '/readyz')).toMatchObject({
      status: 'degraded',
      dependencies: { metrics: 'down', temporal: 'up' },
    });
  });

  test('an API that ends by itself is named and takes the rest along', async () => {
    const service = await running();
    const parts = place.leftRunning();
    process.kill(pidOf('API'), 'SIGKILL');
    expect(await ended(service)).toBe(1);
    expect(service.stderr()).toContain('The API ended unexpectedly (killed); stopping.');
    expectGone(parts);
  });

  test('a taken PORT is named, and nothing stays', async () => {
    await stop();
    const holder = createServer().listen(Number(place.env.PORT), '127.0.0.1');
    await once(holder, 'listening');
    expect(await refused(place.env)).toBe(
      `The port ${place.env.PORT} is taken by another program: set PORT to a free one.`,
    );
    expect(existsSync(join(place.dataDir, 'postgresql', 'postmaster.pid'))).toBe(false);
    expect(existsSync(join(place.dataDir, 'instance.json'))).toBe(false);
    holder.close();
  });
});

describe('before it starts anything, npm start', () => {
  /** The sentence of what it refuses. */
  async function refusal(env: Record<string, string>): Promise<string> {
    try {
      const settings = startSettings({ ...place.env, ...env });
      const lock = await lockInstance(settings.dataDir);
      await preflight(settings).finally(lock.release);
    } catch (error) {
      if (error instanceof OperatorError || error instanceof ConfigError) return error.message;
      throw error;
    }
    return 'not refused';
  }

  beforeAll(stop);

  test.each(['TEMPORAL_PORT', 'TEMPORAL_UI_PORT'])('names a taken %s', async (variable) => {
    const holder = createServer().listen(Number(place.env[variable]), '127.0.0.1');
    await once(holder, 'listening');
    expect(await refusal({})).toBe(
      `The port ${place.env[variable]} is taken by another program: set ${variable} to a free one.`,
    );
    holder.close();
  });

  test.each([
    [
      { DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c' },
      'The database that DATABASE_URL names (127.0.0.1:1) cannot be used: ',
    ],
    [
      { TEMPORAL_ADDRESS: '127.0.0.1:1' },
      'The workflow engine that TEMPORAL_ADDRESS names (127.0.0.1:1) does not answer.',
    ],
    [{ NODE_ENV: 'production' }, 'In production nothing embedded starts: set DATABASE_URL.'],
    [
      { NODE_ENV: 'production', DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c' },
      'In production nothing embedded starts: set TEMPORAL_ADDRESS.',
    ],
    [{ TEMPORAL_PORT: 'high' }, 'The environment variable TEMPORAL_PORT is malformed'],
    [{ LOG_LEVEL: 'loud' }, 'The environment variable LOG_LEVEL is malformed'],
    [{ DATA_DIR: '/dev/null/nowhere' }, 'DATA_DIR /dev/null/nowhere cannot be written to'],
  ])('refuses %j in one sentence', async (env, sentence) => {
    const said = await refusal(env);
    expect(said).toContain(sentence);
    expect(said).not.toContain('\n');
  });
});
