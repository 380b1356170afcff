import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import pg from 'pg';
import { json } from '../../../../domain/kernel/data/columns.ts';
import { isOneOf } from '../../../../domain/kernel/data/conditions.ts';
import { connectDatabase, type DatabaseConnection } from '../../../../domain/kernel/data/database.ts';
import { createFencedReads, type FencedReads } from '../../../../domain/kernel/data/fenced-reads.ts';
import { connectOrm } from '../../../../domain/orm.ts';
import { STATEMENTS_KEPT } from '../../../../domain/kernel/data/prepared-statements.ts';
import { inserting, statement } from '../../../../domain/kernel/data/statement.ts';
import type { Database, Tables } from '../../../../domain/kernel/data/tables.ts';
import { Environment } from '../../../../domain/projects/environments/environments.entities.ts';
import { Project } from '../../../../domain/projects/projects/projects.entities.ts';
import type { Actor, TenantKey } from '../../../../domain/kernel/shared/actor.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { type Tx, unitOfWork } from '../../../../domain/unit-of-work.ts';
import { insertProject, insertTenants, insertUser, insertWebhook } from '../../../support/factories.ts';
import { type TestDatabase, testDatabase } from '../../../support/postgres.ts';

let database: TestDatabase;
let root: pg.Client;
let unfenced: DatabaseConnection;
let orm: MikroORM;
let reads: FencedReads;
/** What went over the wire since it was emptied. */
const wire: { name: string | undefined; text: string }[] = [];
const { query: send } = pg.Client.prototype;

const actorOf = (tenantId: string): Actor => ({
  type: 'user',
  id: newId(),
  tenantId,
  tenantSlug: 'test',
  role: 'owner',
  email: 'owner@example.com',
});
const [actor, other] = [actorOf(newId()), actorOf(newId())];
const projectId = newId();
const place = () => ({ db: unfenced.db, tenantKey: actor });

beforeAll(async () => {
  pg.Client.prototype.query = function record(this: pg.Client, ...call: unknown[]) {
    const [first] = call as [string | pg.QueryConfig];
    wire.push(typeof first === 'string' ? { name: undefined, text: first } : { name: first.name, text: first.text });
    return (send as (...each: unknown[]) => unknown).apply(this, call);
  } as never;
  database = await testDatabase();
  root = new pg.Client(database.url);
  await root.connect();
  unfenced = connectDatabase({ databaseUrl: database.url, poolSize: 1 }, () => undefined);
  await insertTenants(unfenced.db, [
    { id: actor.tenantId, slug: 'one' },
    { id: other.tenantId, slug: 'two' },
  ]);
  await insertProject(place(), { id: projectId });
  orm = connectOrm({ databaseUrl: database.url, role: 'quayside_app', poolSize: 2 });
  reads = createFencedReads({ databaseUrl: database.url, role: 'quayside_app', poolSize: 1 }, () => undefined);
});
afterAll(async () => {
  pg.Client.prototype.query = send;
  await reads?.close();
  await orm?.close(true);
  await root?.end();
  await unfenced?.close();
  await database?.drop();
});

const newEnvironment = (tx: Tx, name: string): Environment =>
  tx.em.create(Environment, {
    tenantId: tx.tenantId,
    projectId,
    name,
    category: 'dev',
    orgUsername: null,
    devHubUsername: null,
    approvalPolicy: null,
    tags: ['a', `b's`],
    metadata: { secretly: `it's` },
  });

