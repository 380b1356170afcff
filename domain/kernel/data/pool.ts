import { callbackify } from 'node:util';
import pg from 'pg';
import { pgConnection } from '../overrides/pg-connection.ts';
import { checkFenced, checkRoleAlone, UnfencedConnectionError } from './served-connection.ts';

/** How many connections a pool has unless it is told. */
export const POOL_SIZE = 10;

export interface DatabaseAccess {
  databaseUrl: string;
  /** The role that each connection takes on; absent: the one that logs in. */
  role?: string;
  poolSize?: number;
  /** Every statement that would write is refused. */
  isReadOnly?: boolean;
  /** Statements are sent without waiting for the results of those before them. */
  isPipelined?: boolean;
  /** Shown in `pg_stat_activity`. */
  name?: string;
  /** Settings of PostgreSQL for each connection. */
  settings?: Readonly<Record<string, string>>;
  /** A query without an answer fails then, and its connection is dropped; absent: it waits for as long as TCP does. */
  answerMs?: number;
}

/** Settings of every connection; migrations use them, too. */
export const connectionOptions = ({
  databaseUrl,
  role,
  poolSize = POOL_SIZE,
  isReadOnly = false,
  isPipelined = false,
  name = 'quayside',
  settings = {},
  answerMs,
}: DatabaseAccess) => ({
  connectionString: databaseUrl,
  max: poolSize,
  connectionTimeoutMillis: 5_000,
  application_name: name,
  pipeline: isPipelined,
  ...(answerMs !== undefined && { query_timeout: answerMs }),
  options: [
    '-c timezone=UTC',
    // Compiling a statement costs more than any statement here runs.
    '-c jit=off',
    ...(role === undefined ? [] : [`-c role=${role}`]),
    ...(isReadOnly ? ['-c default_transaction_read_only=on'] : []),
    ...Object.entries(settings).map(([setting, value]) => `-c ${setting}=${value}`),
  ].join(' '),
});

const { TIMESTAMPTZ, TIMESTAMP, DATE, INTERVAL } = pg.types.builtins;
/** Timestamps stay the database's text: queries return them as they are, and the ORM makes a Date for its entities. */
const types = new pg.TypeOverrides();
for (const type of [TIMESTAMPTZ, TIMESTAMP, DATE, INTERVAL]) types.setTypeParser(type, (text) => text);

/** The pool under the dialect. @param onError is told of connections that were lost or refused. */
export function createPool(access: DatabaseAccess, onError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    ...connectionOptions(access),
    ...verifying(access, onError),
    types,
    // Otherwise only who asked for a connection is told that there is none.
    log: (said: string, error?: unknown) => {
      if (said === 'client failed to connect') onError(error as Error);
    },
  });
  takeBackLostClients(pool);
  dropOutdatedClients(pool);
  // Without a listener, a connection that the server drops ends the process.
  pool.on('error', onError);
  pool.on('connect', (client) => client.on('error', onError));
  return pool;
}

/** An option of `pg-pool` that its types lack: each new connection passes it before its first use. */
const verifying = ({ role }: DatabaseAccess, onError: (error: Error) => void) => ({
  verify:
    role === undefined
      ? undefined
      : callbackify(async (client: pg.PoolClient) => {
          try {
            await checkFenced(client, role);
          } catch (error) {
            if (error instanceof UnfencedConnectionError) onError(error);
            throw error;
          }
        }),
});

/**
 * For the start of a process: throws `UnfencedConnectionError` when no connection of this access would be served.
 * A database that is away is none: the process waits for it as it does later on.
 * @param isRoleAlone whether the login may act as no other role.
 */
export async function assertFenced(
  access: DatabaseAccess & { role: string },
  { isRoleAlone = false } = {},
): Promise<void> {
  const client = new pg.Client(connectionOptions(access));
  client.on('error', () => undefined);
  try {
    await client.connect();
    await checkFenced(client, access.role);
    if (isRoleAlone) await checkRoleAlone(client, access.role);
  } catch (error) {
    if (error instanceof UnfencedConnectionError) throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** What PostgreSQL says of a prepared statement that would answer other columns than it did. */
export const OUTDATED_STATEMENT = 'cached plan must not change result type';

/** Ends clients whose prepared statements a migration has outdated: they would refuse them for as long as they live. */
export function dropOutdatedClients(pool: pg.Pool): void {
  pool.on('connect', (client) => {
    pgConnection(client).connection.on('errorMessage', ({ message }) => {
      if (message === OUTDATED_STATEMENT) client.end().catch(() => undefined);
    });
  });
}

/**
 * Takes back clients whose connection ended while somebody held them. The ORM's query builder gives a client back only
 * after a commit or rollback that succeeded, so every transaction cut by a restart of the database would cost the pool
 * one of its connections for good.
 */
export function takeBackLostClients(pool: pg.Pool): void {
  pool.on('connect', (client) => {
    client.once('end', () => {
      const { release } = client;
      // Whoever still holds it may give it back, too: that is no second release.
      client.release = () => undefined;
      try {
        release(true);
      } catch {
        // It was idle, and the pool has dropped it.
      }
    });
  });
}
