import {
  type Compilable,
  CompiledQuery,
  DummyDriver,
  type Expression,
  type Insertable,
  type InsertQueryBuilder,
  type InsertResult,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  type QueryExecutorProvider,
  sql,
} from 'kysely';
import { PropertyQueryCompiler, SENT_WITH_NEXT } from './dialect.ts';
import type { Database, ReadDatabase, Tables } from './tables.ts';

/** Builds statements and runs none. */
const builder: Database = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PropertyQueryCompiler(),
  },
});

class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** What stands in a statement for the parameters of a call; undefined for one that the call leaves out. */
export type Slots<P> = {
  readonly [K in keyof Required<P>]: Expression<Exclude<P[K], undefined>> | Extract<P[K], undefined>;
};

/** A query of the builder, or one in `sql`. */
interface Compiled<Row> {
  compile: (by: QueryExecutorProvider) => CompiledQuery<Row>;
}

interface Built {
  text: string;
  slots: readonly unknown[];
}

/** More forms than any list of the service has in use at a time. */
const FORMS_KEPT = 500;

/**
 * A statement for what runs so often that building it counts (some 100 times a second and more). It is built once for
 * each set of parameters that a call has, and each `form`. In `build`, `given.name` stands for the parameter of that
 * name; everything else that the text depends on is in `form`.
 */
export const statement =
  <P extends object, Form = undefined>() =>
  <Row>(build: (db: Database, given: Slots<P>, form: Form) => Compiled<Row>) => {
    const forms = new Map<string, Built>();
    const builtFor = (parameters: P, form: Form): Built => {
      let key = form === undefined ? '' : JSON.stringify(form);
      for (const name in parameters) if (parameters[name] !== undefined) key += ` ${name}`;
      let built = forms.get(key);
      if (!built) {
        const slotOf = ([name, value]: [string, unknown]) =>
          [name, value === undefined ? undefined : sql`${new Slot(name)}`] as const;
        const given = Object.fromEntries(Object.entries(parameters).map(slotOf)) as unknown as Slots<P>;
        const { sql: text, parameters: slots } = build(builder, given, form).compile(builder);
        if (forms.size >= FORMS_KEPT) forms.clear();
        forms.set(key, (built = { text, slots }));
      }
      return built;
    };
    return async (
      db: Pick<ReadDatabase, 'executeQuery'>,
      parameters: P,
      ...[form]: Form extends undefined ? [] : [form: Form]
    ): Promise<Row[]> => {
      const { text, slots } = builtFor(parameters, form as Form);
      const values = slots.map((slot) => (slot instanceof Slot ? parameters[slot.name as keyof P] : slot));
      return (await db.executeQuery<Row>(CompiledQuery.raw(text, values))).rows;
    };
  };

/**
 * A statement, as `statement` makes it, that answers nothing: in a transaction it is sent with the next statement, which
 * fails when it fails.
 */
export const sentWithNext =
  <P extends object>() =>
  (build: (db: Database, given: Slots<P>) => Compiled<unknown>) => {
    const run = statement<P>()((db, given) => {
      const { sql: text, parameters } = build(db, given).compile(builder);
      return { compile: () => CompiledQuery.raw(SENT_WITH_NEXT + text, [...parameters]) };
    });
    return async (db: Database, parameters: P): Promise<void> => {
      await run(db, parameters);
    };
  };

export type NewRow<T extends keyof Tables> = Insertable<Tables[T]>;

/** An insert of one row that is built once: columns are given here, values with each call; a missing value is null. */
export function inserting<T extends keyof Tables, C extends keyof NewRow<T> & string, Row>(
  table: T,
  columns: readonly C[],
  rest: (query: InsertQueryBuilder<Tables, T, InsertResult>) => Compilable<Row>,
): (db: Database, row: Pick<NewRow<T>, C>) => Promise<Row[]> {
  const run = statement<Record<string, unknown>>()<Row>((db, given) =>
    rest(db.insertInto(table).values(given as never)),
  );
  return (db, row) => run(db, Object.fromEntries(columns.map((column) => [column, row[column] ?? null])));
}
