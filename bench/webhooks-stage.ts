import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../domain/migrate.ts';
import { connectOrm } from '../domain/orm.ts';
import { createProvisioning } from '../domain/tenants/provisioning.ts';
import type { Load, LoadResult } from './webhooks-load.ts';
import type { Receipts } from './webhooks-receiver.ts';

const API_PORT = 21_100;
const RECEIVER_PORT = 21_101;
const PASSWORD = 'a password for one run';

export interface StageOptions {
  /** Of a role that may create databases. */
  postgresUrl: string;
  temporalAddress: string;
}

/** Everything that runs during a measurement, each part as a process of its own. */
export interface Stage {
  tenantId: string;
  database: pg.Client;
  /** An address of the receiver. */
  receiverUrl: (path: string) => string;
  addWebhook: (event: string, url: string) => Promise<string>;
  setInactive: (webhookId: string) => Promise<void>;
  generate: (load: Pick<Load, 'events' | 'perSecond' | 'seconds'>) => Promise<LoadResult>;
  /** What was received since `forget`. */
  receipts: () => Promise<Receipts>;
  /** Answers what was received, and begins anew. */
  forget: () => Promise<Receipts>;
  /** Waits until so many deliveries have come, or `seconds` have passed without. */
  arrived: (count: number, seconds: number) => Promise<Receipts>;
  stop: () => Promise<void>;
}

export async function setStage({ postgresUrl, temporalAddress }: StageOptions): Promise<Stage> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quayside-bench-'));
  const databaseUrl = await newDatabase(postgresUrl);
  await migrate(databaseUrl);
  const { tenantId, token } = await newTenant(databaseUrl);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    NODE_ENV: 'development',
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    TASK_QUEUE_PREFIX: `bench-${Date.now()}-`,
    DATA_DIR: dataDir,
    PORT: String(API_PORT),
    METRICS_PORT: '0',
    RATE_LIMIT_PER_MINUTE: '100000000',
    LOG_LEVEL: 'warn',
  };
  const children = await Promise.all([
    start('../api/main.ts', [], env),
    start('../activities/main.ts', ['--queues', 'webhooks-v1,system-v1'], env),
    start('./webhooks-receiver.ts', [String(RECEIVER_PORT)], env),
    start('./webhooks-load.ts', [], env),
  ]);
  const [, , receiver, load] = children;
  const apiUrl = `http://127.0.0.1:${API_PORT}`;
  const call = ownerOf(apiUrl);
  const database = new pg.Client(databaseUrl);
  await database.connect();
  const receipts = () => ask<Receipts>(receiver, 'report');

  return {
    tenantId,
    database,
    receipts,
    receiverUrl: (path) => `http://127.0.0.1:${RECEIVER_PORT}${path}`,
    async addWebhook(event, url) {
      const { id } = await call('POST', '/api/webhooks', { name: event, event, config: { url } });
      return id;
    },
    async setInactive(id) {
      await call('PATCH', `/api/webhooks/${id}`, { status: 'inactive' });
    },
    generate: (stretch) => ask<LoadResult>(load, { apiUrl, token, ...stretch }),
    forget: () => ask<Receipts>(receiver, 'forget'),
    async arrived(count, seconds) {
      for (const giveUpAt = Date.now() + seconds * 1_000; ; await sleep(50)) {
        const seen = await receipts();
        if (seen.count >= count || Date.now() > giveUpAt) return seen;
      }
    },
    async stop() {
      await database.end();
      await Promise.all(children.map(stop));
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function newDatabase(postgresUrl: string): Promise<string> {
  const name = `quayside_bench_${Date.now()}`;
  const client = new pg.Client(`${postgresUrl}/postgres`);
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return `${postgresUrl}/${name}`;
}

async function newTenant(databaseUrl: string): Promise<{ tenantId: string; token: string }> {
  const orm = connectOrm({ databaseUrl, poolSize: 2 });
  try {
    const provisioning = createProvisioning(orm);
    const { tenantId } = await provisioning.createTenant({ slug: 'bench', ownerEmail: 'owner@bench.example', password: PASSWORD });
    const { token } = await provisioning.createToken({ tenant: 'bench', name: 'load', expiresInDays: 1 });
    return { tenantId, token };
  } finally {
    await orm.close(true);
  }
}

/** Calls as the tenant's owner, who signs in when first needed. */
function ownerOf(apiUrl: string) {
  let token: string | undefined;
  const send = async (method: string, path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    const response = await fetch(apiUrl + path, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { id: string; access_token: string };
  };
  return async (method: string, path: string, body: unknown) => {
    token ??= (await send('POST', '/api/auth/admin/login', { email: 'owner@bench.example', password: PASSWORD })).access_token;
    return send(method, path, body);
  };
}

async function start(file: string, args: string[], env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const child = fork(new URL(file, import.meta.url), args, { env, serialization: 'advanced' });
  const ready = once(child, 'message');
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ended with ${code}`);
  });
  await Promise.race([ready, ended]);
  ended.catch(() => undefined);
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function ask<Reply>(child: ChildProcess, message: object | string): Promise<Reply> {
  const reply = once(child, 'message');
  child.send(message);
  return (await reply)[0] as Reply;
}
