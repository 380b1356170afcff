import pg from 'pg';
import { connectionOptions } from '../../../../domain/kernel/data/pool.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { insertApprovalEvents } from '../../../support/factories.ts';
import type { Json } from '../../../support/client.ts';

const repositoryIdentifier = 'acme/shop';
let app: TestApp;
beforeAll(async () => {
  app = await testApp();
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  await owner.post(201, '/api/projects', { identifier: 'acme/other', platform: 'host-a' });
  await owner.post(201, '/api/release-candidates', {
    repositoryIdentifier,
    domain: 'core',
    releaseName: 'r1',
    commitSha: 'abcdef0',
    value: { changelog: { added: ['=a'] } },
  });
  const approvalId = newId();
  const requestedAt = '2024-12-31T23:59:59.999Z';
  const step = {
    environmentName: 'prod',
    domain: 'core',
    releaseName: 'r1',
    source: 'vote' as const,
    approvers: ['platform', 'board'],
    requestedBy: app.member.email,
    requestedAt,
  };
  const resolved = (resolvedAt: string, resolvedBy: string) => ({
    ...step,
    resolvedBy,
    resolvedAt,
    occurredAt: resolvedAt,
  });
  await insertApprovalEvents(app, repositoryIdentifier, [
    { ...step, approvalId, status: 'requested', occurredAt: requestedAt },
    {
      ...resolved('2025-01-01T00:00:00Z', 'lee@acme.example'),
      approvalId,
      status: 'approved',
      comment: '=HYPERLINK("x"), "ok"',
    },
    {
      ...resolved('2025-06-01T00:00:00Z', 'kim@acme.example'),
      status: 'rejected',
      domain: 'sales',
      environmentName: 'uat',
      taskType: 'install-packages',
      requestedBy: 'ann@acme.example',
    },
    { ...resolved('2026-01-01T00:00:00Z', 'system:approval'), status: 'expired', releaseName: 'r2' },
  ]);
});
afterAll(() => app.close());

const path = (query: string) => `/api/flows/approvals/compliance?repositoryIdentifier=${repositoryIdentifier}${query}`;
const report = (query = ''): Promise<Json> => app.as(app.member).get(200, path(query));
const statuses = async (query: string): Promise<string[]> =>
  (await report(query)).items.map(({ status }: Json) => status);

test('each step is a row, newest first, with all of the approval that counts', async () => {
  const { items, total, limit, offset } = await report();
  expect([items.length, total, limit, offset]).toEqual([4, 4, 100, 0]);
  expect(items.map(({ status }: Json) => status)).toEqual(['expired', 'rejected', 'approved', 'requested']);
  expect(items[2]).toEqual({
    id: expect.any(String),
    approvalId: items[3].approvalId,
    executionId: expect.any(String),
    taskType: 'execute-release',
    repositoryIdentifier,
    environment: 'prod',
    domain: 'core',
    releaseName: 'r1',
    status: 'approved',
    requestedBy: app.member.email,
    requestedAt: '2024-12-31T23:59:59.999Z',
    resolvedBy: 'lee@acme.example',
    resolvedAt: '2025-01-01T00:00:00.000Z',
    responseTimeMs: 1,
    approvers: ['platform', 'board'],
    comment: '=HYPERLINK("x"), "ok"',
    source: 'vote',
    override: null,
    policyViolations: [],
  });
  expect(items[3]).toMatchObject({ resolvedBy: null, resolvedAt: null, responseTimeMs: null });
});

test.each([
  ['&status=approved', ['approved']],
  ['&taskType=install-packages', ['rejected']],
  ['&environment=uat', ['rejected']],
  ['&domain=core&status=expired', ['expired']],
  ['&requestedBy=Ann@acme.example', ['rejected']],
  ['&resolvedBy=lee@acme.example', ['approved']],
  ['&from=2025-01-01T00:00:00Z&to=2026-01-01T00:00:00Z', ['rejected', 'approved']],
  ['&from=2025-06-01&to=2025-06-02', ['rejected']],
  ['&from=2025-01-01T01:00:00%2B02:00&to=2025-01-01', ['requested']],
  ['&year=2025', ['rejected', 'approved']],
  ['&year=2024&from=2025-01-01&to=2025-02-01', ['requested']],
  ['&limit=1&offset=2', ['approved']],
  ['&limit=5&offset=9', []],
])('the filter %s', async (query, expected) => {
  expect(await statuses(query)).toEqual(expected);
});

test('a page says what is around it', async () => {
  const { headers, body } = await app.as(app.owner).request(200, 'GET', path('&limit=2&offset=1'));
  expect(body.total).toBe(4);
  expect(headers.get('link')).toMatch(/offset=3>; rel="next".*offset=0>; rel="prev"/);
});

test.each(['&status=lost', '&year=25', '&from=yesterday', '&format=xml', '&limit=1001', '&page=2'])(
  '%s is refused',
  async (query) => {
    await app.as(app.owner).get(400, path(query));
  },
);

