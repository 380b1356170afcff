import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import { pino } from 'pino';
import { createObjectStore } from '../../activities/adapters/objects/object-store.ts';
import { apiConfig } from '../../api/config.ts';
import { createHttpMetrics } from '../../api/http/server/metrics.ts';
import { createApi } from '../../api/server.ts';
import { connectDatabase } from '../../domain/kernel/data/database.ts';
import { connectOrm } from '../../domain/orm.ts';
import type { Database } from '../../domain/kernel/data/tables.ts';
import type { ObjectStore } from '../../domain/kernel/objects/object-store.port.ts';
import { objectStoreLocation } from '../../domain/kernel/objects/object-store-location.ts';
import type { TenantKey } from '../../domain/kernel/shared/actor.ts';
import { newId } from '../../domain/kernel/shared/ids.ts';
import type { Launch } from '../../workflows/launch.ts';
import { Outages } from '../../domain/kernel/system/outages.ts';
import type { ProcessLog } from '../../domain/process-log.ts';
import { createTemporalClient } from '../../workflows/temporal-client.ts';
import { temporalLaunch } from '../../workflows/temporal-launch.ts';
import { ApiClient, type Bearer } from './client.ts';
import { type FirstTenants, makeFirstTenants } from './first-tenants.ts';
import { databaseWithTenants, testDatabase, type TestDatabase } from './postgres.ts';
import './shared-metadata.ts';

/** Somebody who may call the API, with what a test wants to know of them. */
export interface Caller extends Bearer {
  email: string;
  token: string;
  refreshToken: string;
  password: string;
}

export interface TestApp {
  url: string;
  server: Server;
  databaseUrl: string;
  /** A client that acts as the caller, or without a credential. */
  as: (caller?: Bearer) => ApiClient;
  signIn: (person: { email: string; password: string }) => Promise<Caller>;
  tenant: { id: string; slug: string };
  /** The same, as inputs of workflows and activities name it. */
  tenantKey: TenantKey;
  owner: Caller;
  member: Caller;
  /** A token of role `application` for all projects. */
  application: Bearer & { token: string };
  /** The owner of another tenant. */
  stranger: Caller;
  /** A token of role `application` in that other tenant. */
  strangerApplication: Bearer & { token: string };
  launch: Launch;
  /** The store that the API and the app's workers share. */
  objects: ObjectStore;
  queuePrefix: string;
  dataDir: string;
  env: Record<string, string>;
  /** Typed statements run as the schema's owner, past every fence. */
  db: Database;
  /** Rows of a statement run as the schema's owner, past every fence; placeholders are `?`. */
  sql: <Row = Record<string, unknown>>(statement: string, parameters?: unknown[]) => Promise<Row[]>;
  close: () => Promise<void>;
}

export interface TestAppOptions {
  /** Instead of the real Temporal server. */
  launch?: Launch;
  env?: Record<string, string>;
  /** Types of flows that programs execute which do nothing. */
  commands?: readonly string[];
  /** Collects the lines of the API's log, of every level, and the bodies of its problem replies. */
  said?: { logs: string[]; problems: string[] };
  /** Where the API logs, with the outages that it meets. */
  processLog?: ProcessLog;
  /** A migrated database instead of one of the run's server; it is left as it is. */
  databaseUrl?: string;
  /** The tenants of the given database; their people sign in when a test asks for it. */
  tenants?: FirstTenants;
  /** Its tenants have ids that no other app has: for what leaves the database, as metrics do. */
  hasOwnTenants?: boolean;
}

