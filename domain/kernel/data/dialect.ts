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
import { pgConnection } from '../overrides/pg-connection.ts';
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
        return pgConnection(client).processID;
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

/** Begins a statement whose result nobody needs: in a transaction it is sent with the one after it. */
export const SENT_WITH_NEXT = '/* sent with the next */ ';

const NOTHING = { rows: [] };

interface Sent {
  text: string;
  /** Absent: several statements in one text, which has no parameters. */
  values?: unknown[];
}

/** Where a connection is with a transaction: `held` and `announced`: nothing of it was sent; `ended`: its commit was. */
type Phase = 'none' | 'announced' | 'held' | 'open' | 'ended';

/**
 * Saves round trips of a transaction: what begins a unit of work and sets its variables goes with the first statement,
 * what is marked `SENT_WITH_NEXT` with the next one, and the commit with the last one where that is announced. So locks
 * that the last statement takes wait for no client. Of a packet the first error counts: what follows it fails as well, a
 * commit becomes a rollback, and row-level security refuses statements of a transaction that did not begin. Variables
 * stand in the text, since several statements at once have no parameters.
 */
function inFewRoundTrips(client: pg.PoolClient, send: (text: string, values: unknown[]) => ReturnType<Query>): Query {
  let phase: Phase = 'none';
  let endsWithNext = false;
  let held: Sent[] = [];

  /** Sends what is held and these in one packet; answers the result of the first of these. */
  const sendHeldWith = async (...these: Sent[]): ReturnType<Query> => {
    const before = held;
    held = [];
    const answers = await Promise.allSettled(
      inOnePacket(client, () =>
        [...before, ...these].map(({ text, values }) => (values ? send(text, values) : client.query(text))),
      ),
    );
    const results = answers.map((answer) => {
      if (answer.status === 'rejected') throw answer.reason;
      return answer.value;
    });
    return results[before.length] ?? NOTHING;
  };
  const commit = (): ReturnType<Query> => {
    const isBegun = phase === 'open' || held.length > 1;
    phase = 'none';
    return isBegun ? sendHeldWith({ text: 'commit' }) : Promise.resolve(NOTHING);
  };
  const rollBack = (): ReturnType<Query> => {
    const isBegun = phase === 'open';
    phase = 'none';
    held = [];
    return isBegun ? client.query('rollback') : Promise.resolve(NOTHING);
  };
  const query: Query = async (text, values = []) => {
    if (phase === 'none') return send(text, values);
    if (phase === 'ended') throw new Error('a statement follows the last one of its transaction');
    if (phase === 'announced') {
      if (text.startsWith('select set_config(')) {
        const inlined = text.replace(/\$(\d+)/g, (_, place) => pg.escapeLiteral(String(values[Number(place) - 1])));
        held = [{ text: `begin; ${inlined}` }];
        phase = 'held';
        return NOTHING;
      }
      await client.query('begin');
      phase = 'open';
    }
    if (text.startsWith(SENT_WITH_NEXT)) {
      held.push({ text, values });
      return NOTHING;
    }
    phase = endsWithNext ? 'ended' : 'open';
    if (endsWithNext) return sendHeldWith({ text, values }, { text: 'commit' });
    return held.length > 0 ? sendHeldWith({ text, values }) : send(text, values);
  };
  return async (text, values) => {
    switch (text) {
      case 'begin':
        [phase, endsWithNext, held] = ['announced', false, []];
        return NOTHING;
      case 'commit':
        return commit();
      case 'rollback':
        return rollBack();
      case COMMIT_WITH_NEXT:
        endsWithNext = true;
        return NOTHING;
      default:
        return query(text, values);
    }
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
