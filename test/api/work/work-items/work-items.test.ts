import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';
import { jiraCredentials, type JiraSimulator, jiraSite } from '../../../simulators/trackers/jira.ts';
import { type TestApp, testApp } from '../../../support/app.ts';

const HOUR_MS = 3_600_000;
let app: TestApp;
let github: GitHostSimulator;
let azure: GitHostSimulator;
let jira: JiraSimulator;

beforeAll(async () => {
  [github, azure, jira] = await Promise.all([gitHost('host-a'), gitHost('host-b'), jiraSite()]);
  app = await testApp({ env: { WORK_TRACKER_TIMEOUT_SECONDS: '4' } });
  const project = async (identifier: string, platform: string, workItems?: object) =>
    app
      .as(app.owner)
      .post(201, '/api/projects', { identifier, platform, configuration: workItems ? { workItems } : {} });
  await project('acme/shop', 'host-a', { boards: ['team-a', 'team-b'] });
  await project('acme/web/shop', 'host-b');
  await project('acme/erp', 'host-a', { provider: 'tracker-a', boards: ['SHOP'] });
  await project('acme/none', 'host-c');
  await integrate('host-a', github.url, hostCredentials);
  await integrate('host-b', azure.url, hostCredentials);
  await integrate('tracker-a', jira.url, jiraCredentials);
});
afterAll(async () => {
  await app.close();
  await Promise.all([github.close(), azure.close(), jira.close()]);
});
beforeEach(() => {
  for (const { requests } of [github, azure, jira]) requests.length = 0;
  github.issues.all.length = 0;
  azure.boards.all.length = 0;
  jira.issues.length = 0;
});

const integrate = (kind: string, baseUrl: string, credentials: object, repositoryIdentifier: string | null = null) =>
  app.as(app.owner).post(201, '/api/integrations', { kind, name: kind, baseUrl, credentials, repositoryIdentifier });
const query = (members: Record<string, string>) => new URLSearchParams(members).toString();
const item = (id: string, projectIdentifier: string) => `/api/work-items/${id}?${query({ projectIdentifier })}`;
const list = (projectIdentifier: string, members: Record<string, string> = {}) =>
  `/api/work-items?${query({ projectIdentifier, ...members })}`;
const trail = (action: string) =>
  app.sql<{ source: string; actor: { email: string }; summary: string; entity_id: string; after: object }>(
    'select * from audit_entry where action = ? order by sequence',
    [action],
  );

test('each project reads the work items of its own provider', async () => {
  github.issues.add('acme/shop', { title: 'An issue', labels: ['team-a', 'bug'] });
  azure.boards.add('acme/web', { 'System.Title': 'A task' });
  jira.add('SHOP', { summary: 'A story', type: 'Story' });
  const read = async (id: string, project: string) => {
    const { title, type, platform, key } = await app.as(app.member).get(200, item(id, project));
    const [summary] = await app.as(app.application).get(200, list(project));
    expect(Object.keys(summary)).toEqual(['id', 'key', 'title', 'type', 'status', 'priority', 'platform', 'url']);
    expect(summary).toMatchObject({ title, type, platform, key });
    return [title, type, platform];
  };
  expect(await read('1', 'acme/shop')).toEqual(['An issue', 'bug', 'host-a']);
  expect(await read('1', 'acme/web/shop')).toEqual(['A task', 'Task', 'host-b']);
  expect(await read('SHOP-1', 'acme/erp')).toEqual(['A story', 'Story', 'tracker-a']);
  const { summary, actor } = (await trail('integration.credentials_read')).at(-2) ?? {};
  expect(summary).toContain('reading work item SHOP-1 of acme/erp');
  expect(actor?.email).toBe(app.member.email);
});

