import { onRepository, type ReportedProject, reportedProject } from '../../../support/ai-reports.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { idleEngine } from '../../../support/launch.ts';

let app: TestApp;
let project: ReportedProject;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
beforeEach(async () => {
  project = await reportedProject(app, { configuration: { domains: ['sales', { name: 'core', packages: ['app'] }] } });
});
afterAll(() => app.close());

const at = (minute: number) => new Date(Date.UTC(2026, 2, 2, 9, minute)).toISOString();
const usage = { input: 10, output: 20, reasoning: 5, cacheRead: 3, cacheWrite: 2 };

test('what is published is given out as it came, hostile or not', async () => {
  const markdownReport = '<script>alert(1)</script>\r\n![x](javascript:alert(1))\n\u202e';
  await project.publish({
    markdownReport,
    provider: 'openai',
    model: 'm-1',
    executionTimeMs: 1_200,
    taskExecutionId: 'job-7',
    usage,
  });
  const { reportId, createdAt, ...report } = await project.get('/latest', onRepository);
  expect(report).toEqual({
    repositoryIdentifier: project.repositoryIdentifier,
    branch: 'main',
    ...onRepository,
    status: 'completed',
    commitSha: 'a'.repeat(40),
    analyzedAt: at(30),
    provider: 'openai',
    model: 'm-1',
    executionTimeMs: 1_200,
    taskExecutionId: 'job-7',
    usage,
    cost: null,
    error: null,
    requestedBy: 'app:ci',
    markdownReport,
  });
  await expect(project.get('/status', onRepository)).resolves.toEqual({
    status: 'completed',
    taskExecutionId: 'job-7',
    reportId,
    error: null,
    updatedAt: createdAt,
  });
});

test('nothing was published yet', async () => {
  await expect(project.get('/status', onRepository)).resolves.toEqual({
    status: 'never_ran',
    taskExecutionId: null,
    reportId: null,
    error: null,
    updatedAt: null,
  });
  await project.get('/latest', onRepository, 404);
  await expect(project.get('/history', onRepository)).resolves.toEqual([]);
  await expect(project.get('')).resolves.toEqual([]);
});

test('the list has the newest report of each branch, scope and name, without its text', async () => {
  for (const minute of [2, 3, 1]) await project.publish({ analyzedAt: at(minute) });
  await project.publish({ branch: 'next', analyzedAt: at(4) });
  await project.publish({ scope: 'domain', scopeName: 'sales', analyzedAt: at(5), status: 'failed' });
  await project.publish({ scope: 'package', scopeName: 'app', analyzedAt: at(6) });
  const list: Json[] = await project.get('');
  expect(list.map(({ branch, scope, scopeName, analyzedAt, status }) => [branch, scope, scopeName, analyzedAt, status]))
    // Newest first.
    .toEqual([
      ['main', 'package', 'app', at(6), 'completed'],
      ['main', 'domain', 'sales', at(5), 'failed'],
      ['next', 'repository', 'repository', at(4), 'completed'],
      ['main', 'repository', 'repository', at(3), 'completed'],
    ]);
  expect(list.some((report) => 'markdownReport' in report)).toBe(false);
  await expect(project.get('/latest', { ...onRepository, branch: 'next' })).resolves.toMatchObject({ branch: 'next' });
});

test('ten are kept by when they were analysed, of each key', async () => {
  await project.publish({ scope: 'domain', scopeName: 'sales' });
  for (const minute of [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 20]) await project.publish({ analyzedAt: at(minute) });
  const history: Json[] = await project.get('/history', { ...onRepository, limit: '100' });
  expect(history.map(({ analyzedAt }) => analyzedAt)).toEqual([20, 12, 11, 10, 9, 8, 7, 6, 5, 4].map(at));
  await expect(project.get('/history', { ...onRepository, limit: '2' })).resolves.toHaveLength(2);
  await expect(project.get('/history', { scope: 'domain', scopeName: 'sales' })).resolves.toHaveLength(1);
  await project.get('/history', { ...onRepository, limit: '101' }, 400);
  const [{ kept } = { kept: 0 }] = await app.sql<{ kept: number }>(
    'select count(*)::int as kept from ai_report where project_id = ?',
    [project.id],
  );
  expect(kept).toBe(11);
});

test('the newest report with a text stays the latest when a later one has none', async () => {
  await project.publish({ analyzedAt: at(1) });
  await project.publish({ analyzedAt: at(2), status: 'failed', markdownReport: '' });
  await expect(project.get('/latest', onRepository)).resolves.toMatchObject({ analyzedAt: at(1) });
  await expect(project.get('/status', onRepository)).resolves.toMatchObject({ status: 'failed' });
});

test('ten that failed later do not remove the newest text', async () => {
  for (const minute of [1, 2]) await project.publish({ analyzedAt: at(minute) });
  for (let minute = 3; minute <= 13; minute++)
    await project.publish({ analyzedAt: at(minute), status: 'failed', markdownReport: '' });
  await expect(project.get('/latest', onRepository)).resolves.toMatchObject({ analyzedAt: at(2) });
  const history: Json[] = await project.get('/history', { ...onRepository, limit: '100' });
  expect(history.map(({ analyzedAt }) => analyzedAt)).toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 2].map(at));
});

test('what is older than those that are kept is audited, and not announced', async () => {
  for (let minute = 10; minute < 20; minute++) await project.publish({ analyzedAt: at(minute) });
  const { id } = await app.as(app.owner).post(201, '/api/webhooks', {
    name: 'kept reports',
    event: 'ai_report.completed',
    config: { url: 'http://127.0.0.1:9/' },
  });
  await project.publish({ analyzedAt: at(1) });
  await expect(app.sql('select from webhook_delivery where webhook_id = ?', [id])).resolves.toHaveLength(0);
  const { items } = await app.as(app.owner).get(200, '/api/audit?action=ai_report.published');
  expect(items[0].summary).toContain('older than those that are kept');
});

