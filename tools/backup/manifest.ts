import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../operator-error.ts';

const FORMAT = 1;

/** What a backup contains, as its `backup.json` says. */
export interface Manifest {
  format: number;
  madeAt: string;
  /** `files`: of the embedded database; `dump`: of pg_dump, in its custom format. */
  database: 'files' | 'dump';
  /** Version of the server, as it says. */
  postgresVersion: string;
  objects: number;
  hasMetrics: boolean;
  /** The embedded engine's store; that of another is backed up by its own means. */
  hasTemporal: boolean;
  /** Names of the keys that must be kept elsewhere; the keys themselves are not contained. */
  encryptionKeyIds: string[];
  tokenKeyIds: string[];
}

export const newManifest = (about: Omit<Manifest, 'format' | 'madeAt'>): Manifest => ({
  format: FORMAT,
  madeAt: new Date().toISOString(),
  ...about,
});

export const manifestFile = (folder: string): string => join(folder, 'backup.json');

/** Throws `OperatorError` for a folder that holds no complete backup of a version that is known. */
export function readManifest(folder: string): Manifest {
  const file = manifestFile(folder);
  if (!existsSync(file)) throw new OperatorError(`${folder} holds no complete backup: there is no ${file}.`);
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
  if (manifest.format !== FORMAT)
    throw new OperatorError(`The backup has format ${manifest.format}, and this version reads ${FORMAT}.`);
  return manifest;
}

/**
 * The names of the keys with which the service starts: those of the environment, else those of the data directory.
 * @param env as `readEnvironment` answers it.
 */
export function configuredKeyIds(
  dataDir: string,
  { ENCRYPTION_KEYS, TOKEN_KEYS }: NodeJS.ProcessEnv,
): Pick<Manifest, 'encryptionKeyIds' | 'tokenKeyIds'> {
  const file = join(dataDir, 'keys.json');
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : {};
  return {
    encryptionKeyIds: idsOf(ENCRYPTION_KEYS ?? kept.encryptionKeys),
    tokenKeyIds: idsOf(TOKEN_KEYS ?? kept.tokenKeys),
  };
}

const idsOf = (keys = ''): string[] => keys.split(',').flatMap((key) => key.trim().split(':')[0] || []);