test('an id that the provider cannot have or has not, and a pull request, are 404', async () => {
  github.issues.add('acme/shop', { isPullRequest: true });
  for (const id of ['1', '2', 'SHOP-1', '0', 'x', '..%2F1', '1%00', '%00'])
    await app.as(app.member).get(404, `/api/work-items/${id}?${query({ projectIdentifier: 'acme/shop' })}`);
  for (const id of ['1', 'SHOP-9', 'SHOP']) await app.as(app.member).get(404, item(id, 'acme/erp'));
  await app.as(app.member).get(404, item('9', 'acme/web/shop'));
  expect(jira.requests.map(({ path }) => path.split('?')[0])).toEqual(['/rest/api/3/issue/SHOP-9']);
});

test('projects that are unknown, foreign or without provider or integration are 400', async () => {
  for (const [caller, project] of [
    [app.member, 'acme/unknown'],
    [app.stranger, 'acme/shop'],
    [app.member, 'acme/none'],
  ] as const)
    for (const path of [item('1', project), list(project)]) {
      const problem = await app.as(caller).get(400, path);
      expect(problem.errors).toEqual([expect.objectContaining({ pointer: '#/query/projectIdentifier' })]);
    }
  await app.as(app.member).get(400, '/api/work-items/1');
  const theirs = { identifier: 'acme/shop', platform: 'host-a' };
  await app.as(app.stranger).post(201, '/api/projects', theirs);
  const { detail } = await app.as(app.stranger).get(400, item('1', 'acme/shop'));
  expect(detail).toBe('The project has no integration of kind host-a');
  expect(github.requests).toEqual([]);
});

test('a token limited to projects reaches the work items of these alone', async () => {
  azure.boards.add('acme/web', {});
  const body = { name: 'limited', projects: ['acme/web/shop'] };
  const limited = await app.as(app.owner).post(201, '/api/application-tokens', body);
  await app.as(limited).get(200, item('1', 'acme/web/shop'));
  await app.as(limited).patch(200, '/api/work-items/host-b/1', { projectIdentifier: 'acme/web/shop', title: 'New' });
  await app.as(limited).get(400, item('1', 'acme/shop'));
  await app.as(limited).get(400, list('acme/erp'));
  await app.as(limited).patch(400, '/api/work-items/host-a/1', { projectIdentifier: 'acme/shop', title: 'New' });
  await app.as(limited).post(400, '/api/work-items/host-a/1/close', { projectIdentifier: 'acme/shop' });
  expect(github.requests).toEqual([]);
});

test('the integration of the project comes before that of the tenant', async () => {
  const own = await gitHost('host-a');
  own.issues.add('acme/own', { title: 'on its own host' });
  await app.as(app.owner).post(201, '/api/projects', { identifier: 'acme/own', platform: 'host-a' });
  await app.as(app.member).get(404, item('1', 'acme/own'));
  await integrate('host-a', own.url, hostCredentials, 'acme/own');
  expect((await app.as(app.member).get(200, item('1', 'acme/own'))).title).toBe('on its own host');
  await own.close();
});

test('lists take status, type, assignee and a size', async () => {
  const labels = ['team-b'];
  github.issues.add('acme/shop', { title: 'one', labels, assignees: ['dana'] });
  github.issues.add('acme/shop', { title: 'two', labels: [...labels, 'Bug'], state: 'closed' });
  github.issues.add('acme/shop', { title: 'elsewhere' });
  const titles = async (members: Record<string, string>, caller = app.member) =>
    (await app.as(caller).get(200, list('acme/shop', members))).map(({ title }: { title: string }) => title);
  expect(await titles({})).toEqual(['two', 'one']);
  expect(await titles({ maxResults: '1' })).toEqual(['two']);
  expect(await titles({ status: 'OPEN' })).toEqual(['one']);
  expect(await titles({ type: 'bug', status: 'closed' })).toEqual(['two']);
  expect(await titles({ assignee: 'dana' })).toEqual(['one']);
  expect(await titles({ assignee: 'me' })).toEqual([]);
  expect(await titles({ assignee: app.member.email })).toEqual([]);
  const [user] = await app.sql<{ id: string }>('select id from user_account where email = ?', [app.member.email]);
  await app.db
    .insertInto('user_identity')
    .values({ provider: 'host-a', externalId: '7', username: 'dana', userId: user?.id ?? '' })
    .execute();
  expect(await titles({ assignee: 'me' })).toEqual(['one']);
  expect(await titles({ assignee: app.member.email }, app.owner)).toEqual(['one']);
  for (const members of [
    { maxResults: '0' },
    { maxResults: '101' },
    { status: 'a\u0000' },
    { type: 'a\nb' },
    { page: '2' },
  ])
    await app.as(app.member).get(400, list('acme/shop', members));
});

