import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import pg from 'pg';
import { connectDatabase, type DatabaseConnection } from '../../../domain/data/database.ts';
import { createFencedReads, type FencedReads } from '../../../domain/data/fenced-reads.ts';
import { connectOrm } from '../../../domain/data/orm.ts';
import { STATEMENTS_KEPT } from '../../../domain/data/prepared-statements.ts';
import type { Actor } from '../../../domain/shared/actor.ts';
import { newId } from '../../../domain/shared/ids.ts';
import { unitOfWork } from '../../../domain/unit-of-work.ts';
import { insertProject, insertTenants } from '../../support/factories.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

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