test('one registered repository at a time', async () => {
  await app.as(app.owner).get(400, '/api/flows/approvals/compliance');
  await app.as(app.owner).get(400, '/api/flows/approvals/compliance?repositoryIdentifier=no/such');
  await expect(
    app.as(app.owner).get(200, '/api/flows/approvals/compliance?repositoryIdentifier=acme/other'),
  ).resolves.toMatchObject({ items: [], total: 0 });
});

test('the changelog holds what the definition of the release says; it is null where there is no such release', async () => {
  const { items } = await report('&includeChangelog=true');
  const totals = { totalCommits: 0, totalWorkItems: 0, totalPullRequests: 0 };
  const side = { ...totals, workItems: [], pullRequests: [] };
  const own = {
    since: null,
    packages: [],
    ...totals,
    added: side,
    removed: side,
    isTruncated: false,
    definition: { added: ['=a'] },
  };
  expect(items.map(({ changelog }: Json) => changelog)).toEqual([null, null, own, own]);
  expect((await report()).items[0]).not.toHaveProperty('changelog');
});

test('the CSV is the whole report, and harmless in a spreadsheet', async () => {
  const { headers, text } = await app.as(app.application).request(200, 'GET', path('&format=csv&limit=1&year=2025'));
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
  expect(headers.get('content-disposition')).toBe('attachment; filename="approvals-acme-shop-2025.csv"');
  const lines = text.split('\r\n');
  expect(lines).toHaveLength(4);
  expect(lines[0]).toBe(
    'id,approvalId,executionId,taskType,repositoryIdentifier,environment,domain,releaseName,status,requestedBy,requestedAt,resolvedBy,resolvedAt,responseTimeMs,approvers,comment,source,override,policyViolations',
  );
  expect(lines[2]).toMatch(
    /,execute-release,acme\/shop,prod,core,r1,approved,member@acme.example,2024-12-31T23:59:59.999Z,lee@acme.example,2025-01-01T00:00:00.000Z,1,platform; board,"'=HYPERLINK\(""x""\), ""ok""",vote,,$/,
  );
  const withChangelog = await app
    .as(app.owner)
    .request(200, 'GET', path('&format=csv&status=approved&includeChangelog=true'));
  expect(withChangelog.text).toMatch(
    /,source,override,policyViolations,changelog\r\n.*,vote,,,"\{""since"":null,.*""definition"":\{""added"":\[""=a""\]\}\}"\r\n$/,
  );
});

test('a report of more than one batch has each row once, in order', async () => {
  const start = Date.UTC(2026, 1, 1);
  const events = Array.from({ length: 9_000 }, (_, n) => ({
    occurredAt: new Date(start + Math.floor(n / 100) * 1_000),
  }));
  await insertApprovalEvents(app, 'acme/other', events);
  const { text } = await app
    .as(app.owner)
    .request(200, 'GET', '/api/flows/approvals/compliance?repositoryIdentifier=acme/other&format=csv');
  const ids = text
    .split('\r\n')
    .slice(1, -1)
    .map((line) => line.slice(0, 36));
  const rows = await app.sql<{ id: string }>(
    `select id from approval_event where repository_identifier = 'acme/other' order by occurred_at desc, id desc`,
  );
  expect(ids).toEqual(rows.map(({ id }) => id));
  expect(ids).toHaveLength(9_000);
});

test('a token for other projects sees nothing of it', async () => {
  const { token } = await app
    .as(app.owner)
    .post(201, '/api/application-tokens', { name: 'other', projects: ['acme/other'] });
  await app.as({ token }).get(400, path(''));
});

test('no role of the application can change or remove a step', async () => {
  const asApp = new pg.Client(connectionOptions({ databaseUrl: app.databaseUrl, role: 'quayside_app' }));
  await asApp.connect();
  try {
    await asApp.query(`select set_config('app.tenant_id', $1, false)`, [app.tenant.id]);
    await expect(asApp.query(`update approval_event set comment = 'mine'`)).rejects.toThrow(/permission denied/);
    await expect(asApp.query('delete from approval_event')).rejects.toThrow(/permission denied/);
    await expect(asApp.query('truncate approval_event')).rejects.toThrow(/permission denied/);
  } finally {
    await asApp.end();
  }
});

test('steps outlive the project that they were about', async () => {
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: 'acme/gone', platform: 'host-a' });
  await app.sql(
    `update approval_event set repository_identifier = 'acme/gone', project_id = (select id from project where identifier = 'acme/gone') where status = 'expired'`,
  );
  await owner.delete(204, `/api/projects/${encodeURIComponent('acme/gone')}`);
  await owner.post(201, '/api/projects', { identifier: 'acme/gone', platform: 'host-a' });
  await expect(owner.get(200, '/api/flows/approvals/compliance?repositoryIdentifier=acme/gone')).resolves.toMatchObject(
    { total: 1 },
  );
});