test('me is the caller, for an application whom the credential belongs to', async () => {
  const assigned = (displayName: string, uniqueName: string) => ({ 'System.AssignedTo': { displayName, uniqueName } });
  azure.boards.add('acme/web', { 'System.Title': 'mine', ...assigned('M', app.member.email) });
  azure.boards.add('acme/web', {
    'System.Title': "the bot's",
    ...assigned('quayside-bot', 'quayside-bot@example.com'),
  });
  const titles = async (caller: { token: string }) =>
    (await app.as(caller).get(200, list('acme/web/shop', { assignee: 'me' }))).map(
      ({ title }: { title: string }) => title,
    );
  expect(await titles(app.member)).toEqual(['mine']);
  expect(await titles(app.application)).toEqual(["the bot's"]);
});

test('a hostile filter finds nothing more, and reaches no other project', async () => {
  azure.boards.add('acme/web', {});
  azure.boards.add('acme/secret', {});
  jira.add('SHOP', {});
  jira.add('HR', {});
  for (const hostile of [
    `x' OR [System.TeamProject] <> 'x`,
    `x" OR project = "HR`,
    '\\" OR project = "HR',
    '") OR ("a" = "a',
  ])
    for (const name of ['status', 'assignee', 'type'])
      for (const project of ['acme/web/shop', 'acme/erp'])
        expect(await app.as(app.member).get(200, list(project, { [name]: hostile }))).toEqual([]);
});

test('everybody may change a work item, once it is said of which project', async () => {
  github.issues.add('acme/shop', { labels: ['a'] });
  const path = '/api/work-items/host-a/1';
  const change = { title: 'New', body: 'Text', state: 'closed', labels: ['b'], assignees: ['ole'] };
  const after = await app
    .as(app.application)
    .patch(200, `${path}?${query({ projectIdentifier: 'acme/shop' })}`, change);
  expect(after).toMatchObject({
    id: '1',
    title: 'New',
    description: 'Text',
    status: 'closed',
    labels: ['b'],
    assignee: { name: 'ole' },
  });
  expect(after).not.toHaveProperty('isClosed');
  await app.as(app.member).patch(200, path, { projectIdentifier: 'acme/shop', state: 'open' });
  expect(await trail('work_item.updated')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        source: 'integration',
        entity_id: 'host-a:1',
        after: { title: 'New', state: 'closed', labels: ['b'], assignees: ['ole'], bodyLength: 4, status: 'closed' },
      }),
    ]),
  );
  const before = await trail('work_item.updated');
  expect(await app.as(app.member).patch(200, path, { projectIdentifier: 'acme/shop' })).toMatchObject({ title: 'New' });
  expect(await trail('work_item.updated')).toHaveLength(before.length);
  const missing = await app.as(app.member).patch(400, path, { title: 'New' });
  expect(missing.errors[0].pointer).toBe('#/body/projectIdentifier');
  await app
    .as(app.member)
    .patch(400, `${path}?${query({ projectIdentifier: 'acme/shop' })}`, { projectIdentifier: 'acme/erp' });
  await app.as(app.member).patch(400, '/api/work-items/host-b/1', { projectIdentifier: 'acme/shop', title: 'New' });
  await app.as(app.member).patch(404, '/api/work-items/host-d/1', { projectIdentifier: 'acme/shop', title: 'New' });
  await app.as(app.member).patch(404, '/api/work-items/host-a/2', { projectIdentifier: 'acme/shop', title: 'New' });
});

