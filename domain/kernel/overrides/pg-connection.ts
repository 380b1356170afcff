import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type pg from 'pg';

/** What `pg` (8.23) keeps of a connection and does not declare; test/domain/kernel/overrides holds it to that. */
export interface PgConnection {
  host: string;
  port: number;
  /** The process of the server, and what it wants to see before it cancels. */
  processID: number;
  secretKey: number;
  connection: EventEmitter<{ errorMessage: [{ message?: string }] }> & {
    stream: Socket;
    /** Texts of prepared statements by their names: what is in here is not sent again. */
    parsedStatements: Record<string, string>;
  };
}

export const pgConnection = (client: pg.ClientBase): PgConnection => client as unknown as PgConnection;
