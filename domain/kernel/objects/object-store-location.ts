import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../settings/config.ts';

/** Where objects are kept. */
export type ObjectStoreLocation =
  | { kind: 'folder'; path: string }
  | { kind: 's3'; bucket: string; prefix: string; endpoint: string | undefined; region: string };

/**
 * Reads `OBJECT_STORE_URL`: `file:///var/lib/quayside/objects`, or `s3://bucket/prefix?region=eu-central-1` with an
 * `endpoint` for stores other than Amazon's. Absent: the folder `objects` of the data directory. Throws `ConfigError`.
 */
export function objectStoreLocation({
  OBJECT_STORE_URL,
  DATA_DIR,
}: {
  OBJECT_STORE_URL?: string | undefined;
  DATA_DIR: string;
}): ObjectStoreLocation {
  if (OBJECT_STORE_URL === undefined) return { kind: 'folder', path: resolve(join(DATA_DIR, 'objects')) };
  const url = new URL(OBJECT_STORE_URL);
  if (url.protocol === 's3:' && url.hostname !== '') {
    return {
      kind: 's3',
      bucket: url.hostname,
      prefix: url.pathname.replace(/^\/|\/$/g, ''),
      endpoint: url.searchParams.get('endpoint') ?? undefined,
      region: url.searchParams.get('region') ?? 'us-east-1',
    };
  }
  if (url.protocol === 'file:' && url.hostname === '') return { kind: 'folder', path: fileURLToPath(url) };
  throw new ConfigError(
    'The environment variable OBJECT_STORE_URL is malformed: it must be file:///path or s3://bucket/prefix.',
  );
}
