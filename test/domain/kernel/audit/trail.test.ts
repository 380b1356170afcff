import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { type AuditEntry, GENESIS_HASH, hashedText } from '../../../../domain/kernel/audit/audit-rules.ts';
import { connectDatabase } from '../../../../domain/kernel/data/database.ts';
import { connectOrm } from '../../../../domain/orm.ts';
import { connectionOptions } from '../../../../domain/kernel/data/pool.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { unitOfWork } from '../../../../domain/unit-of-work.ts';
import { insertTenants } from '../../../support/factories.ts';
import { type TestDatabase, testDatabase } from '../../../support/postgres.ts';

const tenants = [newId(), newId()] as const;
const [tenantId, otherId] = tenants;
let database: TestDatabase;
let orm: ReturnType<typeof connectOrm>;
let owner: pg.Client;
let app: pg.Client;

beforeAll(async () => {
  database = await testDatabase();
  const access = { databaseUrl: database.url, role: 'quayside_app' };
  orm = connectOrm(access);
  owner = new pg.Client(database.url);
  app = new pg.Client(connectionOptions(access));
  await Promise.all([owner.connect(), app.connect()]);
  const { db, close } = connectDatabase({ databaseUrl: database.url }, () => undefined);
  await insertTenants(
    db,
    tenants.map((id, index) => ({ id, slug: `t${index}` })),
  );
  await close();
});
afterAll(async () => {
  await Promise.all([orm.close(true), owner.end(), app.end()]);
  await database.drop();
});

const write = (tenant: string, summary: string, state?: unknown) =>
  unitOfWork(orm, { actor: systemActor({ tenantId: tenant, tenantSlug: 'test' }, 'test'), requestId: 'r' })(
    async (tx) => {
      tx.audit({ source: 'system', action: 'test.done', entityType: 'tenant', summary, after: state });
    },
  );

const chain = async (tenant: string): Promise<AuditEntry[]> => {
  const { rows } = await owner.query('select * from audit_entry where tenant_id = $1 order by sequence', [tenant]);
  return rows.map((row) => ({
    id: row.id,
    sequence: Number(row.sequence),
    occurredAt: row.occurred_at.toISOString(),
    source: row.source,
    action: row.action,
    actor: row.actor,
    repositoryIdentifier: row.repository_identifier,
    entityType: row.entity_type,
    entityId: row.entity_id,
    summary: row.summary,
    before: row.before,
    after: row.after,
    requestId: row.request_id,
    prevHash: row.prev_hash,
    hash: row.hash,
  }));
};

const firstBreak = (entries: AuditEntry[]): number | undefined => {
  let expected = GENESIS_HASH;
  for (const [index, entry] of entries.entries()) {
    const isWhole =
      entry.sequence === index + 1 &&
      entry.prevHash === expected &&
      entry.hash === createHash('sha256').update(hashedText(entry)).digest('hex');
    if (!isWhole) return entry.sequence;
    expected = entry.hash;
  }
  return undefined;
};

test('fifty writers at once make one chain without gaps, and tenants do not share theirs', async () => {
  const states = [{ z: 1, a: [1.5, 'ü', null] }, 'text', 0, null, { deep: { '€': '"\\\n' } }];
  await Promise.all(
    Array.from({ length: 50 }, (_, index) => write(tenants[index % 2] as string, `nr. ${index}`, states[index % 5])),
  );
  for (const tenant of tenants) {
    const entries = await chain(tenant);
    expect(entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
    expect(firstBreak(entries)).toBeUndefined();
  }
});

test('entries of one transaction are appended together or not at all', async () => {
  const before = (await chain(tenantId)).length;
  const failing = unitOfWork(orm, { actor: systemActor({ tenantId, tenantSlug: 'test' }, 'test') })(async (tx) => {
    tx.audit({ source: 'system', action: 'test.done', entityType: 'tenant', summary: 'lost' });
    await sql`select 1 / 0`.execute(tx.db);
  });
  await expect(failing).rejects.toThrow('division by zero');
  expect(await chain(tenantId)).toHaveLength(before);
});

test.each([
  ['change', `update audit_entry set summary = 'x'`],
  ['remove', 'delete from audit_entry'],
  ['add past the function', 'insert into audit_entry (tenant_id) select tenant_id from audit_entry'],
  ['empty', 'truncate audit_entry'],
  ['turn back the head of', 'update audit_head set sequence = 0'],
])('the application cannot %s the trail', async (_, statement) => {
  await app.query(`select set_config('app.tenant_id', $1, false)`, [tenantId]);
  await expect(app.query(statement)).rejects.toThrow(/permission denied/);
});

test('the application cannot append to the trail of another tenant', async () => {
  await app.query(`select set_config('app.tenant_id', $1, false)`, [tenantId]);
  await expect(app.query('select audit_append($1, $2)', [otherId, '[]'])).rejects.toThrow(
    'belongs to the tenant that is set',
  );
});

test('without a tenant no entry is visible', async () => {
  await app.query(`select set_config('app.tenant_id', '', false)`);
  await expect(app.query('select * from audit_entry')).resolves.toMatchObject({ rows: [] });
});

test.each([
  ['a changed entry', `update audit_entry set summary = 'forged' where tenant_id = $1 and sequence = 3`, 3],
  ['a changed state', `update audit_entry set after = '{"a":1}' where tenant_id = $1 and sequence = 4`, 4],
  ['a removed entry', 'delete from audit_entry where tenant_id = $1 and sequence = 5', 6],
])('%s breaks the chain where it was', async (_, statement, sequence) => {
  await owner.query('begin');
  await owner.query(statement, [tenantId]);
  expect(firstBreak(await chain(tenantId))).toBe(sequence);
  await owner.query('rollback');
});
