import {
  AliasNode,
  ColumnNode,
  IdentifierNode,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  PostgresQueryCompiler,
  ReferenceNode,
  ReturningNode,
  SelectAllNode,
  type SelectionNode,
} from 'kysely';
import pg from 'pg';
import { inOnePacket, PreparedStatements } from './prepared-statements.ts';

/** Properties whose column the naming rule does not give; a test holds them against the entities. */
const EXCEPTIONS = new Map([['exhaustedInRow', 'exhausted_in_a_row']]);
const columns = new Map(EXCEPTIONS);

/** The column of a property: `flow_path` of `flowPath`. */
export function columnName(property: string): string {
  let name = columns.get(property);
  if (name === undefined) {
    name = property.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
    columns.set(property, name);
  }
  return name;
}

/**
 * Writes properties as columns, and selected columns as properties: `select "flow_path" as "flowPath"`. So rows need no
 * renaming. Inside subqueries and CTEs all names, aliases included, are the database's.
 */
export class PropertyQueryCompiler extends PostgresQueryCompiler {
  protected override visitIdentifier(node: IdentifierNode): void {
    this.append(`"${this.sanitizeIdentifier(columnName(node.name))}"`);
  }

  protected override visitSelection({ selection }: SelectionNode): void {
    if (!this.#isOutermost()) {
      this.visitNode(selection);
      return;
    }
    if (AliasNode.is(selection) && IdentifierNode.is(selection.alias)) {
      this.visitNode(selection.node);
      this.append(` as "${this.sanitizeIdentifier(selection.alias.name)}"`);
      return;
    }
    const column = ReferenceNode.is(selection) ? selection.column : selection;
    if (SelectAllNode.is(column)) {
      throw new Error('Name the columns: one that a migration adds must not change the rows of a statement');
    }
    this.visitNode(selection);
    if (ColumnNode.is(column) && columnName(column.column.name) !== column.column.name) {
      this.append(` as "${this.sanitizeIdentifier(column.column.name)}"`);
    }
  }

  /** Whether the selection is the statement's own, not that of a subquery. */
  #isOutermost(): boolean {
    const [, parent] = this.nodeStack;
    return (
      this.nodeStack.length === 2 || (this.nodeStack.length === 3 && parent !== undefined && ReturningNode.is(parent))
    );
  }
}

/** A pool as Kysely takes it; each connection prepares the statements that it meets repeatedly. */
function preparing(pool: pg.Pool): PostgresPool {
  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  const wrapped = (client: pg.PoolClient): PostgresPoolClient => {
    const statements = new PreparedStatements(client);
    const query = inFewRoundTrips(client, (text, values) => statements.query(text, values));
    return {
      query: query as unknown as PostgresPoolClient['query'],
      release: (error?: Error) => client.release(error),
      get processID() {
        return (client as unknown as { processID: number }).processID;
      },
    };
  };
  return {
    options: pool.options,
    end: () => pool.end(),
    connect: async () => {
      const client = await pool.connect();
      let known = clients.get(client);
      if (!known) clients.set(client, (known = wrapped(client)));
      return known;
    },
  };
}

type Query = (text: string, values?: unknown[]) => Promise<Pick<pg.QueryResult, 'rows'>>;

/** Sent before the last statement of a transaction: the commit goes with that, and the one that follows is none. */
export const COMMIT_WITH_NEXT = 'commit with the next statement';

const NOTHING = { rows: [] };

/**
 * Begins a transaction by its first statement where that sets variables, as units of work do, and ends one with its last
 * statement where that is announced: two round trips less, and locks that the last statement takes wait for no client.
 * The values of the first stand in the text, since several statements at once have no parameters.
 */
function inFewRoundTrips(client: pg.PoolClient, send: (text: string, values: unknown[]) => ReturnType<Query>): Query {
  let isBeginning = false;
  let endsWithNext = false;
  let hasEnded = false;
  const begin = async (text: string, values: unknown[]): ReturnType<Query> => {
    if (text.startsWith('select set_config(')) {
      const inlined = text.replace(/\$(\d+)/g, (_, place) => pg.escapeLiteral(String(values[Number(place) - 1])));
      await client.query(`begin; ${inlined}`);
      return NOTHING;
    }
    await client.query('begin');
    return send(text, values);
  };
  /** A last statement that fails makes the commit a rollback. */
  const end = async (text: string, values: unknown[]): ReturnType<Query> => {
    const [last, commit] = await Promise.allSettled(
      inOnePacket(client, () => [send(text, values), client.query('commit')] as const),
    );
    if (last.status === 'rejected') throw last.reason;
    if (commit.status === 'rejected') throw commit.reason;
    return last.value;
  };
  return async (text, values = []) => {
    const isEnd = text === 'commit' || text === 'rollback';
    if (text === 'begin') {
      [isBeginning, endsWithNext, hasEnded] = [true, false, false];
      return NOTHING;
    }
    if (isEnd && (isBeginning || hasEnded)) {
      [isBeginning, hasEnded] = [false, false];
      return NOTHING;
    }
    if (hasEnded) throw new Error('a statement follows the last one of its transaction');
    if (isBeginning) {
      isBeginning = false;
      return begin(text, values);
    }
    if (text === COMMIT_WITH_NEXT) {
      endsWithNext = true;
      return NOTHING;
    }
    if (!endsWithNext || isEnd) return send(text, values);
    [endsWithNext, hasEnded] = [false, true];
    return end(text, values);
  };
}

/** The one way to the database: the ORM, units of work, fenced reads and system work all go through it. */
export class QuaysideDialect extends PostgresDialect {
  /** Its connections prepare the statements that they meet repeatedly. */
  readonly pool: PostgresPool;

  constructor(pool: pg.Pool) {
    const prepared = preparing(pool);
    super({ pool: prepared });
    this.pool = prepared;
  }

  override createQueryCompiler(): PropertyQueryCompiler {
    return new PropertyQueryCompiler();
  }
}
