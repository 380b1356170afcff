import { createServer } from 'node:net';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runningInstance } from '../../tools/instance-lock.ts';
import { freePort } from '../support/free-port.ts';
import { chromiumPath } from '../support/chromium.ts';
import { ApiClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { newPlace, type Place, startService, type Service, until } from './service.ts';

/** A start takes seconds, more where other tests run beside it. */
const TIMEOUT_MS = 90_000;

let place: Place;
const started: Service[] = [];

beforeEach(async () => {
  place = await newPlace();
});
afterEach(async () => {
  for (const service of started.splice(0)) {
    service.signal('SIGTERM');
    const kill = setTimeout(() => service.signal('SIGKILL'), 20_000);
    await service.ended;
    clearTimeout(kill);
  }
  place.remove();
});

const start = (env: Record<string, string> = {}): Service => {
  const service = startService({ ...place.env, ...env });
  started.push(service);
  return service;
};

/** Ends with exit code 1 and one sentence, which is the answer. */
async function refused(env: Record<string, string>): Promise<string> {
  const service = start(env);
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

const owner = () =>
  JSON.parse(readFileSync(join(place.dataDir, 'owner.json'), 'utf8')) as { email: string; password: string };

async function signIn(): Promise<ApiClient> {
  const { access_token: token } = await new ApiClient(place.url).post(200, '/api/auth/admin/login', owner());
  return new ApiClient(place.url, { token });
}

describe('npm start', () => {
  test(
    'brings up the whole service, keeps its data over a restart, and leaves nothing running',
    async () => {
      const first = start();
      await first.ready();
      expect(first.stdout()).toContain(owner().password);
      expect(statSync(join(place.dataDir, 'owner.json')).mode & 0o077).toBe(0);
      expect(statSync(join(place.dataDir, 'postgresql.json')).mode & 0o077).toBe(0);
      await (await signIn()).post(201, '/api/webhooks', {
        name: 'kept',
        event: 'release.created',
        config: { url: 'http://127.0.0.1:9/x' },
      });

      expect(runningInstance(place.dataDir)).toEqual({ url: place.url });

      const second = await refused({});
      expect(second).toBe(
        `DATA_DIR ${place.dataDir} is in use by another instance (process ${first.pid}): stop it, or set DATA_DIR to another folder.`,
      );
      await signIn();

      const parts = place.leftRunning();
      expect(parts).toHaveLength(5);
      const before = place.leftRunning;
      first.signal('SIGINT');
      expect(await first.ended).toBe(0);
      expect(first.stderr()).toBe('');
      expect(existsSync(join(place.dataDir, 'instance.json'))).toBe(false);
      expect(before).toThrow();
      for (const pid of parts) expect(() => process.kill(pid, 0)).toThrow();

      const again = start();
      await again.ready();
      expect(again.stdout()).not.toContain(owner().password);
      expect(JSON.stringify(await (await signIn()).get(200, '/api/webhooks'))).toContain('kept');
    },
    TIMEOUT_MS,
  );

  test(
    'after a kill the API and the workers stop by themselves, and the next start takes over',
    async () => {
      const first = start();
      await first.ready();
      const parts = place.leftRunning();
      first.signal('SIGKILL');
      await first.ended;
      await until(() => place.leftRunning().length === 3, 15_000);
      const again = start();
      await again.ready();
      await signIn();
      for (const pid of parts) expect(() => process.kill(pid, 0)).toThrow();
    },
    TIMEOUT_MS,
  );

  test(
    'an API that ends by itself is named and takes the rest along',
    async () => {
      const service = start();
      await service.ready();
      const parts = place.leftRunning();
      process.kill(pidOf('API'), 'SIGKILL');
      expect(await service.ended).toBe(1);
      expect(service.stderr()).toContain('The API ended unexpectedly (killed); stopping.');
      for (const pid of parts) expect(() => process.kill(pid, 0)).toThrow();
    },
    TIMEOUT_MS,
  );

  test(
    'a browser host is part of it, is restarted when it ends by itself, and stops with the rest',
    async () => {
      const service = start({ CHROMIUM_PATH: await chromiumPath() });
      await service.ready();
      expect(service.stdout()).toContain('Browsers     are lent by this machine');
      const caller = await signIn();
      const isLending = async () =>
        (await caller.get(200, '/api/browser-sessions/providers')).local.available as boolean;
      await eventually(isLending, Boolean);
      // It lends a moment before it is noted as started.
      await until(() => findPid('browser host') !== undefined, 20_000);
      process.kill(pidOf('browser host'), 'SIGKILL');
      await until(() => service.stdout().includes('The browser host is running again.'), 20_000);
      expect(await caller.get(200, '/readyz')).toMatchObject({ status: 'ready' });
      const parts = place.leftRunning();
      expect(parts).toHaveLength(6);
      service.signal('SIGINT');
      expect(await service.ended).toBe(0);
      for (const pid of parts) expect(() => process.kill(pid, 0)).toThrow();
    },
    TIMEOUT_MS,
  );

  test(
    'a worker that ends by itself is restarted three times a minute, the API goes on meanwhile, and then all stops',
    async () => {
      const metricsPort = await freePort();
      const service = start({ METRICS_PORT: String(metricsPort) });
      await service.ready();
      const caller = await signIn();
      expect(await caller.get(200, '/readyz')).toMatchObject({ status: 'ready', dependencies: { metrics: 'up' } });
      process.kill(pidOf('metrics store'), 'SIGKILL');
      await until(() => service.stdout().includes('The metrics store is running again.'), 20_000);
      expect(await caller.get(200, '/readyz')).toMatchObject({ status: 'ready' });
      const restarts = () => service.stdout().split('The worker is running again.').length - 1;
      for (let time = 1; time <= 3; time++) {
        const killed = pidOf('worker');
        process.kill(killed, 'SIGKILL');
        await caller.get(200, '/api/users/me');
        await until(() => restarts() === time, 20_000);
        expect(pidOf('worker')).not.toBe(killed);
        expect(place.leftRunning()).toHaveLength(5);
      }
      expect(service.stderr()).toContain('The worker ended unexpectedly (killed); restarting it.');
      const [, workersMetrics = ''] = /Metrics +\S+ +(\S+)/.exec(service.stdout()) ?? [];
      const health = await fetch(workersMetrics.replace('/metrics', '/healthz'));
      expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
      const parts = place.leftRunning();
      process.kill(pidOf('worker'), 'SIGKILL');
      expect(await service.ended).toBe(1);
      expect(service.stderr()).toContain(
        'The worker ended unexpectedly (killed); it was restarted 3 times within a minute: stopping.',
      );
      for (const pid of parts) expect(() => process.kill(pid, 0)).toThrow();
    },
    TIMEOUT_MS,
  );

  test(
    'told to stop while it starts, it leaves nothing running',
    async () => {
      const service = start();
      await until(() => existsSync(join(place.dataDir, 'temporal.db')), 20_000);
      // As when its terminal is closed.
      service.stopReading();
      service.signal('SIGHUP');
      expect(await service.ended).toBe(0);
      expect(service.stderr()).toBe('');
      expect(existsSync(join(place.dataDir, 'postgresql', 'postmaster.pid'))).toBe(false);
      expect(existsSync(join(place.dataDir, 'instance.json'))).toBe(false);
    },
    TIMEOUT_MS,
  );

  test(
    'everything else runs where the metrics store cannot be installed',
    async () => {
      const service = start({
        QUAYSIDE_CACHE: join(place.dataDir, 'no-cache'),
        GOFLAGS: '-no-such-flag',
        TEMPORAL_ADDRESS: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '',
        TASK_QUEUE_PREFIX: `t${place.env.PORT}-`,
      });
      await service.ready();
      expect(service.stderr()).toContain('Metrics are accepted, and cannot be queried.');
      expect(await (await signIn()).get(200, '/readyz')).toMatchObject({
        status: 'degraded',
        dependencies: { metrics: 'down', temporal: 'up' },
      });
    },
    TIMEOUT_MS,
  );

  test.each(['PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT'])(
    'a taken %s is named, and nothing stays',
    async (variable) => {
      const holder = createServer().listen(Number(place.env[variable]), '127.0.0.1');
      await once(holder, 'listening');
      expect(await refused({})).toBe(
        `The port ${place.env[variable]} is taken by another program: set ${variable} to a free one.`,
      );
      expect(existsSync(join(place.dataDir, 'postgresql', 'postmaster.pid'))).toBe(false);
      expect(existsSync(join(place.dataDir, 'instance.json'))).toBe(false);
      holder.close();
    },
    TIMEOUT_MS,
  );

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
  ])(
    '%j is refused in one sentence',
    async (env, sentence) => {
      expect(await refused(env)).toContain(sentence);
    },
    TIMEOUT_MS,
  );
});
