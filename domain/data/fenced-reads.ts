import { type CompiledQuery, type DatabaseConnection, DefaultQueryExecutor, Kysely } from 'kysely';
import type pg from 'pg';
import { collectionSources } from '../documents/collection-limit-rules.ts';
import type { Actor } from '../shared/actor.ts';
import { QuaysideDialect } from './dialect.ts';
import { createPool, type DatabaseAccess } from './pool.ts';
import { inOnePacket, PreparedStatements } from './prepared-statements.ts';
import type { ReadDatabase, Tables } from './tables.ts';

/** A read that takes longer is cancelled (SQLSTATE 57014). */
export const READ_TIMEOUT_MS = 30_000;

/** What a query needs to read: a unit of work, or fenced reads. */
export interface Reads {
  tenantId: string;
  db: ReadDatabase;
}

export interface ReadOptions {
  timeoutMs?: number;
  /** For what a client composes, where a plan for any values would be a bad one for these. */
  isPlannedAnew?: boolean;
}

/** Reads of one actor, outside any transaction. */
export interface ActorReads extends Reads {
  /** The same reads with a time-out of their own, or with statements that are planned for their values. */
  with: (options: ReadOptions) => Reads;
}

export interface FencedReads {
  as: (actor: Actor) => ActorReads;
  close: () => Promise<void>;
}

/**
 * Reads without a transaction, each by itself, for lists where each round trip counts. They have a pool of their own
 * whose connections can only read. Each connection remembers whose fence it has and sets it anew for another actor;
 * nothing else uses these connections.
 */
export function createFencedReads(access: DatabaseAccess, onError: (error: Error) => void): FencedReads {
  const pool = createPool({ ...access, isReadOnly: true, isPipelined: true }, onError);
  const sessions = new WeakMap<pg.PoolClient, Session>();
  const sessionOf = (client: pg.PoolClient): Session => {
    const session = sessions.get(client) ?? { statements: new PreparedStatements(client), fence: undefined };
    sessions.set(client, session);
    return session;
  };
  const dialect = new QuaysideDialect(pool);
  const [driver, compiler, adapter] = [dialect.createDriver(), dialect.createQueryCompiler(), dialect.createAdapter()];

  const database = (actor: Actor, { timeoutMs = READ_TIMEOUT_MS, isPlannedAnew = false }: ReadOptions) => {
    const variables = Object.entries({ ...fenceVariables(actor), statement_timeout: String(timeoutMs) });
    const executor = new DefaultQueryExecutor(compiler, adapter, {
      async provideConnection(consumer) {
        const client = await pool.connect();
        try {
          return await consumer(fenced(client, sessionOf(client), variables, isPlannedAnew));
        } finally {
          client.release();
        }
      },
    });
    return new Kysely<Tables>({ config: { dialect }, dialect, driver, executor });
  };

  return {
    as(actor) {
      const { tenantId } = actor;
      const withOptions = (options: ReadOptions): Reads => ({ tenantId, db: database(actor, options) });
      return { ...withOptions({}), with: withOptions };
    },
    close: () => pool.end(),
  };
}

/** What is known of a connection, whoever uses it. */
interface Session {
  statements: PreparedStatements;
  /** The variables that are set; undefined while that is not known. */
  fence: string | undefined;
}

/**
 * A connection behind a fence. Where it has another one, that is changed in the same packet as the statement is sent,
 * and PostgreSQL runs one after the other. Should the change fail, the statement's rows are thrown away: they may be
 * those of another fence. The connection is read-only, so that it can have done nothing else.
 */
const fenced = (
  client: pg.PoolClient,
  session: Session,
  variables: readonly [string, string][],
  isPlannedAnew: boolean,
): DatabaseConnection => ({
  async executeQuery({ sql, parameters }: CompiledQuery) {
    const wanted = JSON.stringify(variables);
    const ask = () => (isPlannedAnew ? client : session.statements).query(sql, [...parameters]);
    if (session.fence === wanted) return { rows: (await ask()).rows };
    session.fence = undefined;
    const settings = variables.map((_, index) => `set_config($${index * 2 + 1}, $${index * 2 + 2}, false)`);
    const [fence, result] = await Promise.allSettled(
      inOnePacket(client, () => [session.statements.query(`select ${settings.join(', ')}`, variables.flat()), ask()]),
    );
    if (fence.status === 'rejected') throw fence.reason;
    session.fence = wanted;
    if (result.status === 'rejected') throw result.reason;
    return { rows: result.value.rows };
  },
  streamQuery() {
    throw new Error('fenced reads do not stream');
  },
});

/** What the policies of `migrations/fences.ts` read; `app.collections` counts only where projects are set. */
export const fenceVariables = ({ tenantId, projectIds, collections }: Actor): Record<string, string> => ({
  'app.tenant_id': tenantId,
  'app.project_ids': projectIds === undefined ? '' : `{${projectIds.join(',')}}`,
  ...(projectIds && { 'app.collections': collections ? JSON.stringify(collectionSources(collections)) : '' }),
});
