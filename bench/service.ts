import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../domain/migrate.ts';
import { connectOrm } from '../domain/orm.ts';
import { createProvisioning } from '../domain/identity/users/provisioning.mutations.ts';
import { nodeFlags } from '../tools/child.ts';
import { startPostgres } from '../tools/embedded-postgres.ts';
import { anyFreePort } from '../tools/ports.ts';
import { startMetricsStore } from '../tools/metrics-store.ts';
import { startTemporal } from '../tools/temporal-dev-server.ts';
import { type CpuTimes, cpuTimes } from './cpu.ts';

/** The whole service as it would run, on servers of its own, with one tenant. */
export interface Service {
  url: string;
  databaseUrl: string;
  temporalAddress: string;
  /** Environment variables of the service's processes. */
  env: Readonly<Record<string, string>>;
  /** Root of the metrics store's interface. */
  metricsUrl: string;
  tenantId: string;
  /** Token of role application, for all projects. */
  token: string;
  /** A bearer token of the tenant's owner, good for an hour. */
  ownerToken: string;
  database: pg.Client;
  /** Calls the API as the owner; fails unless it succeeds. */
  call: <Reply = Record<string, unknown>>(method: string, path: string, body?: unknown) => Promise<Reply>;
  /** Calls as `call` does, with another bearer token. */
  callAs: (token: string, method: string, path: string, body?: unknown) => Promise<unknown>;
  /** A further tenant, with a token as the first one's. */
  addTenant: (slug: string) => Promise<{ tenantId: string; token: string }>;
  /** Resident memory of the API process, MB. */
  apiMegabytes: () => number;
  /** Resident memory of the worker process. */
  workerMegabytes: () => number;
  /** Begins to measure CPU; the answer gives what API, worker, PostgreSQL and Temporal have used since. */
  measureCpu: () => () => CpuTimes;
  /** Starts a further process of the benchmark. */
  start: (modulePath: string, args?: string[]) => Promise<ChildProcess>;
  stop: () => Promise<void>;
}

const PASSWORD = 'a password for one run';

/** @param queues of the worker process; none: no worker. PostgreSQL runs with fsync. */
export async function startService(queues: readonly string[]): Promise<Service> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quayside-bench-'));
  // As root, PostgreSQL runs as another user, who must be able to walk through it.
  chmodSync(dataDir, 0o755);
  const [postgres, metrics, temporal] = await Promise.all([
    startPostgres({ dataDir }),
    startMetricsStore({ dataDir, port: await anyFreePort(), onProgress: console.log }),
    startTemporal({ dataDir, port: await anyFreePort(), uiPort: await anyFreePort(), onProgress: console.log }),
  ]);
  await migrate(postgres.url);
  const { tenantId, token } = await newTenant(postgres.url, 'bench');
  const port = await anyFreePort();
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    NODE_ENV: 'development',
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    DATA_DIR: dataDir,
    PORT: String(port),
    METRICS_PORT: '0',
    METRICS_URL: metrics.url,
    RATE_LIMIT_PER_MINUTE: '100000000',
    AUTH_RATE_LIMIT_PER_MINUTE: '100000000',
    HOOK_RATE_LIMIT_PER_MINUTE: '1000000',
    MOCK_RATE_LIMIT_PER_MINUTE: '100000000',
    LOG_LEVEL: 'warn',
  };
  const children: ChildProcess[] = [];
  const start = async (modulePath: string, args: string[] = []): Promise<ChildProcess> => {
    const child = fork(new URL(modulePath, import.meta.url), args, {
      env,
      execArgv: nodeFlags(modulePath.replace('../', '')),
      serialization: 'advanced',
    });
    children.push(child);
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`${modulePath} ended with ${code}`);
    });
    await Promise.race([once(child, 'message'), ended]);
    ended.catch(() => undefined);
    return child;
  };
  const api = await start('../api/main.ts');
  const worker = queues.length === 0 ? undefined : await start('../activities/main.ts', ['--queues', queues.join(',')]);
  const database = new pg.Client(postgres.url);
  await database.connect();
  const url = `http://127.0.0.1:${port}`;
  const { access_token: ownerToken } = await send<{ access_token: string }>(
    url,
    undefined,
    'POST',
    '/api/auth/admin/login',
    {
      email: 'owner@bench.example',
      password: PASSWORD,
    },
  );
  return {
    url,
    databaseUrl: postgres.url,
    temporalAddress: temporal.address,
    env: Object.fromEntries(
      Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
    metricsUrl: metrics.url,
    tenantId,
    token,
    ownerToken,
    database,
    call: (method, path, body) => send(url, ownerToken, method, path, body),
    callAs: (bearer, method, path, body) => send(url, bearer, method, path, body),
    apiMegabytes: () => megabytesOf(api),
    workerMegabytes: () => megabytesOf(worker),
    measureCpu() {
      const pids = {
        API: api.pid ?? 0,
        ...(worker?.pid !== undefined && { worker: worker.pid }),
        PostgreSQL: postgres.pid,
        Temporal: temporal.pid,
      };
      const before = cpuTimes(pids);
      return () => {
        const after = cpuTimes(pids);
        return Object.fromEntries(Object.entries(after).map(([name, ms]) => [name, ms - (before[name] ?? 0)]));
      };
    },
    addTenant: (slug) => newTenant(postgres.url, slug),
    start,
    async stop() {
      await database.end();
      await Promise.all(children.map(stopChild));
      await Promise.all([postgres.stop(), temporal.stop(), metrics.stop()]);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function newTenant(databaseUrl: string, slug: string): Promise<{ tenantId: string; token: string }> {
  const orm = connectOrm({ databaseUrl, poolSize: 2 });
  try {
    const provisioning = createProvisioning(orm);
    const { tenantId } = await provisioning.createTenant({
      slug,
      ownerEmail: `owner@${slug}.example`,
      password: PASSWORD,
    });
    const { token } = await provisioning.createToken({ tenant: slug, name: 'load', expiresInDays: 1 });
    return { tenantId, token };
  } finally {
    await orm.close(true);
  }
}

async function send<Reply>(
  url: string,
  token: string | undefined,
  method: string,
  path: string,
  body: unknown,
): Promise<Reply> {
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Reply;
}

const megabytesOf = (child: ChildProcess | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child?.pid}/status`, 'utf8'))?.[1]) / 1_024;

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
