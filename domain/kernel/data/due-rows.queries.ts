import { type Expression, type RawBuilder, sql } from 'kysely';
import { statement } from './statement.ts';
import type { Database, Tables } from './tables.ts';

/** Rows that wait in queues, each of which one lane serves: `due_at` says from when, `lease_until` while somebody has one. */
export interface DueRowsOptions {
  table: keyof Tables;
  /** Properties that name a row, and the one that names its lane. */
  key: readonly string[];
  lane: string;
  /** Whether something is to be done about a row `r`. */
  isPending: RawBuilder<boolean>;
  /** Whether the rows of a lane are served at present; standard is always. */
  isServed?: (laneId: Expression<string>) => RawBuilder<boolean>;
  claim: {
    /** The property that counts claims of a row. */
    counter: string;
    /** How long a claimed row `r` is held. */
    lease: RawBuilder<unknown>;
    /** A further table, and the condition of its row. */
    also?: { table: RawBuilder<unknown>; on: (laneId: Expression<string>) => RawBuilder<boolean> };
    /** What is answered of a row. */
    returning: RawBuilder<unknown>;
  };
}

/** Statements about the due rows of lanes, for the role of the system. @returns for claims, rows as `returning` has them. */
export function dueRows<Row>({
  table,
  key,
  lane,
  isPending,
  isServed = () => sql`true`,
  claim: { counter, lease, also, returning },
}: DueRowsOptions) {
  const rows = sql`${sql.table(table)} as r`;
  const ofRow = (property: string) => sql.ref(`r.${property}`);
  const keys = sql.join(key.map(ofRow));
  const isDue = sql`${isPending} and r.due_at <= now() and (r.lease_until is null or r.lease_until <= now())`;

  const CLAIM = statement<{ laneId: string; limit: number }>()(
    (_, { laneId, limit }) => sql<Row>`
      with due as (
        select ${keys} from ${rows} where ${ofRow(lane)} = ${laneId} and ${isDue} and ${isServed(laneId)}
        order by r.due_at limit ${limit} for update of r skip locked)
      update ${rows} set ${sql.ref(counter)} = ${ofRow(counter)} + 1, lease_until = now() + ${lease}
      from due ${also ? sql`, ${also.table}` : sql``}
      where ${sql.join(
        key.map((property) => sql`${ofRow(property)} = ${sql.ref(`due.${property}`)}`),
        sql` and `,
      )} ${also ? sql`and ${also.on(laneId)}` : sql``}
      returning ${returning}`,
  );
  const NEXT_DUE = statement<{ laneId: string }>()(
    (_, { laneId }) => sql<{ inMs: string | null }>`
      select extract(epoch from min(greatest(r.due_at, r.lease_until)) - now()) * 1000 as "inMs"
      from ${rows} where ${ofRow(lane)} = ${laneId} and ${isPending} and ${isServed(laneId)}`,
  );
  const DUE = statement<{ laneIds: readonly string[] }>()(
    (_, { laneIds }) => sql<{ id: string }>`
      select lane.id from unnest(${laneIds}::uuid[]) as lane (id)
      where ${isServed(sql`lane.id`)} and exists (select from ${rows} where ${ofRow(lane)} = lane.id and ${isDue})`,
  );

  return {
    /** A condition of `r`: it is pending, due, and held by nobody. */
    isDue: sql<boolean>`${isDue}`,

    /** Claims rows of a lane, so many at most, those that are due for longest; none that another claim is about to take. */
    claimDue: (db: Database, laneId: string, limit: number): Promise<Row[]> => CLAIM(db, { laneId, limit }),

    /** Milliseconds until the lane has work again, 0 for what is due already; undefined when nothing is pending. */
    async nextDueInMs(db: Database, laneId: string): Promise<number | undefined> {
      const [row] = await NEXT_DUE(db, { laneId });
      return row?.inMs == null ? undefined : Math.max(0, Math.ceil(Number(row.inMs)));
    },

    /** The ones of some lanes that have something due which nobody holds. */
    async dueLanes(db: Database, laneIds: readonly string[]): Promise<string[]> {
      return (await DUE(db, { laneIds })).map(({ id }) => id);
    },

    /** Releases all that a lost pump of the lane held. */
    async releaseAll(db: Database, laneId: string): Promise<void> {
      await sql`update ${rows} set lease_until = null
        where ${ofRow(lane)} = ${laneId} and ${isPending} and r.lease_until is not null`.execute(db);
    },
  };
}
