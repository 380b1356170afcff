import { CompiledQuery, type DatabaseConnection, DefaultQueryExecutor, Kysely } from 'kysely';
import type { Actor } from '../shared/actor.ts';
import { QuaysideDialect } from './dialect.ts';
import { createPool, type DatabaseAccess } from './pool.ts';
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
  /** Rows of a statement with `?` placeholders. Timestamps come as text. */
  sql<Row>(statement: string, parameters?: readonly unknown[], options?: { timeoutMs?: number }): Promise<Row[]>;
  /** Likewise for a statement that was put together for one request: planned anew. */
  once<Row>(statement: string, parameters: readonly unknown[], options?: { timeoutMs?: number }): Promise<Row[]>;
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
  const pool = createPool({ ...access, isReadOnly: true }, onError);
  const fences = new WeakMap<DatabaseConnection, string>();

  const fence = async (connection: DatabaseConnection, variables: [string, string][]): Promise<void> => {
    const wanted = JSON.stringify(variables);
    if (fences.get(connection) === wanted) return;
    // Forgotten first: a half-set fence must not be taken for either.
    fences.delete(connection);
    const settings = variables.map((_, index) => `set_config($${index * 2 + 1}, $${index * 2 + 2}, false)`);
    await connection.executeQuery(CompiledQuery.raw(`select ${settings.join(', ')}`, variables.flat()));
    fences.set(connection, wanted);
  };

  const through = (dialect: QuaysideDialect) => {
    const [driver, compiler, adapter] = [
      dialect.createDriver(),
      dialect.createQueryCompiler(),
      dialect.createAdapter(),
    ];
    const ready = driver.init();
    return (actor: Actor, timeoutMs: number): Kysely<Tables> => {
      const variables = Object.entries({ ...fenceVariables(actor), statement_timeout: String(timeoutMs) });
      const executor = new DefaultQueryExecutor(compiler, adapter, {
        async provideConnection(consumer) {
          await ready;
          const connection = await driver.acquireConnection();
          try {
            await fence(connection, variables);
            return await consumer(connection);
          } finally {
            await driver.releaseConnection(connection);
          }
        },
      });
      return new Kysely<Tables>({ config: { dialect }, dialect, driver, executor });
    };
  };
  const prepared = through(new QuaysideDialect(pool));
  const plannedAnew = through(new QuaysideDialect(pool, { isPrepared: false }));

  return {
    as(actor) {
      const { tenantId } = actor;
      const withOptions = ({ timeoutMs = READ_TIMEOUT_MS, isPlannedAnew = false }: ReadOptions): Reads => ({
        tenantId,
        db: (isPlannedAnew ? plannedAnew : prepared)(actor, timeoutMs),
      });
      const { db } = withOptions({});
      const run = async <Row>(reads: ReadDatabase, statement: string, parameters: readonly unknown[]): Promise<Row[]> =>
        (await reads.executeQuery<Row>(CompiledQuery.raw(numbered(statement), [...parameters]))).rows;
      return {
        tenantId,
        db,
        with: withOptions,
        sql: (statement, parameters = [], { timeoutMs = READ_TIMEOUT_MS } = {}) =>
          run(prepared(actor, timeoutMs), statement, parameters),
        once: (statement, parameters, { timeoutMs = READ_TIMEOUT_MS } = {}) =>
          run(plannedAnew(actor, timeoutMs), statement, parameters),
      };
    },
    close: () => pool.end(),
  };
}

/** A statement with `?` placeholders as PostgreSQL numbers them: `$1` for the first. */
export function numbered(statement: string): string {
  let place = 0;
  return statement.replaceAll('?', () => `$${++place}`);
}

/** What the policies of `migrations/fences.ts` read. */
export const fenceVariables = ({ tenantId, projectIds }: Actor): Record<string, string> => ({
  'app.tenant_id': tenantId,
  'app.project_ids': projectIds === undefined ? '' : `{${projectIds.join(',')}}`,
});
