import { sql } from 'kysely';
import { connectDatabase, type DatabaseConnection } from '../../../../domain/kernel/data/database.ts';
import { createFencedReads, type FencedReads } from '../../../../domain/kernel/data/fenced-reads.ts';
import type { Actor } from '../../../../domain/kernel/shared/actor.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { insertProject, insertTenants } from '../../../support/factories.ts';
import { type TestDatabase, testDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/worker.ts';

const actorOf = (slug: string): Actor => ({
  type: 'user',
  id: newId(),
  tenantId: newId(),
  tenantSlug: slug,
  role: 'owner',
  email: 'owner@example.com',
});
const [one, two] = [actorOf('one'), actorOf('two')];
const [projectOfOne, projectOfTwo] = [newId(), newId()];

/** Longer than any test may take: what ends before it was ended by something else. */
const NEVER_MS = 600_000;

let database: TestDatabase;
let root: DatabaseConnection;
let reads: FencedReads;
beforeAll(async () => {
  database = await testDatabase();
  root = connectDatabase({ databaseUrl: database.url, poolSize: 2 }, () => undefined);
  await insertTenants(
    root.db,
    [one, two].map(({ tenantId: id, tenantSlug: slug }) => ({ id, slug })),
  );
  await insertProject({ db: root.db, tenantKey: one }, { id: projectOfOne });
  await insertProject({ db: root.db, tenantKey: two }, { id: projectOfTwo });
});
beforeEach(() => {
  reads = createFencedReads({ databaseUrl: database.url, role: 'quayside_app', slowPoolSize: 2 }, () => undefined);
});
afterEach(() => reads.close());
afterAll(async () => {
  await root.close();
  await database.drop();
});

/** Statements with this remark that PostgreSQL is running. */
const running = async (remark: string): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where state = 'active' and pid <> pg_backend_pid() and query like ${`%${remark}%`}`.execute(root.db);
  return rows[0]?.count ?? -1;
};

test('a tenant that asks for many reads at once leaves connections to the others, and is refused none of its own', async () => {
  const few = createFencedReads({ databaseUrl: database.url, role: 'quayside_app', poolSize: 4 }, () => undefined);
  try {
    await root.db.connection().execute(async (holder) => {
      await sql`select pg_advisory_lock(2)`.execute(holder);
      const { db } = few.as(one).with({ timeoutMs: NEVER_MS });
      const waiting = Array.from({ length: 12 }, () => sql`select pg_advisory_lock_shared(2), 'many'`.execute(db));
      await eventually(
        () => running('many'),
        (count) => count === 3,
      );
      expect(await few.as(two).db.selectFrom('project').select('id').execute()).toEqual([{ id: projectOfTwo }]);
      expect(await running('many')).toBe(3);
      await sql`select pg_advisory_unlock(2)`.execute(holder);
      expect(await Promise.all(waiting)).toHaveLength(12);
    });
  } finally {
    await few.close();
  }
});

test('slow reads see their own tenant only, on connections that tenants use in turn', async () => {
  const seen = async (actor: Actor) => {
    const rows = await reads.as(actor).with({ pace: 'slow' }).db.selectFrom('project').select('id').execute();
    return rows.map(({ id }) => id);
  };
  for (let time = 0; time < 5; time++) {
    expect(await Promise.all([one, two, one, two].map(seen))).toEqual(
      [projectOfOne, projectOfTwo, projectOfOne, projectOfTwo].map((id) => [id]),
    );
  }
  const scoped = { ...one, projectIds: [newId()] };
  expect(await seen(scoped)).toEqual([]);
  await expect(
    sql`update project set version = version`.execute(reads.as(one).with({ pace: 'slow' }).db),
  ).rejects.toMatchObject({ code: '25006' });
});

test('two of a tenant run and ten wait; another one is refused, and ordinary reads go on', async () => {
  const { db } = reads.as(one).with({ pace: 'slow', timeoutMs: NEVER_MS });
  // Nobody can take the lock before the root gives it up, so that as many run as may.
  await root.db.connection().execute(async (holder) => {
    await sql`select pg_advisory_lock(1)`.execute(holder);
    const refusals: string[] = [];
    const outcomes = Array.from({ length: 20 }, () =>
      sql`select pg_advisory_lock_shared(1), 'capped'`.execute(db).catch((error: { code: string }) => {
        refusals.push(error.code);
        return undefined;
      }),
    );
    await eventually(
      () => running('capped'),
      (count) => count === 2,
    );
    expect(await reads.as(one).db.selectFrom('project').select('id').execute()).toHaveLength(1);
    expect(await reads.as(two).db.selectFrom('project').select('id').execute()).toHaveLength(1);
    expect(refusals).toEqual(Array(8).fill('rate_limited'));
    expect(await running('capped')).toBe(2);
    await sql`select pg_advisory_unlock(1)`.execute(holder);
    expect((await Promise.all(outcomes)).filter((result) => result !== undefined)).toHaveLength(12);
  });
});

test('a slow read ends by its time-out, and its place is free again', async () => {
  const { db } = reads.as(one).with({ pace: 'slow', timeoutMs: 100 });
  const outcomes = [1, 2, 3].map(() => sql`select pg_sleep(${NEVER_MS / 1_000}), 'timed'`.execute(db));
  for (const outcome of outcomes) await expect(outcome).rejects.toMatchObject({ code: '57014' });
  await eventually(
    () => running('timed'),
    (count) => count === 0,
  );
});

test('what varies is tried first, and goes on as a slow read when it takes long', async () => {
  const { db } = reads.as(one).with({ pace: 'varies' });
  const brief = await Promise.all(Array.from({ length: 40 }, () => db.selectFrom('project').select('id').execute()));
  expect(brief.every((rows) => rows.length === 1)).toBe(true);
  const long = sql<{ id: string }>`select id, pg_sleep(0.6) from project`.execute(db);
  expect((await long).rows).toEqual([expect.objectContaining({ id: projectOfOne })]);
  const { db: limited } = reads.as(two).with({ pace: 'varies', timeoutMs: 600 });
  await expect(sql`select pg_sleep(${NEVER_MS / 1_000})`.execute(limited)).rejects.toMatchObject({ code: '57014' });
});

test('a client that leaves has its read cancelled in the database, and its place is free again', async () => {
  const gone = new AbortController();
  const { db } = reads.as(one, () => gone.signal).with({ pace: 'slow', timeoutMs: NEVER_MS });
  const asked = [1, 2, 3].map(() =>
    sql`select pg_sleep(${NEVER_MS / 1_000}), 'left'`.execute(db).catch((error: Error) => error.message),
  );
  await eventually(
    () => running('left'),
    (count) => count === 2,
  );
  gone.abort(new Error('gone'));
  expect(await Promise.all(asked)).toEqual(['gone', 'gone', 'gone']);
  await eventually(
    () => running('left'),
    (count) => count === 0,
  );
  const { rows } = await sql`select id from project`.execute(reads.as(two).with({ pace: 'slow' }).db);
  expect(rows).toEqual([{ id: projectOfTwo }]);
});