test('the repository of a project is changed at its host, also where another tracker is its provider', async () => {
  github.issues.add('acme/erp', {});
  const body = { projectIdentifier: 'acme/erp', title: 'New' };
  expect((await app.as(app.member).patch(200, '/api/work-items/host-a/1', body)).title).toBe('New');
});

test('a change that races with another is 409, and one of a state that the process has not is 400', async () => {
  azure.boards.add('acme/web', {});
  const path = '/api/work-items/host-b/1';
  const projectIdentifier = 'acme/web/shop';
  azure.boards.racingChanges = 1;
  const { code } = await app.as(app.member).patch(409, path, { projectIdentifier, title: 'New' });
  expect(code).toBe('version_conflict');
  const { detail } = await app.as(app.member).patch(400, path, { projectIdentifier, state: 'Nonsense' });
  expect(detail).toContain("'Nonsense' that is not in the list of supported values");
  await app.as(app.member).patch(400, path, { projectIdentifier, assignees: ['a', 'b'] });
  await app.as(app.member).patch(400, path, { projectIdentifier, labels: ['a;b'] });
  azure.boards.process = 'scrum';
  expect(await app.as(app.member).patch(200, path, { projectIdentifier, state: 'closed' })).toMatchObject({
    status: 'Done',
  });
  azure.boards.process = 'agile';
});

test('tracker-a is not implemented for changes and closing', async () => {
  jira.add('SHOP', {});
  const path = '/api/work-items/tracker-a/SHOP-1';
  const { code } = await app.as(app.member).patch(501, path, { title: 'New' });
  expect(code).toBe('not_implemented');
  await app.as(app.member).post(501, `${path}/close`, { projectIdentifier: 'acme/erp' });
  expect(jira.requests).toEqual([]);
});

test('hostile changes are refused before anybody is asked', async () => {
  const path = '/api/work-items/host-a/1';
  const projectIdentifier = 'acme/shop';
  const patch = (status: number, change: object) =>
    app.as(app.member).patch(status, path, { projectIdentifier, ...change });
  await patch(413, { body: 'x'.repeat(1_048_576) });
  await patch(400, { body: 'x'.repeat(60_001) });
  await patch(400, { body: 'a\u0000b' });
  await patch(400, { title: 'a\u0000b' });
  await patch(400, { title: '  ' });
  await patch(400, { title: 'x'.repeat(256) });
  await patch(400, { labels: Array.from({ length: 500 }, (_, n) => `<script>${n}`) });
  await patch(400, { labels: ['a\r\nb'] });
  await patch(400, { labels: 'a' });
  await patch(400, { revision: 1 });
  const close = (status: number, body: object) =>
    app.as(app.member).post(status, `${path}/close`, { projectIdentifier, ...body });
  await close(413, { comment: 'x'.repeat(1_048_576) });
  await close(400, { comment: '' });
  await close(400, { comment: '\u0000' });
  const { errors } = await close(400, { reason: 'Resolved' });
  expect(errors[0].pointer).toBe('#/body/reason');
  expect(github.requests).toEqual([]);
});

test('closing is 204, also of what is closed, and closes completed requests', async () => {
  github.issues.add('acme/shop', {});
  azure.boards.add('acme/web', { 'System.WorkItemType': 'Bug' });
  const projectIdentifier = 'acme/shop';
  const callback = { projectIdentifier, platform: 'host-a', workItemKey: '1', taskType: 'install-packages' };
  await app.as(app.application).post(204, '/api/work-items/requests/callback', { event: 'completed', ...callback });
  const path = '/api/work-items/host-a/1/close';
  for (let times = 0; times < 2; times++)
    await app.as(app.member).post(204, path, { projectIdentifier, comment: 'Released', reason: 'completed' });
  expect(github.issues.find('acme/shop', 1)).toMatchObject({ state: 'closed', stateReason: 'completed' });
  expect(github.issues.find('acme/shop', 1)?.comments).toHaveLength(1);
  expect((await trail('work_item.closed')).filter(({ entity_id: id }) => id === 'host-a:1')).toHaveLength(1);
  const { items } = await app.as(app.member).get(200, `/api/work-items/requests?${query({ projectIdentifier })}`);
  expect(items[0].status).toBe('closed');
  await app
    .as(app.application)
    .post(204, `/api/work-items/host-b/1/close?${query({ projectIdentifier: 'acme/web/shop' })}`, {
      reason: 'resolved',
    });
  expect(azure.boards.find(1)?.fields['System.State']).toBe('Resolved');
  await app.as(app.member).post(404, '/api/work-items/host-a/9/close', { projectIdentifier });
  await app.as(app.member).post(400, path, {});
});