test('entities and queries share one transaction and its fence', async () => {
  const uow = unitOfWork(orm, { actor });
  const id = await uow(async (tx) => {
    const environment = newEnvironment(tx, 'shared');
    await tx.em.flush();
    const byId = tx.db.selectFrom('environment').where('id', '=', environment.id).select(['description', 'createdAt']);
    environment.description = `it's so`;
    // Queries do not flush, and entities do not see what queries change.
    expect(await byId.executeTakeFirstOrThrow()).toMatchObject({ description: '', createdAt: expect.any(String) });
    await tx.em.flush();
    expect(await byId.executeTakeFirstOrThrow()).toMatchObject({ description: `it's so` });
    await tx.db.updateTable('environment').set({ description: 'set' }).where('id', '=', environment.id).execute();
    expect(environment.description).toBe(`it's so`);
    await tx.em.refresh(environment);
    expect(environment.description).toBe('set');
    return environment.id;
  });
  await unitOfWork(orm, { actor: other })(async (tx) => {
    expect(await tx.em.findOne(Environment, { id })).toBeNull();
    expect(await tx.db.selectFrom('environment').select('id').execute()).toEqual([]);
    await expect(tx.db.insertInto('tenant').values({ id: newId(), slug: 'x' }).execute()).rejects.toThrow(
      /permission denied|row-level security/,
    );
  });
  // Without a unit of work there is no fence, and nothing to see.
  expect(await orm.em.fork().getKysely<Tables>().selectFrom('environment').select('id').execute()).toEqual([]);
});

test('a unit of work that was made without hooks passes over none', async () => {
  const telling = unitOfWork(orm, { actor })((tx) => tx.tell('approvalChanged', newId()));
  await expect(telling).rejects.toThrow('made without hooks');
});

