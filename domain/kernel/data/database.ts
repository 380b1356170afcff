import { type CompiledQuery, DefaultQueryExecutor, Kysely, type PostgresPool, type QueryResult } from 'kysely';
import { QuaysideDialect } from './dialect.ts';
import { createPool, type DatabaseAccess } from './pool.ts';
import type { Database, Tables } from './tables.ts';

export interface DatabaseConnection {
  db: Database;
  close: () => Promise<void>;
}

/**
 * Connections outside any unit of work: for the system role, which works across tenants, and for look-ups that come
 * before an actor is known. Each statement is its own transaction unless `db.transaction()` is used.
 * @param onError is told of connections that were lost.
 */
export function connectDatabase(access: DatabaseAccess, onError: (error: Error) => void): DatabaseConnection {
  const dialect = new QuaysideDialect(createPool(access, onError));
  const executor = new DirectExecutor(dialect);
  const db = new Kysely<Tables>({ config: { dialect }, dialect, driver: dialect.createDriver(), executor });
  return { db, close: () => dialect.pool.end() };
}

const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/**
 * Runs single statements with fewer steps than Kysely, which are a tenth of what a look-up at each request costs.
 * Transactions take Kysely's way.
 */
class DirectExecutor extends DefaultQueryExecutor {
  readonly #pool: PostgresPool;

  constructor(dialect: QuaysideDialect) {
    const standard = new Kysely<Tables>({ dialect }).getExecutor();
    super(dialect.createQueryCompiler(), dialect.createAdapter(), standard);
    this.#pool = dialect.pool;
  }

  override async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const client = await this.#pool.connect();
    try {
      const { command, rowCount, rows } = await client.query<Row>(sql, parameters);
      return WRITES.has(command) ? { rows, numAffectedRows: BigInt(rowCount) } : { rows };
    } finally {
      client.release();
    }
  }
}
