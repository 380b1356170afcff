import { existsSync, mkdirSync, copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createFolderObjectStore } from '../../activities/adapters/objects/folder-object-store.ts';
import { createObjectStore } from '../../activities/adapters/objects/object-store.ts';
import { objectStoreLocation } from '../../domain/kernel/objects/object-store-location.ts';
import { readEnvironment } from '../../domain/kernel/settings/config.ts';
import { startPostgres } from '../embedded-postgres.ts';
import { lockInstance, runningInstance } from '../instance-lock.ts';
import { startMetricsStore } from '../metrics-store.ts';
import { asOperatorError, dataDirOf, operatorDatabaseUrl } from '../operator-database.ts';
import { type CommandContext, OperatorError } from '../operator-error.ts';
import { anyFreePort } from '../ports.ts';
import { withClient } from '../with-client.ts';
import { copyDatabaseFiles } from './database-files.ts';
import { dumpDatabase } from './database-dump.ts';
import { configuredKeyIds, type Manifest, manifestFile, newManifest } from './manifest.ts';
import { copyObjects, copyTemporal, exportMetrics } from './stores.ts';

/** What a backup reads, and what was started for it. */
interface Sources {
  databaseUrl: string;
  metricsUrl: string | undefined;
  /** Stops what was started for the backup. */
  release: () => Promise<void>;
}

/** Embedded parts are those of the running service, or are started for the while. */
async function openSources(dataDir: string, env: NodeJS.ProcessEnv): Promise<Sources> {
  const { DATABASE_URL: ownDatabase, METRICS_URL: ownMetrics } = env;
  const running = runningInstance(dataDir);
  const stops: (() => Promise<void> | void)[] = [];
  const release = async () => {
    for (const stop of stops.toReversed()) await stop();
  };
  try {
    if (!running && !(ownDatabase && ownMetrics) && existsSync(dataDir)) {
      const lock = await lockInstance(dataDir);
      stops.push(() => lock.release());
    }
    let databaseUrl = operatorDatabaseUrl(env);
    if (!ownDatabase && !running) {
      const started = await startPostgres({ dataDir });
      stops.push(() => started.stop());
      databaseUrl = started.url;
    }
    let metricsUrl = ownMetrics ?? running?.metricsUrl;
    if (metricsUrl === undefined && !running && existsSync(join(dataDir, 'metrics'))) {
      const started = await startMetricsStore({ dataDir, port: await anyFreePort() });
      stops.push(() => started.stop());
      metricsUrl = started.url;
    }
    return { databaseUrl, metricsUrl, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/**
 * `npm run backup -- FOLDER`: database, objects, metrics and the store of the embedded engine, while the service runs or
 * not. The folder appears when it is complete.
 */
export async function backupCommand([given, ...more]: readonly string[], context: CommandContext): Promise<unknown> {
  if (given === undefined || more.length > 0) throw new OperatorError('Usage: npm run backup -- FOLDER');
  const folder = resolve(given);
  if (existsSync(folder)) throw new OperatorError(`${folder} exists already: name a new folder.`);
  const env = readEnvironment(context.env);
  const dataDir = dataDirOf(env);
  const draft = `${folder}.partial`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  const { databaseUrl, metricsUrl, release } = await openSources(dataDir, env);
  try {
    mkdirSync(draft, { mode: 0o700 });
    const isEmbedded = env.DATABASE_URL === undefined;
    if (isEmbedded) {
      await copyDatabaseFiles(databaseUrl, join(dataDir, 'postgresql'), join(draft, 'database'));
      copyFileSync(join(dataDir, 'postgresql.json'), join(draft, 'postgresql.json'));
    } else await dumpDatabase(databaseUrl, draft, env);
    // After the rows that name them.
    const objects = createObjectStore(objectStoreLocation({ ...env, DATA_DIR: dataDir }));
    const copied = await copyObjects(objects, createFolderObjectStore(join(draft, 'objects')));
    if (metricsUrl !== undefined) await exportMetrics(metricsUrl, draft);
    const hasTemporal = env.TEMPORAL_ADDRESS === undefined && (await copyTemporal(dataDir, draft));
    const manifest = newManifest({
      database: isEmbedded ? 'files' : 'dump',
      postgresVersion: await versionOf(databaseUrl),
      objects: copied,
      hasMetrics: metricsUrl !== undefined,
      hasTemporal,
      ...configuredKeyIds(dataDir, env),
    });
    writeFileSync(manifestFile(draft), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
    renameSync(draft, folder);
    return summary(folder, dataDir, manifest);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw asOperatorError(error, databaseUrl, env);
  } finally {
    await release();
  }
}

const versionOf = (url: string): Promise<string> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    return rows[0]?.server_version ?? '';
  });

function summary(folder: string, dataDir: string, manifest: Manifest): string {
  const { encryptionKeyIds, tokenKeyIds } = manifest;
  const keys = [...new Set([...encryptionKeyIds, ...tokenKeyIds])].join(', ');
  const where = existsSync(join(dataDir, 'keys.json')) ? join(dataDir, 'keys.json') : 'ENCRYPTION_KEYS, TOKEN_KEYS';
  return [
    `${folder} contains the database (PostgreSQL ${manifest.postgresVersion}), ${manifest.objects} objects,`,
    `  metrics: ${manifest.hasMetrics ? 'yes' : 'no metrics store is configured'},`,
    `  Temporal: ${manifest.hasTemporal ? 'yes' : 'no: back its own database up; without it what waits is started again'}.`,
    `It does not contain the keys (${keys || 'none were found here'}; ${where}): keep them elsewhere, for without them`,
    'its secrets cannot be read. Protect the folder as you do the database.',
  ].join('\n');
}