test('a failure rolls back what entities and queries wrote', async () => {
  const uow = unitOfWork(orm, { actor });
  await expect(
    uow(async (tx) => {
      newEnvironment(tx, 'lost');
      await tx.em.flush();
      await tx.db.updateTable('project').set({ defaultBranch: 'lost' }).where('id', '=', projectId).execute();
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  await uow(async (tx) => {
    expect(await tx.em.findOne(Environment, { name: 'lost' })).toBeNull();
    expect((await tx.em.findOneOrFail(Project, { id: projectId })).defaultBranch).toBe('main');
  });
});

test('a unit of work begins behind its fence, and writes what it announces and audits, in one round trip each', async () => {
  await insertWebhook(place(), { event: 'project.updated' });
  const woken: string[][] = [];
  const signals = { webhook: (_: TenantKey, ids: readonly string[]) => void woken.push([...ids]) };
  const quoted = { ...actor, email: `o'neill@example.com` };
  wire.length = 0;
  await unitOfWork(orm, { actor: quoted, signals })(async (tx) => {
    tx.announce({ event: 'project.updated', data: { it: `isn't` } });
    tx.audit({ source: 'project', action: 'project.updated', entityType: 'project', summary: `it's` });
    expect(await tx.db.selectFrom('project').select('id').execute()).toEqual([{ id: projectId }]);
  });
  expect(wire.map(({ text }) => text.split(' ', 2).join(' '))).toEqual([
    'begin; select',
    'select "id"',
    'with "enqueued"',
    'commit',
  ]);
  expect(woken).toEqual([[expect.any(String)]]);
  const { rows } = await root.query(
    `select d.payload, e.summary from webhook_delivery d join audit_entry e on e.tenant_id = d.tenant_id where d.tenant_id = $1`,
    [actor.tenantId],
  );
  expect(rows).toEqual([{ payload: { it: `isn't` }, summary: `it's` }]);
  // A webhook of the whole tenant is told what an actor does that is limited to projects.
  await unitOfWork(orm, { actor: { ...quoted, projectIds: [projectId] }, signals })(async (tx) => {
    tx.announce({ event: 'project.updated', data: {} });
    expect(await tx.db.selectFrom('webhook').select('id').execute()).toEqual([]);
  });
  expect(woken).toHaveLength(2);
  // One that does nothing sends nothing beside its fence.
  wire.length = 0;
  await orm.em.fork().transactional(async () => undefined);
  expect(wire).toEqual([]);
});

test('json goes through entities and queries', async () => {
  await unitOfWork(orm, { actor })(async (tx) => {
    const environment = newEnvironment(tx, 'json');
    await tx.em.flush();
    const rows = await tx.db
      .selectFrom('environment')
      .where((eb) => isOneOf(eb, 'name', ['json', 'none']))
      .select(['tags', 'metadata'])
      .execute();
    expect(rows).toEqual([{ tags: ['a', `b's`], metadata: { secretly: `it's` } }]);
    await tx.db
      .updateTable('environment')
      .set({ tags: json(['c']) })
      .where('id', '=', environment.id)
      .execute();
    await tx.em.refresh(environment);
    expect(environment.tags).toEqual(['c']);
  });
});

test('the entity manager sends its values as parameters, and its statements are prepared', async () => {
  await unitOfWork(orm, { actor })(async (tx) => {
    wire.length = 0;
    const environments = ['param-1', 'param-2', 'param-3'].map((name) => newEnvironment(tx, name));
    await tx.em.flush();
    for (const [index, environment] of environments.entries()) {
      environment.description = `it's ${index}`;
      await tx.em.flush();
    }
    // Several entities at once are updated by one statement.
    for (const environment of environments) environment.metadata = { secretly: `it's` };
    await tx.em.flush();
    tx.em.clear();
    const found = await tx.em.find(
      Environment,
      { name: { $in: ['param-1', 'param-3'] } },
      { orderBy: { name: 'asc' } },
    );
    expect(found.map(({ description, metadata }) => [description, metadata])).toEqual([
      [`it's 0`, { secretly: `it's` }],
      [`it's 2`, { secretly: `it's` }],
    ]);
    // The begin goes with the first statement; the fence stands in its text.
    const texts = wire.flatMap(({ text }) => (text.startsWith('begin; ') ? [] : text)).join('\n');
    for (const value of [tx.tenantId, `it's`, `it''s`, 'param-1']) expect(texts).not.toContain(value);
    expect(wire.filter(({ name, text }) => text.startsWith('update') && name !== undefined)).not.toEqual([]);
  });
});

test('errors keep their class and code', async () => {
  await unitOfWork(orm, { actor })(async (tx) => {
    newEnvironment(tx, 'once');
    await tx.em.flush();
    const twice = { id: newId(), tenantId: tx.tenantId, projectId, name: 'once', category: 'dev' as const };
    await expect(tx.em.transactional((inner) => inner.insert(Environment, twice as never))).rejects.toThrow(
      UniqueConstraintViolationException,
    );
    const byQuery = tx.em.transactional((inner) =>
      inner.getKysely<Tables>().insertInto('environment').values(twice).execute(),
    );
    const error = await byQuery.then(
      () => undefined,
      (refused: unknown) => refused,
    );
    expect(error).toBeInstanceOf(pg.DatabaseError);
    expect(error).toMatchObject({ code: '23505' });
    expect(await tx.db.selectFrom('environment').where('name', '=', 'once').select('id').execute()).toHaveLength(1);
  });
});

test('fenced reads see the tenant and the projects of their actor, and cannot write', async () => {
  const projects = (as: Actor) =>
    reads.as(as).db.selectFrom('project').select(['id', 'identifier', 'createdAt']).execute();
  expect(await projects(actor)).toEqual([
    { id: projectId, identifier: 'acme/shop', createdAt: expect.stringMatching(/^2/) },
  ]);
  expect(await projects({ ...actor, projectIds: [] })).toEqual([]);
  expect(await projects(other)).toEqual([]);
  const { db } = reads.as(actor);
  await expect((db as Database).deleteFrom('project').execute()).rejects.toThrow(/read-only/);
  // @ts-expect-error reads offer no way to write
  void db.deleteFrom;
});

test('connections outside units of work run statements by themselves, and transactions', async () => {
  const { db, close } = connectDatabase({ databaseUrl: database.url, poolSize: 1 }, () => undefined);
  for (const email of ['one@example.com', 'two@example.com']) await insertUser(db, email);
  const emails = async () =>
    (await db.selectFrom('user_account').orderBy('email').select('email').execute()).map(({ email }) => email);
  const rename = (from: string, to: string) =>
    db.updateTable('user_account').set({ email: to }).where('email', '=', from).executeTakeFirst();
  expect(await rename('one@example.com', 'first@example.com')).toEqual({ numUpdatedRows: 1n });
  expect(await emails()).toEqual(['first@example.com', 'two@example.com']);
  await expect(rename('first@example.com', 'two@example.com')).rejects.toMatchObject({ code: '23505' });
  await expect(
    db.transaction().execute(async (tx) => {
      await tx.deleteFrom('user_account').execute();
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(await emails()).toEqual(['first@example.com', 'two@example.com']);
  await close();
});

test('reads that are planned anew share connections, and fences, with those that are not', async () => {
  const seen = async (as: Actor, isPlannedAnew: boolean) =>
    (await reads.as(as).with({ isPlannedAnew }).db.selectFrom('project').select('id').execute()).length;
  const found: number[] = [];
  for (const isPlannedAnew of [false, true, false, true])
    for (const as of [actor, other]) found.push(await seen(as, isPlannedAnew));
  expect(found).toEqual([1, 0, 1, 0, 1, 0, 1, 0]);
  await seen(actor, false);
  await seen(other, true);
  expect(await seen(actor, false)).toBe(1);
  await seen(other, false);
  await seen(actor, true);
  expect(await seen(other, false)).toBe(0);
});

test('a read that takes too long is cancelled', async () => {
  const { db } = reads.as(actor).with({ timeoutMs: 50 });
  await expect(sql`select pg_sleep(5)`.execute(db)).rejects.toMatchObject({ code: '57014' });
  expect(await reads.as(actor).db.selectFrom('project').select('id').execute()).toHaveLength(1);
});

test('selecting all columns is refused', () => {
  expect(() => reads.as(actor).db.selectFrom('project').selectAll().compile()).toThrow('Name the columns');
});

test('a statement is prepared when it comes again, and connections keep a bounded number', async () => {
  const byId = (db: ReturnType<FencedReads['as']>['db']) =>
    db.selectFrom('environment').where('id', '=', projectId).select('name').execute();
  const namesOf = async (db: ReturnType<FencedReads['as']>['db']) => {
    // The fence of the connection is set before.
    await db.selectFrom('team').where('slug', '=', 'x').select('id').execute();
    wire.length = 0;
    for (let time = 0; time < 3; time++) await byId(db);
    return wire.map(({ name }) => name !== undefined);
  };
  expect(await namesOf(reads.as(actor).db)).toEqual([false, true, true]);
  expect(await namesOf(reads.as(actor).with({ isPlannedAnew: true }).db)).toEqual([false, false, false]);
  const { db } = reads.as(actor);
  for (let form = 0; form < STATEMENTS_KEPT + 50; form++) {
    for (let time = 0; time < 2; time++) await sql`select ${'x'}::text, ${sql.lit(form)}`.execute(db);
  }
  const kept = await sql<{ count: number }>`select count(*)::int as count from pg_prepared_statements`.execute(db);
  expect(kept.rows).toEqual([{ count: STATEMENTS_KEPT }]);
  expect(await byId(db)).toEqual([]);
});

const CANDIDATES = statement<{ tenantId: string; name?: string | undefined }, { limit: number }>()(
  (db, { tenantId, name }, { limit }) => {
    const all = db.selectFrom('environment').where('tenantId', '=', tenantId).orderBy('name').limit(sql.lit(limit));
    return (name ? all.where('name', '=', name) : all).select(['name']);
  },
);
const INSERT = inserting(
  'environment',
  ['id', 'tenantId', 'projectId', 'name', 'category', 'tags', 'metadata'],
  (query) => query.onConflict((conflict) => conflict.doNothing()).returning('name'),
);

test('statements that are built once take other values, and other forms, with each call', async () => {
  await unitOfWork(orm, { actor })(async (tx) => {
    const insert = (name: string) =>
      INSERT(tx.db, {
        id: newId(),
        tenantId: tx.tenantId,
        projectId,
        name,
        category: 'dev',
        tags: json([]),
        metadata: json({}),
      });
    expect(await insert('built-1')).toEqual([{ name: 'built-1' }]);
    expect(await insert('built-2')).toEqual([{ name: 'built-2' }]);
    expect(await insert('built-2')).toEqual([]);
    expect(await CANDIDATES(tx.db, { tenantId: tx.tenantId, name: 'built-2' }, { limit: 5 })).toEqual([
      { name: 'built-2' },
    ]);
    expect(await CANDIDATES(tx.db, { tenantId: tx.tenantId }, { limit: 1 })).toEqual([{ name: 'built-1' }]);
    expect(await CANDIDATES(tx.db, { tenantId: other.tenantId }, { limit: 1 })).toEqual([]);
  });
});
