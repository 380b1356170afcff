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
import { PreparedStatements } from './prepared-statements.ts';

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
    const query = beginningWithVariables(client, (text, values) => statements.query(text, values));
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

/**
 * Begins a transaction by its first statement where that sets variables, as units of work do: one round trip less. The
 * values stand in the text, since several statements at once have no parameters.
 */
function beginningWithVariables(
  client: pg.PoolClient,
  send: (text: string, values: unknown[]) => ReturnType<Query>,
): Query {
  let isBeginning = false;
  return async (text, values = []) => {
    if (text === 'begin') {
      isBeginning = true;
      return { rows: [] };
    }
    if (!isBeginning) return send(text, values);
    isBeginning = false;
    if (text === 'commit' || text === 'rollback') return { rows: [] };
    if (text.startsWith('select set_config(')) {
      const inlined = text.replace(/\$(\d+)/g, (_, place) => pg.escapeLiteral(String(values[Number(place) - 1])));
      await client.query(`begin; ${inlined}`);
      return { rows: [] };
    }
    await client.query('begin');
    return send(text, values);
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
