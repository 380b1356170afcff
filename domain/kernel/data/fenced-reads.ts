import { type CompiledQuery, type DatabaseConnection, DefaultQueryExecutor, Kysely } from 'kysely';
import type pg from 'pg';
import { collectionSources } from '../shared/collection-limit-rules.ts';
import type { Actor } from '../shared/actor.ts';
import { cancelStatement } from './cancel-statement.ts';
import { QuaysideDialect } from './dialect.ts';
import { createPool, type DatabaseAccess, POOL_SIZE } from './pool.ts';
import { inOnePacket, PreparedStatements } from './prepared-statements.ts';
import { Slots } from '../queues/slots.ts';
import type { ReadDatabase, Tables } from './tables.ts';

/** A read that takes longer is cancelled (SQLSTATE 57014). */
export const READ_TIMEOUT_MS = 30_000;

/** What a query needs to read: a unit of work, or fenced reads. */
export interface Reads {
  tenantId: string;
  db: ReadDatabase;
}

/**
 * How long a read may take. `slow` reads have few connections of their own, of which each tenant has a share (ADR 15).
 * What `varies` is first tried on an ordinary connection, a few at a time for each tenant; after `TRIED_MS`, or at once
 * while its tenant has slow reads, it becomes one of those.
 */
export type Pace = 'ordinary' | 'varies' | 'slow';

export interface ReadOptions {
  timeoutMs?: number;
  /** For what a client composes, where a plan for any values would be a bad one for these. */
  isPlannedAnew?: boolean;
  pace?: Pace;
  /** Part of a reply that has begun: it waits however many of its tenant do. */
  isContinued?: boolean;
}

/** Reads of one actor, outside any transaction. */
export interface ActorReads extends Reads {
  /** The same reads with a time-out of their own, or with statements that are planned for their values. */
  with: (options: ReadOptions) => Reads;
  /**
   * Runs a work that takes long although each of its reads is brief, in one of the places that its tenant has for slow
   * reads. The work itself makes no slow reads. Throws `rate_limited` when too many wait.
   */
  asSlow: <T>(work: () => Promise<T>) => Promise<T>;
}

export interface FencedReads {
  /** @param signal of a client that may leave: its slow reads are cancelled. Asked for when there is one. */
  as: (actor: Actor, signal?: () => AbortSignal) => ActorReads;
  close: () => Promise<void>;
}

/**
 * How many of the connections for ordinary reads no single tenant takes, so that the reads of the others never wait for all
 * that one of them has asked for at once.
 */
const leftToOthers = (connections: number): number => Math.ceil(connections / 4);
const ORDINARY_WAITING_PER_TENANT = 2_000;
const ORDINARY_WAIT_MS = 30_000;
/** What the slow reads of one tenant may take of a process. */
export const SLOW_RUNNING_PER_TENANT = 2;
export const SLOW_WAITING_PER_TENANT = 10;
const SLOW_WAIT_MS = 60_000;
/** A tenant that never stops asking keeps two thirds of one CPU of the database busy. */
const REST_FACTOR = 2;
/** Longer than reads take that find what they look for by an index, also on a busy machine. */
const TRIED_MS = 300;
const TRIED_PER_TENANT = 3;
const TRIED_WAITING_PER_TENANT = 200;

const SLOW_SETTINGS = {
  // One read, one process: so many at once are counted on.
  max_parallel_workers_per_gather: '0',
  // When this process is killed, PostgreSQL ends what it asked for.
  client_connection_check_interval: '1s',
};

/**
 * Reads without a transaction, each by itself, for lists where each round trip counts. They have pools of their own
 * whose connections can only read. Each connection remembers whose fence it has and sets it anew for another actor;
 * nothing else uses these connections.
 */
