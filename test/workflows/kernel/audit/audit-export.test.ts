import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import pg from 'pg';
import { auditExportContract } from '../../../../workflows/kernel/audit/audit-export.contract.ts';
import { type Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { loseHeartbeats } from '../../../support/lost-heartbeats.ts';
import { eventually, startWorker, startWorkerProcess } from '../../../support/worker.ts';
import { webhookReceiver } from '../../../simulators/webhook-receiver.ts';

const QUEUES = ['audit-v1', 'webhooks-v1', 'system-v1'];

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const owner = () => app.as(app.owner);
const settled = (id: string): Promise<Json> =>
  eventually(
    () => owner().get(200, `/api/audit/exports/${id}`),
    ({ status }: Json) => status === 'completed' || status === 'failed',
  );

/** Writes entries as the service does, many at once. */
const fillTrail = (count: number, { summary = 'entry', action = 'test.done' } = {}) =>
  app.sql(
    `select set_config('app.tenant_id', ?, false), audit_append(?, (
       select jsonb_agg(jsonb_build_object('id', gen_random_uuid(), 'occurredAt', now(), 'source', 'system', 'action', ?::text,
         'actor', jsonb_build_object('type', 'system', 'id', 'test', 'email', 'system:test'), 'entityType', 'test', 'summary', ?::text || n,
         'after', jsonb_build_object('n', n), 'head', '', 'middle', '', 'tail', '')) from generate_series(1, ?::int) n))`,
    [app.tenant.id, app.tenant.id, action, summary, count],
  );

/** Cells of a file without quoted line breaks. */
const records = (csv: string): string[] => csv.split('\r\n').slice(0, -1);

test('an export holds what the trail held when it was asked for, and can be fetched for a while', async () => {
  await owner().post(201, '/api/projects', { identifier: 'acme/before', platform: 'host-a' });
  await fillTrail(5_000);
  await fillTrail(1, { summary: '=cmd|calc ' });
  const receiver = await webhookReceiver();
  await owner().post(201, '/api/webhooks', {
    name: 'exports',
    event: 'audit_export.completed',
    config: { url: receiver.url },
  });
  const made = await owner().post(202, '/api/audit/exports', { format: 'csv' });
  expect(made).toMatchObject({
    status: 'queued',
    format: 'csv',
    filters: {},
    requestedBy: app.owner.email,
    rowCount: null,
    sha256: null,
  });
  await owner().get(409, `/api/audit/exports/${made.id}/download`);
  await owner().post(201, '/api/projects', { identifier: 'acme/after', platform: 'host-a' });
  const worker = await startWorker(app, QUEUES);
  const done = await settled(made.id);

  const { text, headers } = await owner().request(200, 'GET', `/api/audit/exports/${made.id}/download`);
  expect(headers.get('content-type')).toContain('text/csv');
  expect(headers.get('content-disposition')).toMatch(/^attachment; filename="audit-.*\.csv"$/);
  const [head, ...rows] = records(text);
  expect(head).toBe(
    'id,sequence,occurredAt,source,action,actor,repositoryIdentifier,entityType,entityId,summary,before,after,requestId,prevHash,hash',
  );
  expect(done).toMatchObject({
    status: 'completed',
    rowCount: rows.length,
    fileSizeBytes: Buffer.byteLength(text),
    sha256: createHash('sha256').update(text).digest('hex'),
    error: null,
  });
  expect(rows.map((row) => Number(row.split(',')[1]))).toEqual(rows.map((_, index) => index + 1));
  expect(text).toContain('acme/before');
  expect(text).not.toContain('acme/after');
  expect(text).toContain(`,'=cmd|calc 1,`);

  const link = await owner().get(200, `/api/audit/exports/${made.id}/download-url`);
  const path = link.url.replace('http://quayside.test', '');
  const { text: linked } = await app.as().request(200, 'GET', path);
  expect(linked).toBe(text);
  await app.as().get(403, `${path}x`);
  await app.as().get(403, `/api/downloads?token=${app.owner.token}`);
  await app.as({ token: new URL(link.url).searchParams.get('token') ?? '' }).get(401, '/api/users/me');

  const [told] = await receiver.received(1);
  expect(JSON.parse(told?.body ?? '').data).toMatchObject({ id: made.id, status: 'completed', rowCount: rows.length });
  await worker.stop();
  await receiver.close();
});

test('filters narrow an export', async () => {
  await fillTrail(50);
  await owner().post(201, '/api/projects', { identifier: 'acme/x', platform: 'host-a' });
  const worker = await startWorker(app, QUEUES);
  const { id } = await owner().post(202, '/api/audit/exports', {
    action: 'project.',
    from: '2020-01-01T00:00:00Z',
    repositoryIdentifier: 'acme/x',
  });
  await expect(settled(id)).resolves.toMatchObject({ rowCount: 1 });
  await worker.stop();
});

/** Requests exports until one is caught while it is written: its next page waits for as long as the holder is connected. */
async function halfWritten(holder: pg.Client): Promise<string> {
  const drafts = join(app.dataDir, 'objects', '.drafts');
  const isDrafted = () =>
    existsSync(drafts) &&
    readdirSync(drafts).some((name) => (statSync(join(drafts, name), { throwIfNoEntry: false })?.size ?? 0) > 0);
  for (;;) {
    const { id } = await owner().post(202, '/api/audit/exports', {});
    const status = async () => (await owner().get(200, `/api/audit/exports/${id}`)).status;
    await eventually(status, (now) => isDrafted() || now === 'completed');
    await holder.query('begin; lock table audit_entry in access exclusive mode');
    if (isDrafted() && (await status()) === 'running') return id;
    await holder.query('rollback');
  }
}

test('a worker killed in the midst of an export: another one writes it whole', async () => {
  for (let n = 0; n < 2; n++) await fillTrail(10_000, { summary: 'long '.repeat(100) });
  const first = await startWorkerProcess(app, QUEUES);
  const holder = new pg.Client(app.databaseUrl);
  await holder.connect();
  let id: string;
  try {
    id = await halfWritten(holder);
    await first.kill('SIGKILL');
    await expect(owner().get(200, `/api/audit/exports/${id}`)).resolves.toMatchObject({ status: 'running' });
  } finally {
    await holder.end();
  }
  const second = await startWorker(app, QUEUES);
  await loseHeartbeats(app, app.launch.idOf(auditExportContract, { ...app.tenantKey, exportId: id }), 1);
  const done = await settled(id);
  expect(done).toMatchObject({ status: 'completed' });
  const { text } = await owner().request(200, 'GET', `/api/audit/exports/${id}/download`);
  const rows = records(text).slice(1);
  expect(done.rowCount).toBe(rows.length);
  expect(done.rowCount).toBeGreaterThanOrEqual(20_000);
  expect(done.fileSizeBytes).toBe(Buffer.byteLength(text));
  // Each entry once, in the order of the trail, with the hash that it has there.
  const trail = await app.sql<{ sequence: string; hash: string }>(
    'select sequence, hash from audit_entry where tenant_id = ? order by sequence limit ?',
    [app.tenant.id, rows.length],
  );
  expect(rows.map((row) => [row.split(',')[1], row.slice(-64)].join())).toEqual(
    trail.map(({ sequence, hash }) => `${sequence},${hash}`),
  );
  expect(done.sha256).toBe(createHash('sha256').update(text).digest('hex'));
  await second.stop();
});

test('a worker outside reads the rows by cursor, each once, and completes the export', async () => {
  await fillTrail(25, { action: 'outside.done' });
  const { id } = await owner().post(202, '/api/audit/exports', { action: 'outside.' });
  await fillTrail(10, { action: 'outside.done' });
  const outside = app.as(app.application);
  const path = `/api/audit/internal/exports/${id}`;
  const rows: Json[] = [];
  for (let cursor = ''; ; ) {
    const page = await outside.get(200, `${path}/rows?limit=10${cursor}`);
    rows.push(...page.rows);
    if (page.nextCursorId === null) break;
    cursor = `&cursorCreatedAt=${page.nextCursorCreatedAt}&cursorId=${page.nextCursorId}`;
  }
  expect(rows).toHaveLength(25);
  expect(new Set(rows.map((row) => row.id)).size).toBe(25);
  await outside.get(400, `${path}/rows?cursorId=${rows[0].id}`);
  await outside.get(400, `${path}/rows?cursorId=${rows[0].id}&cursorCreatedAt=2020-01-01T00:00:00Z`);

  const key = `${app.tenant.id}/audit-exports/${id}.csv`;
  const file = { objectKey: key, fileName: 'audit.csv', rowCount: 25, fileSizeBytes: 4 };
  await outside.post(400, `${path}/complete`, file);
  await app.objects.put(key, Readable.from([Buffer.from('a,b\n')]), 'text/csv');
  await outside.post(400, `${path}/complete`, { ...file, fileSizeBytes: 5 });
  await outside.post(400, `${path}/complete`, { ...file, objectKey: `${app.tenant.id}/audit-exports/../x` });
  await outside.post(204, `${path}/complete`, file);
  await outside.post(204, `${path}/complete`, { ...file, fileName: 'other.csv' });
  await outside.post(204, `${path}/fail`, { error: 'too late' });
  await expect(owner().get(200, `/api/audit/exports/${id}`)).resolves.toMatchObject({
    status: 'completed',
    rowCount: 25,
    error: null,
  });
  await expect(owner().request(200, 'GET', `/api/audit/exports/${id}/download`)).resolves.toMatchObject({
    text: 'a,b\n',
  });
});

test('a token of some projects sees nothing of the trail', async () => {
  await owner().post(201, '/api/projects', { identifier: 'acme/scoped', platform: 'host-a' });
  const scoped = await owner().post(201, '/api/application-tokens', { name: 'scoped', projects: ['acme/scoped'] });
  const { id } = await owner().post(202, '/api/audit/exports', {});
  await app.as(scoped).get(403, `/api/audit/internal/exports/${id}/rows`);
  await app.as(scoped).post(403, `/api/audit/internal/exports/${id}/fail`, { error: 'x' });
  await app.as(scoped).post(403, '/api/audit/internal/exports/cleanup', {});
});

test('an expired export loses its file', async () => {
  const { id } = await owner().post(202, '/api/audit/exports', {});
  const key = `${app.tenant.id}/audit-exports/${id}.csv`;
  await app.objects.put(key, Readable.from([Buffer.from('x')]), 'text/csv');
  const outside = app.as(app.application);
  await outside.post(204, `/api/audit/internal/exports/${id}/complete`, {
    objectKey: key,
    fileName: 'a.csv',
    rowCount: 1,
    fileSizeBytes: 1,
  });
  await outside.post(204, '/api/audit/internal/exports/cleanup', {});
  await owner().request(200, 'GET', `/api/audit/exports/${id}/download`);
  await app.sql(`update audit_export set expires_at = now() - interval '1 second' where id = ?`, [id]);
  await outside.post(204, '/api/audit/internal/exports/cleanup', {});
  await expect(owner().get(200, `/api/audit/exports/${id}`)).resolves.toMatchObject({ status: 'expired' });
  await owner().get(404, `/api/audit/exports/${id}/download`);
  await owner().get(404, `/api/audit/exports/${id}/download-url`);
  expect(await app.objects.sizeOf(key)).toBeUndefined();
});

test('an export whose launch was lost is found by the sweep', async () => {
  const { id } = await owner().post(202, '/api/audit/exports', {});
  // As if the request had died before it launched anything.
  const [lost] = await app.sql<{ id: string }>(
    `update audit_export set id = gen_random_uuid(), updated_at = now() - interval '1 minute' where id = ? returning id`,
    [id],
  );
  const worker = await startWorker(app, QUEUES);
  await expect(settled(lost?.id ?? '')).resolves.toMatchObject({ status: 'completed' });
  await worker.stop();
});
