import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { pgConnection } from '../overrides/pg-connection.ts';

/** More statements than the service has in use at a time, and little for a backend process of PostgreSQL. */
export const STATEMENTS_KEPT = 300;

/**
 * Sends the statements of one connection and prepares those that come a second time. At most `kept` stay prepared:
 * beyond that the least recently used one is deallocated, here and in the database. So memory does not grow with the
 * forms that clients can compose, and a statement that comes once costs no more than an unnamed one.
 */
export class PreparedStatements {
  readonly #client: pg.ClientBase;
  /** Their names, by text. */
  readonly #names: LRUCache<string, string>;
  readonly #metOnce: LRUCache<string, true>;

  constructor(client: pg.ClientBase, kept = STATEMENTS_KEPT) {
    this.#client = client;
    this.#names = new LRUCache({ max: kept, dispose: (name) => this.#deallocate(name) });
    this.#metOnce = new LRUCache({ max: kept });
  }

  /** Sends it before it returns, so that statements reach the database in the order of the calls. */
  query(text: string, values: unknown[]): Promise<pg.QueryResult> {
    const known = this.#names.get(text);
    if (known === undefined) return this.#prepare(text, values);
    return this.#client.query({ name: known, text, values });
  }

  #prepare(text: string, values: unknown[]): Promise<pg.QueryResult> {
    if (!isPreparable(text, values)) return this.#client.query({ text, values });
    if (!this.#metOnce.delete(text)) {
      this.#metOnce.set(text, true);
      return this.#client.query({ text, values });
    }
    const name = createHash('sha1').update(text).digest('base64url');
    this.#names.set(text, name);
    return this.#client.query({ name, text, values });
  }

  #deallocate(name: string): void {
    // `pg` would otherwise believe that the database still has it.
    delete pgConnection(this.#client).connection.parsedStatements[name];
    // Refused in a failed transaction: the plan then stays until the connection ends.
    this.#client.query(`deallocate "${name}"`).catch(() => undefined);
  }
}

/** Not `begin`; and nothing with `.*`: after a migration adds a column, PostgreSQL would refuse the prepared statement. */
const isPreparable = (text: string, values: unknown[]): boolean => values.length > 0 && !text.includes('.*');

/** What `send` sends before it returns is one write to the socket; the client must be a pipelined one. */
export function inOnePacket<T>(client: pg.ClientBase, send: () => T): T {
  const { stream } = pgConnection(client).connection;
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}
