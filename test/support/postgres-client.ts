import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const INSTALL = join(import.meta.dirname, '../../.ci/postgres-client');

/** The folder of pg_dump and its like for the tests' server; undefined, and said, where there is none. */
export function findPostgresClient(): string | undefined {
  const folder = execFileSync(INSTALL, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
  return folder === '' ? undefined : folder;
}
