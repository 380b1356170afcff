import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createFolderObjectStore } from '../../activities/adapters/objects/folder-object-store.ts';
import { createObjectStore } from '../../activities/adapters/objects/object-store.ts';
import { checkChain } from '../../domain/kernel/audit/check-chain.ts';
import { connectDatabase } from '../../domain/kernel/data/database.ts';
import { objectStoreLocation } from '../../domain/kernel/objects/object-store-location.ts';
import { readEnvironment } from '../../domain/kernel/settings/config.ts';
import { startPostgres } from '../embedded-postgres.ts';
import { lockInstance } from '../instance-lock.ts';
import { startMetricsStore } from '../metrics-store.ts';
import { asOperatorError, dataDirOf, operatorAccess } from '../operator-database.ts';
import { type CommandContext, OperatorError } from '../operator-error.ts';
import { anyFreePort } from '../ports.ts';
import { placeDatabaseFiles } from './database-files.ts';
import { restoreDatabase } from './database-dump.ts';
import { configuredKeyIds, type Manifest, readManifest } from './manifest.ts';
import { copyObjects, importMetrics } from './stores.ts';

const USAGE = 'Usage: npm run restore -- FOLDER [--without-keys]';

/**
 * `npm run restore -- FOLDER`: what a backup contains, into an empty DATA_DIR, or into the empty database, the objects
 * and the metrics store of the environment; then the audit trails are verified.
 */
export async function restoreCommand(args: readonly string[], context: CommandContext): Promise<unknown> {
  const { folder, isWithoutKeys } = argumentsOf(args);
  const manifest = readManifest(folder);
  const env = readEnvironment(context.env);
  const dataDir = dataDirOf(env);
  if (!isWithoutKeys) assertKeys(manifest, dataDir, env);
  const isEmbedded = env.DATABASE_URL === undefined;
  if (isEmbedded !== (manifest.database === 'files'))
    throw new OperatorError(
      manifest.database === 'files'
        ? 'The backup is of an embedded database: restore it without DATABASE_URL, into a DATA_DIR.'
        : 'The backup is a dump: name the empty database for it in DATABASE_URL.',
    );
  for (const name of ['postgresql', 'objects', 'metrics', 'temporal.db'])
    if (existsSync(join(dataDir, name)))
      throw new OperatorError(`${join(dataDir, name)} exists: restore into an empty DATA_DIR, or move it away first.`);
  mkdirSync(dataDir, { recursive: true });
  const lock = await lockInstance(dataDir);
  const stops: (() => Promise<void>)[] = [];
  try {
    if (isEmbedded) {
      await placeDatabaseFiles(join(folder, 'database'), join(dataDir, 'postgresql'));
      copyFileSync(join(folder, 'postgresql.json'), join(dataDir, 'postgresql.json'));
    }
    const started = isEmbedded ? await startPostgres({ dataDir }) : undefined;
    if (started) stops.push(() => started.stop());
    const databaseUrl = started?.url ?? env.DATABASE_URL ?? '';
    if (!isEmbedded) await restoreDatabase(databaseUrl, folder, env);
    const objects = createObjectStore(objectStoreLocation({ ...env, DATA_DIR: dataDir }));
    const copied = await copyObjects(createFolderObjectStore(join(folder, 'objects')), objects);
    if (manifest.hasMetrics) await restoreMetrics(folder, dataDir, env.METRICS_URL);
    const hasTemporal = manifest.hasTemporal && env.TEMPORAL_ADDRESS === undefined;
    if (hasTemporal) copyFileSync(join(folder, 'temporal.db'), join(dataDir, 'temporal.db'));
    const trails = await verifyTrails(databaseUrl, env).catch((error: unknown) => {
      throw asOperatorError(error, databaseUrl, env);
    });
    return [
      `Restored the database of ${manifest.madeAt}, ${copied} objects${manifest.hasMetrics ? ', metrics' : ''}${hasTemporal ? ', the store of Temporal' : ''}.`,
      ...trails,
      'Start the service: what waits goes on within minutes.',
    ].join('\n');
  } finally {
    for (const stop of stops.toReversed()) await stop();
    lock.release();
  }
}

function argumentsOf(args: readonly string[]): { folder: string; isWithoutKeys: boolean } {
  try {
    const options = { 'without-keys': { type: 'boolean' } } as const;
    const { positionals, values } = parseArgs({ args: [...args], allowPositionals: true, options });
    const [folder, ...more] = positionals;
    if (folder === undefined || more.length > 0) throw new OperatorError(USAGE);
    return { folder: resolve(folder), isWithoutKeys: values['without-keys'] ?? false };
  } catch {
    throw new OperatorError(USAGE);
  }
}

/** A service that starts without them makes new ones, and cannot read what was stored under the old. */
function assertKeys({ encryptionKeyIds }: Manifest, dataDir: string, env: NodeJS.ProcessEnv): void {
  const here = configuredKeyIds(dataDir, env).encryptionKeyIds;
  const missing = encryptionKeyIds.filter((id) => !here.includes(id));
  if (missing.length > 0)
    throw new OperatorError(
      `The keys are not here: copy keys.json into ${dataDir}, or set ENCRYPTION_KEYS and TOKEN_KEYS, so that ${missing.join(', ')} can be read; --without-keys restores without stored secrets.`,
    );
}

async function restoreMetrics(folder: string, dataDir: string, url: string | undefined): Promise<void> {
  if (url !== undefined) return importMetrics(url, folder);
  const store = await startMetricsStore({ dataDir, port: await anyFreePort() });
  try {
    await importMetrics(store.url, folder);
  } finally {
    await store.stop();
  }
}

/** A line for each tenant. Throws `OperatorError` naming the first break of those whose trail is not as it was written. */
async function verifyTrails(databaseUrl: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const { db, close } = connectDatabase(operatorAccess(databaseUrl, env), () => undefined);
  try {
    const tenants = await db.selectFrom('tenant').select(['id', 'slug']).orderBy('slug').execute();
    const lines: string[] = [];
    for (const { id: tenantId, slug } of tenants) {
      const { checked, firstBreak } = await checkChain({ db, tenantId }, 1, undefined, Infinity);
      if (firstBreak)
        throw new OperatorError(
          `Restored, but the audit trail of ${slug} is not what was written, at ${firstBreak.sequence}: ${firstBreak.detail}.`,
        );
      lines.push(`Audit trail of ${slug}: ${checked} entries, intact.`);
    }
    return lines;
  } finally {
    await close();
  }
}
