import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writtenPublicKeys } from '../domain/kernel/encryption/public-token-ring.ts';
import { createTokenRing } from '../domain/kernel/encryption/token-ring.ts';
import { generateKeys } from '../domain/kernel/encryption/keys.ts';
import { Container, npmRun, runInImage } from './container.ts';
import { type RunningPostgres, startPostgres } from './embedded-postgres.ts';
import type { Built } from './image.ts';
import { anyFreePort } from './ports.ts';
import { type RunningTemporal, startTemporal } from './temporal-dev-server.ts';
import { withClient } from './with-client.ts';

export const OWNER = { email: 'owner@example.com', password: 'rehearsal-of-the-image' };

/** The services of compose.yaml, without Docker. */
export interface Composition {
  url: string;
  /** Address of the database, as a superuser. */
  databaseUrl: string;
  /** Starts the API or a worker; resolves when it is healthy. */
  start: (name: 'api' | 'worker') => Promise<Container>;
  /** Starts a browser host; resolves when it can allocate browsers. */
  startBrowserHost: (image: Built) => Promise<Container>;
  postgres: { stop: () => Promise<void>; start: () => Promise<void> };
  temporal: { kill: () => void; start: () => Promise<void> };
  stop: () => Promise<void>;
}

/** Starts PostgreSQL and Temporal, migrates, and makes the first tenant. `env` is for API and workers. */
export async function compose(built: Built, place: string, env: Record<string, string>): Promise<Composition> {
  const dataDir = join(place, 'servers');
  const [port = 0, uiPort = 0, apiPort, ...metricsPorts] = await Promise.all(Array.from({ length: 5 }, anyFreePort));
  // A kill must lose nothing, so that both servers write through.
  let postgres: RunningPostgres = await startPostgres({ dataDir });
  let temporal: RunningTemporal = await startTemporal({ dataDir, port, uiPort });
  const { ownerUrl, serviceUrl, browsersUrl } = await createLogins(postgres.url);
  const owner = createSecrets(place, built.user, { DATABASE_URL: ownerUrl });
  const logins = ['--service-login', 'quayside_service', '--browser-host-login', 'quayside_browsers'];
  await runInImage(built, 'migration', owner, 'migrate', '--', ...logins);
  const tenant = ['--slug', 'demo', '--owner-email', OWNER.email];
  const withPassword = { ...owner, OWNER_PASSWORD: OWNER.password };
  await runInImage(built, 'command', withPassword, 'admin', '--', 'create-tenant', ...tenant);
  const { encryptionKeys, tokenKeys } = generateKeys();
  const url = `http://127.0.0.1:${apiPort}`;
  const shared = { PUBLIC_URL: url, TEMPORAL_ADDRESS: temporal.address, ...env };
  const service = {
    ...createSecrets(join(dataDir, 'service'), built.user, {
      DATABASE_URL: serviceUrl,
      ENCRYPTION_KEYS: encryptionKeys,
      TOKEN_KEYS: tokenKeys,
    }),
    PORT: String(apiPort),
    ...shared,
  };
  const browserHost = {
    ...createSecrets(join(dataDir, 'browser-host'), built.user, {
      DATABASE_URL: browsersUrl,
      TOKEN_PUBLIC_KEYS: writtenPublicKeys(createTokenRing(tokenKeys)),
    }),
    HOST: '127.0.0.1',
    BROWSER_HOST_PORT: '0',
    BROWSER_SPARES: '0',
    ...shared,
  };
  const commands = { api: built.command, worker: npmRun('start:worker') };
  return {
    url,
    databaseUrl: new URL('/quayside_image', postgres.url).href,
    async start(name) {
      const health = { METRICS_PORT: String(metricsPorts[name === 'api' ? 0 : 1]) };
      const container = new Container(built, name, { ...service, ...health }, commands[name]);
      const isHealthy = () =>
        new Container(built, 'health check', health, built.healthCheck).output().then(
          () => true,
          () => false,
        );
      await container.untilHealthy(isHealthy);
      return container;
    },
    async startBrowserHost(image) {
      const container = new Container(image, 'browser host', browserHost, image.command);
      await container.untilHealthy(async () => container.hasSaid('allocating browsers'));
      return container;
    },
    postgres: {
      stop: () => postgres.stop(),
      async start() {
        postgres = await startPostgres({ dataDir });
      },
    },
    temporal: {
      kill: () => temporal.kill(),
      async start() {
        temporal = await startTemporal({ dataDir, port, uiPort });
      },
    },
    async stop() {
      await temporal.stop();
      await postgres.stop();
    },
  };
}

interface Database {
  ownerUrl: string;
  serviceUrl: string;
  browsersUrl: string;
}

/** The logins of docs/deployment/postgresql/logins.sh. */
async function createLogins(superuserUrl: string): Promise<Database> {
  await withClient(superuserUrl, async (client) => {
    await client.query(`
      create role quayside_owner login createrole password 'owner';
      create role quayside_service login password 'service';
      create role quayside_browsers login password 'browsers'`);
    await client.query('create database quayside_image owner quayside_owner');
    await client.query('revoke connect, temporary on database quayside_image from public');
    await client.query('grant connect on database quayside_image to quayside_service, quayside_browsers');
  });
  const { host } = new URL(superuserUrl);
  return {
    ownerUrl: `postgres://quayside_owner:owner@${host}/quayside_image`,
    serviceUrl: `postgres://quayside_service:service@${host}/quayside_image`,
    browsersUrl: `postgres://quayside_browsers:browsers@${host}/quayside_image`,
  };
}

/** Files as Docker or Kubernetes mount secrets. */
function createSecrets(place: string, user: Built['user'], secrets: Record<string, string>): Record<string, string> {
  const folder = join(place, 'secrets');
  mkdirSync(folder, { recursive: true });
  return Object.fromEntries(
    Object.entries(secrets).map(([name, text]) => {
      const file = join(folder, name);
      writeFileSync(file, `${text}\n`, { mode: 0o400 });
      if (user) chownSync(file, user.uid, user.gid);
      return [`${name}_FILE`, file];
    }),
  );
}