export function createFencedReads(
  access: DatabaseAccess & { slowPoolSize?: number },
  onError: (error: Error) => void,
): FencedReads {
  const { slowPoolSize = 4, ...ordinary } = access;
  const pool = createPool({ ...ordinary, isReadOnly: true, isPipelined: true }, onError);
  const slowPool = createPool(
    { ...ordinary, poolSize: slowPoolSize, isReadOnly: true, isPipelined: true, settings: SLOW_SETTINGS },
    onError,
  );
  const connections = ordinary.poolSize ?? POOL_SIZE;
  const ordinaryReads = new Slots({
    works: 'reads',
    total: connections,
    perHolder: Math.max(1, connections - leftToOthers(connections)),
    waitingPerHolder: ORDINARY_WAITING_PER_TENANT,
    waitMs: ORDINARY_WAIT_MS,
  });
  const slowReads = new Slots({
    works: 'slow queries',
    total: slowPoolSize,
    perHolder: SLOW_RUNNING_PER_TENANT,
    waitingPerHolder: SLOW_WAITING_PER_TENANT,
    waitMs: SLOW_WAIT_MS,
    restFactor: REST_FACTOR,
  });
  const triedReads = new Slots({
    works: 'slow queries',
    total: connections,
    perHolder: TRIED_PER_TENANT,
    waitingPerHolder: TRIED_WAITING_PER_TENANT,
    waitMs: SLOW_WAIT_MS,
    restFactor: REST_FACTOR,
  });
  const sessions = new WeakMap<pg.PoolClient, Session>();
  const sessionOf = (client: pg.PoolClient): Session => {
    const session = sessions.get(client) ?? { statements: new PreparedStatements(client), fence: undefined };
    sessions.set(client, session);
    return session;
  };
  const dialect = new QuaysideDialect(pool);
  const [driver, compiler, adapter] = [dialect.createDriver(), dialect.createQueryCompiler(), dialect.createAdapter()];

  const database = (actor: Actor, options: ReadOptions, signalOf: (() => AbortSignal) | undefined) => {
    const { timeoutMs = READ_TIMEOUT_MS, isPlannedAnew = false, pace = 'ordinary', isContinued } = options;
    const { tenantId } = actor;
    const fence = fenceVariables(actor);
    const ask = (client: pg.PoolClient, query: CompiledQuery, limitMs: number) => {
      const variables = Object.entries({ ...fence, statement_timeout: String(limitMs) });
      return askFenced(client, sessionOf(client), variables, query, isPlannedAnew);
    };
    const askOrdinarily = (query: CompiledQuery, limitMs: number) =>
      ordinaryReads.run(
        tenantId,
        async () => {
          const client = await pool.connect();
          try {
            return await ask(client, query, limitMs);
          } finally {
            client.release();
          }
        },
        { isContinued },
      );
    const askSlowly = (query: CompiledQuery) => {
      const signal = signalOf?.();
      const work = () => cancellable(slowPool, signal, (client) => ask(client, query, timeoutMs));
      return slowReads.run(tenantId, work, { signal, isContinued });
    };
    const tryFirst = async (query: CompiledQuery) => {
      const tried = await triedReads.run(
        tenantId,
        async () => {
          // Others of the tenant may have turned out to be slow while this one waited.
          if (slowReads.isUsedBy(tenantId)) return undefined;
          try {
            return await askOrdinarily(query, TRIED_MS);
          } catch (error) {
            if ((error as { code?: string }).code !== TIMED_OUT) throw error;
            return undefined;
          }
        },
        { signal: signalOf?.(), isContinued },
      );
      return tried ?? askSlowly(query);
    };
    const executeQuery = (query: CompiledQuery) => {
      if (pace === 'ordinary') return askOrdinarily(query, timeoutMs);
      return pace === 'slow' || slowReads.isUsedBy(tenantId) ? askSlowly(query) : tryFirst(query);
    };
    const connection: DatabaseConnection = {
      executeQuery: async (query) => ({ rows: (await executeQuery(query)) as never[] }),
      streamQuery() {
        throw new Error('fenced reads do not stream');
      },
    };
    const executor = new DefaultQueryExecutor(compiler, adapter, {
      provideConnection: (consumer) => consumer(connection),
    });
    return new Kysely<Tables>({ config: { dialect }, dialect, driver, executor });
  };

  return {
    as(actor, askSignal) {
      const { tenantId } = actor;
      let signal: AbortSignal | undefined;
      const signalOf = askSignal && (() => (signal ??= askSignal()));
      const withOptions = (options: ReadOptions): Reads => ({ tenantId, db: database(actor, options, signalOf) });
      return {
        ...withOptions({}),
        with: withOptions,
        asSlow: (work) => slowReads.run(tenantId, work, { signal: signalOf?.() }),
      };
    },
    close: async () => {
      await Promise.all([pool.end(), slowPool.end()]);
    },
  };
}

/** SQLSTATE of a statement that was cancelled, also by its time-out. */
const TIMED_OUT = '57014';

/** Runs a statement on a connection of a pool; when its client leaves, PostgreSQL cancels it. */
async function cancellable<T>(
  pool: pg.Pool,
  signal: AbortSignal | undefined,
  run: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let cancelled: Promise<void> | undefined;
  const cancel = () => {
    cancelled = cancelStatement(client);
  };
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    signal?.throwIfAborted();
    return await run(client);
  } catch (error) {
    throw cancelled ? signal?.reason : error;
  } finally {
    signal?.removeEventListener('abort', cancel);
    await cancelled;
    client.release(cancelled !== undefined);
  }
}

/** What is known of a connection, whoever uses it. */
interface Session {
  statements: PreparedStatements;
  /** The variables that are set; undefined while that is not known. */
  fence: string | undefined;
}

/**
 * Asks a connection behind a fence. Where it has another one, that is changed in the same packet as the statement is
 * sent, and PostgreSQL runs one after the other. Should the change fail, the statement's rows are thrown away: they may be
 * those of another fence. The connection is read-only, so that it can have done nothing else.
 */
async function askFenced(
  client: pg.PoolClient,
  session: Session,
  variables: readonly [string, string][],
  { sql, parameters }: CompiledQuery,
  isPlannedAnew: boolean,
): Promise<unknown[]> {
  const wanted = JSON.stringify(variables);
  const ask = () => (isPlannedAnew ? client : session.statements).query(sql, [...parameters]);
  if (session.fence === wanted) return (await ask()).rows;
  session.fence = undefined;
  const settings = variables.map((_, index) => `set_config($${index * 2 + 1}, $${index * 2 + 2}, false)`);
  const [fence, result] = await Promise.allSettled(
    inOnePacket(client, () => [session.statements.query(`select ${settings.join(', ')}`, variables.flat()), ask()]),
  );
  if (fence.status === 'rejected') throw fence.reason;
  session.fence = wanted;
  if (result.status === 'rejected') throw result.reason;
  return result.value.rows;
}

/** What the policies of `migrations/fences.ts` read; `app.collections` and `app.run_id` count only where projects are set. */
export const fenceVariables = ({ tenantId, projectIds, collections, run }: Actor): Record<string, string> => ({
  'app.tenant_id': tenantId,
  'app.project_ids': projectIds === undefined ? '' : `{${projectIds.join(',')}}`,
  ...(projectIds && {
    'app.collections': collections ? JSON.stringify(collectionSources(collections)) : '',
    'app.run_id': run?.runId ?? '',
  }),
});
