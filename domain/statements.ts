import { createHash } from 'node:crypto';
import type pg from 'pg';

/** A statement with `?` placeholders as PostgreSQL numbers them: `$1` for the first. */
export function numbered(statement: string): string {
  let place = 0;
  return statement.replaceAll('?', () => `$${++place}`);
}

/**
 * Names under which connections remember statements, which spares their parsing and planning: that costs more than most
 * of them run. Every connection keeps what it remembers, so that it must not grow with what clients can think of: the
 * first `kept` statements that a process meets have a name, all others are planned anew.
 */
export class StatementNames {
  readonly #kept: number;
  readonly #names = new Map<string, string>();

  constructor(kept: number) {
    this.#kept = kept;
  }

  of(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= this.#kept) return known;
    const name = createHash('sha1').update(text).digest('hex');
    this.#names.set(text, name);
    return name;
  }
}

/** More than the service has that are not put together for a request. */
const UNITS_STATEMENTS_KEPT = 500;

/** Lets the connections of a pool that somebody else uses remember the statements that come with parameters. */
export function rememberStatements(pool: pg.Pool): void {
  const names = new StatementNames(UNITS_STATEMENTS_KEPT);
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...call: unknown[]) => unknown;
    client.query = ((text: unknown, values: unknown, ...rest: unknown[]) => {
      const name = typeof text === 'string' && Array.isArray(values) && values.length > 0 ? names.of(text) : undefined;
      return name === undefined ? query(text, values, ...rest) : query({ name, text, values }, ...rest);
    }) as typeof client.query;
  });
}
