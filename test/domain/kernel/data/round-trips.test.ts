import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import pg from 'pg';
import { connectDatabase, type DatabaseConnection } from '../../../../domain/kernel/data/database.ts';
import { createFencedReads, type FencedReads } from '../../../../domain/kernel/data/fenced-reads.ts';
import { connectOrm } from '../../../../domain/orm.ts';
import { STATEMENTS_KEPT } from '../../../../domain/kernel/data/prepared-statements.ts';
import { sentWithNext } from '../../../../domain/kernel/data/statement.ts';
import type { Database } from '../../../../domain/kernel/data/tables.ts';
import type { Actor } from '../../../../domain/kernel/shared/actor.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { type Tx, unitOfWork } from '../../../../domain/unit-of-work.ts';
import { insertProject, insertTenants } from '../../../support/factories.ts';
import { type TestDatabase, testDatabase } from '../../../support/postgres.ts';

let database: TestDatabase;
let root: pg.Client;
let unfenced: DatabaseConnection;
let orm: MikroORM;
let reads: FencedReads;

const actorOf = (tenantSlug: string): Actor => ({
  type: 'user',
  id: newId(),
  tenantId: newId(),
  tenantSlug,
  role: 'owner',
  email: 'owner@example.com',
});
const [actor, other] = [actorOf('one'), actorOf('two')];
const projectId = newId();

beforeAll(async () => {
  database = await testDatabase();
  root = new pg.Client(database.url);
  await root.connect();
  unfenced = connectDatabase({ databaseUrl: database.url, poolSize: 1 }, () => undefined);
  await insertTenants(unfenced.db, [
    { id: actor.tenantId, slug: 'one' },
    { id: other.tenantId, slug: 'two' },
  ]);
  await insertProject({ db: unfenced.db, tenantKey: actor }, { id: projectId });
  orm = connectOrm({ databaseUrl: database.url, role: 'quayside_app', poolSize: 1 });
  reads = createFencedReads({ databaseUrl: database.url, role: 'quayside_app', poolSize: 1 }, () => undefined);
  await root.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refused before insert on audit_entry for each row when (new.summary = 'refused') execute function refuse();
    create constraint trigger refused_at_commit after update on project deferrable initially deferred
      for each row when (new.default_branch = 'refused') execute function refuse()`);
});
afterAll(async () => {
  await reads?.close();
  await orm?.close(true);
  await root?.end();
  await unfenced?.close();
  await database?.drop();
});

test('the fence is changed before the statement behind it, also when a prepared statement must go for it', async () => {
  const projects = (reader: Actor) => reads.as(reader).db.selectFrom('project').select('id').execute();
  expect(await projects(actor)).toEqual([{ id: projectId }]);
  for (let each = 0; each < 2 * STATEMENTS_KEPT; each++) {
    const literal = sql.lit(Math.floor(each / 2));
    await sql`select ${literal} + ${1}::int`.execute(reads.as(actor).db);
  }
  expect(await projects(other)).toEqual([]);
  expect(await projects(actor)).toEqual([{ id: projectId }]);
});

const rename = (defaultBranch: string, summary: string) =>
  unitOfWork(orm, { actor })(async (tx) => {
    await tx.db.updateTable('project').set({ defaultBranch }).where('id', '=', projectId).execute();
    tx.audit({ source: 'project', action: 'project.updated', entityType: 'project', summary });
  });

test.each([
  ['the last statement', 'kept', 'refused'],
  ['the commit', 'refused', 'kept'],
])('%s of a unit of work that fails leaves nothing, and the connection goes on', async (_, branch, summary) => {
  await expect(rename(branch, summary)).rejects.toThrow('refused');
  const written = () =>
    root.query(
      `select (select default_branch from project where id = $1) as branch, (select count(*)::int from audit_entry) as entries`,
      [projectId],
    );
  const { rows: before } = await written();
  expect(before[0].branch).not.toBe(branch);
  await rename(`after-${summary}`, 'kept');
  expect((await written()).rows).toEqual([{ branch: `after-${summary}`, entries: before[0].entries + 1 }]);
});

const RENAME = sentWithNext<{ to: string }>()((db, { to }) =>
  db.updateTable('project').set({ defaultBranch: to }).where('id', '=', projectId),
);
const DIVIDE = sentWithNext<{ by: number }>()((db, { by }) => db.selectNoFrom(sql`1 / ${by}::int`.as('quotient')));
const branchSeenBy = async (db: Database) =>
  (await db.selectFrom('project').where('id', '=', projectId).select('defaultBranch').executeTakeFirstOrThrow())
    .defaultBranch;

test('a statement that is sent with the next one has run before that, and before the commit', async () => {
  const work = unitOfWork(orm, { actor });
  const seen = await work(async (tx) => {
    await RENAME(tx.db, { to: 'held-first' });
    const first = await branchSeenBy(tx.db);
    await RENAME(tx.db, { to: 'held-last' });
    return first;
  });
  expect(seen).toBe('held-first');
  expect(await work((tx) => branchSeenBy(tx.db))).toBe('held-last');
  await work((tx) => RENAME(tx.db, { to: 'held-alone' }));
  expect(await branchSeenBy(unfenced.db)).toBe('held-alone');
  await RENAME(unfenced.db, { to: 'held-nowhere' });
  expect(await branchSeenBy(unfenced.db)).toBe('held-nowhere');
});

test.each<[string, (tx: Tx) => Promise<unknown>]>([
  ['the statement after it', (tx) => branchSeenBy(tx.db)],
  ['the commit', () => Promise.resolve()],
  [
    'the last statement',
    (tx) => Promise.resolve(tx.audit({ source: 'project', action: 'x', entityType: 'project', summary: 'kept' })),
  ],
])('a statement that is sent with %s fails it with its own error and leaves nothing', async (_, next) => {
  const work = unitOfWork(orm, { actor });
  const before = await branchSeenBy(unfenced.db);
  const failing = work(async (tx) => {
    await tx.db.updateTable('project').set({ defaultBranch: 'lost' }).where('id', '=', projectId).execute();
    await DIVIDE(tx.db, { by: 0 });
    await next(tx);
  });
  await expect(failing).rejects.toThrow('division by zero');
  expect(await work((tx) => branchSeenBy(tx.db))).toBe(before);
});

test('what is held when a unit of work fails is never sent', async () => {
  const before = await branchSeenBy(unfenced.db);
  const failing = unitOfWork(orm, { actor })(async (tx) => {
    await RENAME(tx.db, { to: 'dropped' });
    throw new Error('changed its mind');
  });
  await expect(failing).rejects.toThrow('changed its mind');
  expect(await unitOfWork(orm, { actor })((tx) => branchSeenBy(tx.db))).toBe(before);
});
