import { type TestApp, testApp } from '../../../support/app.ts';

const COLUMNS = `tenant_id, sequence, id, occurred_at, source, action, actor, repository_identifier, entity_type, entity_id, summary,
  before, after, request_id, prev_hash, hash`;

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
  for (let n = 0; n < 12; n++)
    await app.as(app.owner).post(201, '/api/projects', { identifier: `acme/p${n}`, platform: 'host-a' });
  await app.sql(`create table untouched as select ${COLUMNS} from audit_entry where tenant_id = ?`, [app.tenant.id]);
});
afterAll(() => app.close());
afterEach(async () => {
  await app.sql('delete from audit_entry where tenant_id = ?', [app.tenant.id]);
  await app.sql(`insert into audit_entry (${COLUMNS}) select ${COLUMNS} from untouched`);
});

const verify = (query = '') => app.as(app.owner).get(200, `/api/audit/verify${query}`);
/** As somebody who owns the tables could. */
const tamper = (statement: string) =>
  app.sql(
    statement.replace('audit_entry', 'audit_entry as e').replace(/where/, `where e.tenant_id = '${app.tenant.id}' and`),
  );
const headSequence = async () => (await verify()).head.sequence as number;

test('an untouched trail is intact, whole and in parts', async () => {
  const whole = await verify();
  expect(whole).toMatchObject({
    isIntact: true,
    checked: whole.head.sequence,
    fromSequence: 1,
    toSequence: whole.head.sequence,
    firstBreak: null,
    nextFromSequence: null,
  });
  await expect(verify('?fromSequence=3&toSequence=7')).resolves.toMatchObject({
    isIntact: true,
    checked: 5,
    toSequence: 7,
  });
  await expect(verify('?fromSequence=5000')).resolves.toMatchObject({ isIntact: true, checked: 0 });
});

test.each([
  ['a summary', `update audit_entry set summary = summary || '.' where e.sequence = 5`, 5, 'altered'],
  [
    'a value in what was after',
    `update audit_entry set after = jsonb_set(after, '{platform}', '"host-b"') where e.sequence = 6`,
    6,
    'altered',
  ],
  [
    'who did it',
    `update audit_entry set actor = jsonb_set(actor, '{email}', '"x@example.com"') where e.sequence = 4`,
    4,
    'altered',
  ],
  [
    'when, by a millisecond',
    `update audit_entry set occurred_at = occurred_at + interval '1 ms' where e.sequence = 7`,
    7,
    'altered',
  ],
  [
    'the hash with the content',
    `update audit_entry set summary = 'x', hash = repeat('a', 64) where e.sequence = 5`,
    5,
    'altered',
  ],
  ['a link', `update audit_entry set prev_hash = repeat('b', 64) where e.sequence = 8`, 8, 'not_linked'],
  ['an entry that is gone', `delete from audit_entry where e.sequence = 6`, 6, 'missing'],
  ['the first entry, gone', `delete from audit_entry where e.sequence = 1`, 1, 'missing'],
])('%s is found', async (_, statement, sequence, reason) => {
  await tamper(statement);
  await expect(verify()).resolves.toMatchObject({ isIntact: false, firstBreak: { sequence, reason } });
  await expect(verify(`?fromSequence=${sequence + 2}`)).resolves.toMatchObject({ isIntact: true });
});

test('the last entry, gone, is found', async () => {
  const last = await headSequence();
  await tamper(`delete from audit_entry where e.sequence = ${last}`);
  await expect(verify()).resolves.toMatchObject({ isIntact: false, firstBreak: { sequence: last, reason: 'missing' } });
});

test('two entries that changed places are found', async () => {
  await tamper('update audit_entry set sequence = -e.sequence where e.sequence in (5, 6)');
  await tamper('update audit_entry set sequence = 11 + e.sequence where e.sequence in (-5, -6)');
  await expect(verify()).resolves.toMatchObject({ isIntact: false, firstBreak: { sequence: 5 } });
});

test('an entry that was put in, at the end or between, is found', async () => {
  const last = await headSequence();
  const copy = (sequence: number) => `
    insert into audit_entry (tenant_id, sequence, id, occurred_at, source, action, actor, entity_type, summary, prev_hash, hash)
    select tenant_id, ${sequence}, gen_random_uuid(), occurred_at, source, action, actor, entity_type, summary, hash, repeat('c', 64)
    from audit_entry where tenant_id = '${app.tenant.id}' and sequence = ${last}`;
  await app.sql(copy(last + 1));
  await expect(verify()).resolves.toMatchObject({
    isIntact: false,
    firstBreak: { sequence: last + 1, reason: 'beyond_head' },
  });
  await app.sql('delete from audit_entry where tenant_id = ? and sequence = ?', [app.tenant.id, last + 1]);
  await tamper(`update audit_entry set sequence = e.sequence + 1000 where e.sequence >= 6`);
  await tamper(`update audit_entry set sequence = e.sequence - 999 where e.sequence >= 1000`);
  await app.sql(copy(6));
  await expect(verify()).resolves.toMatchObject({ isIntact: false, firstBreak: { sequence: 6, reason: 'not_linked' } });
});
