import pg from 'pg';
import { connectPool, type DatabaseAccess } from './pool.ts';
import type { Actor } from './shared/actor.ts';
import { numbered, StatementNames } from './statements.ts';
import { fenceVariables } from './unit-of-work.ts';

/** Statements that only read, each by itself, fenced to one actor's tenant and projects. */
export interface Reads {
  tenantId: string;
  /** Rows of a statement with `?` placeholders. Timestamps come as text. */
  sql<Row>(statement: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** Likewise for a statement that was put together for one request: planned anew, and remembered nowhere. */
  once<Row>(statement: string, parameters: readonly unknown[], options?: { timeoutMs?: number }): Promise<Row[]>;
  /**
   * Likewise for a statement that was put together, where one plan is as good as another and planning costs as much as
   * the rest: the first forms of it that a process meets are remembered, all others are planned anew.
   */
  oftenAlike<Row>(statement: string, parameters: readonly unknown[], options?: { timeoutMs?: number }): Promise<Row[]>;
}

const FORMS_KEPT = 100;

export interface FencedReads {
  as: (actor: Actor) => Reads;
  close: () => Promise<void>;
}

/** A read that takes longer is cancelled (SQLSTATE 57014): nobody waits for it any more. */
export const READ_TIMEOUT_MS = 30_000;

const { TIMESTAMPTZ, TIMESTAMP, DATE } = pg.types.builtins;
/** As in a unit of work, moments stay the database's text: a Date loses nothing here, but costs more. */
const types = new pg.TypeOverrides();
for (const type of [TIMESTAMPTZ, TIMESTAMP, DATE]) types.setTypeParser(type, (text) => text);

/**
 * Reads without a transaction: for lists that are asked for so often that each round trip counts. Connections of a
 * pool of its own can only read; each remembers whose fence it has and sets it anew for another actor. Nothing else
 * uses these connections, so that none can be found with somebody else's fence.
 */
export function createFencedReads(access: DatabaseAccess, onError: (error: Error) => void): FencedReads {
  const pool = connectPool({ ...access, isReadOnly: true }, onError);
  const fences = new WeakMap<pg.PoolClient, string>();
  const fixed = new StatementNames(Number.POSITIVE_INFINITY);
  const forms = new StatementNames(FORMS_KEPT);

  const configOf = (statement: string, names?: StatementNames): pg.QueryConfig => {
    const text = numbered(statement);
    const name = names?.of(text);
    return { text, ...(name !== undefined && { name }) };
  };

  const fenced = async (actor: Actor, client: pg.PoolClient, timeoutMs: number): Promise<void> => {
    const variables = Object.entries({ ...fenceVariables(actor), statement_timeout: String(timeoutMs) });
    const fence = JSON.stringify(variables);
    if (fences.get(client) === fence) return;
    // Forgotten first: half set, it must not be taken for either.
    fences.delete(client);
    const settings = variables.map((_, index) => `set_config($${index * 2 + 1}, $${index * 2 + 2}, false)`);
    await client.query({ name: 'fence', text: `select ${settings.join(', ')}`, values: variables.flat() });
    fences.set(client, fence);
  };

  const run = async <Row>(actor: Actor, query: pg.QueryConfig, timeoutMs: number): Promise<Row[]> => {
    const client = await pool.connect();
    try {
      await fenced(actor, client, timeoutMs);
      const { rows } = await client.query({ ...query, types });
      client.release();
      return rows as Row[];
    } catch (error) {
      client.release(error instanceof pg.DatabaseError ? undefined : true);
      throw error;
    }
  };

  return {
    as: (actor) => ({
      tenantId: actor.tenantId,
      sql: (statement, parameters = []) =>
        run(actor, { ...configOf(statement, fixed), values: [...parameters] }, READ_TIMEOUT_MS),
      once: (statement, parameters, { timeoutMs = READ_TIMEOUT_MS } = {}) =>
        run(actor, { ...configOf(statement), values: [...parameters] }, timeoutMs),
      oftenAlike: (statement, parameters, { timeoutMs = READ_TIMEOUT_MS } = {}) =>
        run(actor, { ...configOf(statement, forms), values: [...parameters] }, timeoutMs),
    }),
    close: () => pool.end(),
  };
}
