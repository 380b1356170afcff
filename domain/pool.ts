import pg from 'pg';
import { connectionOptions, type DatabaseAccess } from './orm.ts';

/**
 * A pool of plain connections, for the few statements that run so often that an ORM's share of their cost counts:
 * credential look-ups, batched triggers, the delivery lanes.
 */
export function connectPool(access: DatabaseAccess, onError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool(connectionOptions(access));
  // Without a listener, a connection that the server drops ends the process.
  pool.on('error', onError);
  pool.on('connect', (client) => client.on('error', onError));
  return pool;
}
