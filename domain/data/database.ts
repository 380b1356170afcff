import { Kysely } from 'kysely';
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
  const db = new Kysely<Tables>({ dialect: new QuaysideDialect(createPool(access, onError)) });
  return { db, close: () => db.destroy() };
}
