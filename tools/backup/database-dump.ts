import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { OperatorError } from '../operator-error.ts';
import { withClient } from '../with-client.ts';

const run = promisify(execFile);
const DUMP = 'database.dump';
const ROLES = 'roles.sql';
const ALREADY_THERE = '42710';

/** Dumps a database of one's own by pg_dump, in its custom format, and the roles without their passwords. */
export async function dumpDatabase(url: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  await program('pg_dump', url, ['--format=custom', `--file=${join(folder, DUMP)}`], env);
  await program('pg_dumpall', url, ['--roles-only', '--no-role-passwords', `--file=${join(folder, ROLES)}`], env);
}

/** Restores it into an empty database. Roles that are there stay as they are; new ones have no password. */
export async function restoreDatabase(url: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  await withClient(url, async (client) => {
    const { rowCount } = await client.query(`select from pg_tables where schemaname = 'public' limit 1`);
    if (rowCount)
      throw new OperatorError(
        `The database ${new URL(url).pathname.slice(1)} is not empty: make a new one with createdb, and name it in DATABASE_URL.`,
      );
    await restoreRoles(client, readFileSync(join(folder, ROLES), 'utf8').split('\n'));
  });
  await program('pg_restore', url, ['--exit-on-error', '--single-transaction', join(folder, DUMP)], env);
}

/** @param statements as pg_dumpall writes them, each on a line of its own. */
async function restoreRoles(client: pg.Client, statements: readonly string[]): Promise<void> {
  const made = new Set<string>();
  for (const statement of statements) {
    const [, verb, role = ''] = /^(CREATE ROLE|ALTER ROLE|GRANT .* TO) ("[^"]+"|[\w-]+)/.exec(statement) ?? [];
    if (verb === undefined || (verb !== 'CREATE ROLE' && !made.has(role))) continue;
    try {
      await client.query(statement);
      made.add(role);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== ALREADY_THERE) throw error;
    }
  }
}

/**
 * How a client program of PostgreSQL is told of a database: its address in arguments, which every account of the machine
 * can read while it runs, and the password in the environment.
 */
export function connectionOf(url: string): { args: string[]; env: { PGPASSWORD?: string } } {
  const address = new URL(url);
  // One in the query goes before.
  const password = decodeURIComponent(/[?&]password=([^&]*)/.exec(address.search)?.[1] ?? address.password);
  address.password = '';
  address.search = address.search.replaceAll(/(?<=[?&])password=[^&]*&?/g, '');
  return { args: ['--dbname', address.href], env: password === '' ? {} : { PGPASSWORD: password } };
}

async function program(name: string, url: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const connection = connectionOf(url);
  try {
    await run(name, [...connection.args, ...args], { env: { ...env, ...connection.env } });
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT')
      throw new OperatorError(
        `${name} is not on PATH: install the client programs of the server's PostgreSQL version.`,
      );
    const lines = stderr.trim().split('\n');
    const why = lines.find((line) => /version/.test(line)) ?? lines.at(-1) ?? '';
    throw new OperatorError(`${name} failed: ${stderr.includes('server version mismatch') ? lines.join('; ') : why}`);
  }
}