/** The API on a database of its own, with two tenants; on the run's Temporal server, with task queues of its own. */
export async function testApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { database, tenants } = await databaseOf(options);
  const dataDir = mkdtempSync(join(tmpdir(), 'quayside-test-'));
  const commandsFile = join(dataDir, 'commands.json');
  if (options.commands) {
    const commands = options.commands.map((type) => [type, { program: '/bin/true' }]);
    writeFileSync(commandsFile, JSON.stringify(Object.fromEntries(commands)));
  }
  const queuePrefix = `t${newId().slice(-12)}-`;
  const env: Record<string, string> = {
    NODE_ENV: 'test',
    PORT: '0',
    PUBLIC_URL: 'http://quayside.test',
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '127.0.0.1:1',
    TASK_QUEUE_PREFIX: queuePrefix,
    METRICS_PORT: '0',
    METRICS_URL: process.env.QS_TEST_METRICS_URL ?? '',
    RATE_LIMIT_PER_MINUTE: '1000000',
    AUTH_RATE_LIMIT_PER_MINUTE: '1000000',
    HOOK_RATE_LIMIT_PER_MINUTE: '1000000',
    MOCK_RATE_LIMIT_PER_MINUTE: '100000000',
    // Nothing leaves the machine; tests of chat name a simulator.
    SLACK_API_URL: 'http://127.0.0.1:9/api/',
    WORKFLOW_BUNDLE_DIR: dirname(process.env.QS_TEST_BUNDLE ?? ''),
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    ...(options.commands && { COMMANDS_FILE: commandsFile }),
    ...options.env,
  };
  const config = apiConfig(env);
  const { said, processLog } = options;
  const log =
    processLog?.log ??
    (said
      ? pino({ level: 'trace' }, { write: (line: string) => void said.logs.push(line) })
      : pino({ level: config.LOG_LEVEL }));
  const client = createTemporalClient({
    address: config.TEMPORAL_ADDRESS,
    namespace: 'default',
    pace: config.SERVICE_PACE,
  });
  const launch = options.launch ?? temporalLaunch(client, { queuePrefix, log });
  const api = createApi({
    config,
    log,
    metrics: createHttpMetrics(),
    launch,
    outages: processLog?.outages ?? new Outages(log),
    dependencies: [],
  });
  api.server.listen(config.PORT, '127.0.0.1');
  await once(api.server, 'listening');
  const url = `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`;

  const { db, close: disconnect } = connectDatabase({ databaseUrl: database.url, poolSize: 2 }, () => undefined);
  let orm: MikroORM | undefined;
  const sql: TestApp['sql'] = (statement, parameters = []) => {
    orm ??= connectOrm({ databaseUrl: database.url, poolSize: 2 });
    return orm.em.getConnection().execute(statement, parameters) as never;
  };
  const as = (caller: Bearer = {}) => new ApiClient(url, caller, (problem) => said?.problems.push(problem));
  const signIn: TestApp['signIn'] = async ({ email, password }) => {
    const body = await as().post(200, '/api/auth/admin/login', { email, password });
    return { email, password, token: body.access_token, refreshToken: body.refresh_token };
  };
  const { acme, other } = tenants;
  // One after the other: each connection that PostgreSQL opens reads the catalog of its database anew.
  const callerOf = options.tenants ? notSignedIn : signIn;
  const owner = await callerOf(acme.owner);
  const member = await callerOf(acme.member);
  const stranger = await callerOf(other.owner);

  const app: TestApp = {
    url,
    server: api.server,
    databaseUrl: database.url,
    as,
    signIn,
    tenant: { id: acme.id, slug: 'acme' },
    tenantKey: { tenantId: acme.id, tenantSlug: 'acme' },
    owner,
    member,
    application: { token: acme.applicationToken },
    stranger,
    strangerApplication: { token: other.applicationToken },
    launch,
    objects: createObjectStore(objectStoreLocation(config)),
    queuePrefix,
    dataDir,
    env,
    db,
    sql,
    async close() {
      api.server.closeAllConnections();
      api.closeSockets();
      await new Promise((resolve) => api.server.close(resolve));
      await Promise.all([api.disconnect(), orm?.close(true), disconnect(), client.connection.close()]);
      await database.drop();
      rmSync(dataDir, { recursive: true, force: true });
      // The module of the test file stays in memory, and keeps what the app refers to.
      for (const name of Object.keys(app)) Reflect.deleteProperty(app, name);
    },
  };
  return app;
}

const notSignedIn = async (person: { email: string; password: string }): Promise<Caller> => ({
  ...person,
  token: '',
  refreshToken: '',
});

async function databaseOf({
  databaseUrl,
  tenants,
  hasOwnTenants = false,
}: TestAppOptions): Promise<{ database: TestDatabase; tenants: FirstTenants }> {
  if (databaseUrl === undefined && !hasOwnTenants) return databaseWithTenants();
  const database = databaseUrl === undefined ? await testDatabase() : { url: databaseUrl, drop: async () => {} };
  return { database, tenants: tenants ?? (await makeFirstTenants(database.url)) };
}