test('closing what is closed already closes completed requests, and Resolved leaves them completed', async () => {
  github.issues.add('acme/shop', { state: 'closed' });
  azure.boards.add('acme/web', { 'System.WorkItemType': 'Bug' });
  const complete = (projectIdentifier: string, platform: string) =>
    app.as(app.application).post(204, '/api/work-items/requests/callback', {
      event: 'completed',
      projectIdentifier,
      platform,
      workItemKey: '1',
      taskType: 'validate-metadata',
    });
  const statusOf = async (projectIdentifier: string) => {
    const path = `/api/work-items/requests?${query({ projectIdentifier, taskType: 'validate-metadata' })}`;
    return (await app.as(app.member).get(200, path)).items[0].status;
  };
  await complete('acme/shop', 'host-a');
  await complete('acme/web/shop', 'host-b');
  const closed = await trail('work_item.closed');
  await app.as(app.member).post(204, '/api/work-items/host-a/1/close', { projectIdentifier: 'acme/shop' });
  expect(await statusOf('acme/shop')).toBe('closed');
  expect(await trail('work_item.closed')).toHaveLength(closed.length);
  const close = (status: number, reason: string) =>
    app
      .as(app.member)
      .post(status, '/api/work-items/host-b/1/close', { projectIdentifier: 'acme/web/shop', reason, comment: 'Bye' });
  await close(400, 'Active');
  await close(204, 'Resolved');
  await close(204, 'Resolved');
  expect(azure.boards.find(1)?.comments).toHaveLength(1);
  expect(await statusOf('acme/web/shop')).toBe('completed');
  await close(204, 'Completed');
  expect(await statusOf('acme/web/shop')).toBe('closed');
});

test('a provider that hangs is 504, one that answers with a page or refuses its credential 502', async () => {
  github.issues.add('acme/shop', {});
  github.failNext('hang');
  const hung = await app.as(app.member).get(504, item('1', 'acme/shop'));
  expect(hung).toMatchObject({ code: 'upstream_timeout', detail: 'host-a did not answer in time' });
  github.failNext('html');
  expect((await app.as(app.member).get(502, list('acme/shop'))).code).toBe('upstream_error');
  github.failNext({ status: 401, body: { message: 'Bad credentials' } });
  const refused = await app.as(app.member).get(502, item('1', 'acme/shop'));
  expect(refused.detail).toBe('host-a answered 401: Bad credentials');
  expect(JSON.stringify([hung, refused])).not.toMatch(/host-token|127\.0\.0\.1/);
});

test('a limit of an hour is 502 with Retry-After, without asking again', async () => {
  const limited = await gitHost('host-b');
  limited.limit = { remaining: 0, resetAt: new Date(Date.now() + HOUR_MS) };
  await app.as(app.owner).post(201, '/api/projects', { identifier: 'acme/limited/shop', platform: 'host-b' });
  await integrate('host-b', limited.url, hostCredentials, 'acme/limited/shop');
  for (let times = 0; times < 3; times++) {
    const answer = await app.as(app.member).request(502, 'GET', item('1', 'acme/limited/shop'));
    expect(answer.body.code).toBe('upstream_error');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(3_500);
  }
  expect(limited.requests).toHaveLength(1);
  await limited.close();
});