test('reports of a project are bounded in keys and in bytes; those that had none for the longest time go', async () => {
  const unnamed = await reportedProject(app);
  const insert = (keys: number, bytes: number, day: string) =>
    app.sql(
      `insert into ai_report (id, tenant_id, project_id, branch, scope, scope_name, status, analyzed_at, markdown, requested_by)
       select gen_random_uuid(), tenant_id, id, 'b', 'domain', ? || n, 'completed', ?::timestamptz + make_interval(secs => n),
         repeat('x', ?::int), 'test' from project, generate_series(1, ?::int) n where id = ?`,
      [day, day, bytes, keys, unnamed.id],
    );
  const names = async () => {
    const rows = await app.sql<{ name: string }>('select scope_name as name from ai_report where project_id = ?', [
      unnamed.id,
    ]);
    return new Set(rows.map(({ name }) => name));
  };
  await insert(1_000, 1, '2026-01-01');
  await unnamed.publish({ scope: 'domain', scopeName: 'one more' });
  let kept = await names();
  expect([kept.size, kept.has('one more'), kept.has('2026-01-011'), kept.has('2026-01-012')]).toEqual([
    1_000,
    true,
    false,
    true,
  ]);
  await insert(3, 100_000_000, '2026-01-02');
  await unnamed.publish({ scope: 'domain', scopeName: 'one more' });
  kept = await names();
  // The limit is 256 MB; what is older goes.
  expect([...kept].toSorted()).toEqual(['2026-01-022', '2026-01-023', 'one more']);
});

test.each<[string, object, number, string]>([
  ['a domain that the project does not have', { scope: 'domain', scopeName: 'slaes' }, 400, '#/body/scopeName'],
  ['a package that it does not have', { scope: 'package', scopeName: 'web' }, 400, '#/body/scopeName'],
  ['another name for the whole', { scopeName: 'storefront' }, 400, '#/body/scopeName'],
  ['a scope that there is not', { scope: 'file' }, 400, '#/body/scope'],
  ['a repository that is not registered', { repositoryIdentifier: 'acme/none' }, 400, '#/body/repositoryIdentifier'],
  ['no commit', { commitSha: 'main' }, 400, '#/body/commitSha'],
  ['a time to come', { analyzedAt: '2999-01-01T00:00:00.000Z' }, 400, '#/body/analyzedAt'],
  ['a status of a generation', { status: 'generating' }, 400, '#/body/status'],
  ['a negative count', { usage: { ...usage, input: -1 } }, 400, '#/body/usage/input'],
  ['a member that there is not', { cost: 1 }, 400, ''],
])('%s is refused', async (_, more, status, pointer) => {
  const { errors } = await project.publish(more, status);
  expect(errors.map((error: Json) => error.pointer)).toContain(pointer === '' ? errors[0].pointer : pointer);
  await expect(project.get('')).resolves.toEqual([]);
});

test('a text above 1 MB is refused, counted in bytes', async () => {
  await project.publish({ markdownReport: 'é'.repeat(524_288) });
  await expect(project.publish({ markdownReport: 'é'.repeat(524_289) }, 413)).resolves.toMatchObject({
    code: 'payload_too_large',
  });
});

test('queries say what they name, and nobody reads what is not theirs', async () => {
  await project.publish();
  const { errors } = await project.get('/status', { scope: 'repository', scopeName: 'x' }, 400);
  expect(errors[0].pointer).toBe('#/query/scopeName');
  for (const path of ['/status', '/latest', '/history']) await project.get(path, onRepository, 400, app.stranger);
  await project.get('', {}, 400, app.stranger);
  await project.publish({}, 400, app.strangerApplication);
  await project.publish({}, 403, app.member);
});

test('a token limited to projects publishes and reads only theirs', async () => {
  const other = await reportedProject(app);
  await other.publish();
  const { token } = await app.as(app.owner).post(201, '/api/application-tokens', {
    name: `limited-${project.id}`,
    projects: [project.repositoryIdentifier],
  });
  const limited = { token };
  await project.publish({}, 204, limited);
  await expect(project.get('', {}, 200, limited)).resolves.toHaveLength(1);
  await other.publish({}, 400, limited);
  for (const path of ['/status', '/latest', '/history']) await other.get(path, onRepository, 400, limited);
});

test('a publication is audited and announced', async () => {
  const { id } = await app.as(app.owner).post(201, '/api/webhooks', {
    name: 'reports',
    event: 'ai_report.completed',
    config: { url: 'http://127.0.0.1:9/' },
  });
  await project.publish({ scope: 'domain', scopeName: 'sales', status: 'failed' });
  const [{ reportId }] = await project.get('');
  const rows = await app.sql<{ data: Json }>('select payload as data from webhook_delivery where webhook_id = ?', [id]);
  expect(rows.map(({ data }) => data)).toEqual([
    {
      id: reportId,
      repositoryIdentifier: project.repositoryIdentifier,
      scope: 'domain',
      scopeName: 'sales',
      branch: 'main',
      commitSha: 'a'.repeat(40),
      status: 'failed',
      analyzedAt: at(30),
    },
  ]);
  const { items } = await app.as(app.owner).get(200, `/api/audit?action=ai_report.published&entityId=${reportId}`);
  expect(items).toMatchObject([
    { source: 'project', repositoryIdentifier: project.repositoryIdentifier, actor: { email: 'app:ci' } },
  ]);
});
