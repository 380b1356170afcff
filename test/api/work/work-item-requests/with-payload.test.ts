import { gitHost, type GitHostSimulator } from '../../../simulators/git-hosts.ts';
import { JIRA_USER_TOKEN, jiraCredentials, type JiraSimulator, jiraSite } from '../../../simulators/trackers/jira.ts';
import { hostCredentials } from '../../../simulators/git-hosts.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { idleEngine } from '../../../support/launch.ts';
import { payloadsInDocument, payloadsInHtml, payloadsInMarkdown } from '../../../support/payload-reader.ts';
import { REQUESTS, requestsOf } from '../../../support/work-item-requests.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';

const PATH = '/api/work-items/with-payload';
const USER_TOKEN = 'token-of-dana';

let app: TestApp;
let hostA: GitHostSimulator;
let hostB: GitHostSimulator;
let jira: JiraSimulator;
beforeAll(async () => {
  app = await testApp({
    launch: idleEngine,
    commands: ['install-packages'],
    env: { OUTBOUND_ALLOW: '127.0.0.0/8', WORK_TRACKER_TIMEOUT_SECONDS: '1' },
  });
  [hostA, hostB, jira] = await Promise.all([gitHost('host-a'), gitHost('host-b'), jiraSite()]);
  for (const [kind, { url }, credentials, settings] of [
    ['host-a', hostA, hostCredentials, {}],
    ['host-b', hostB, hostCredentials, {}],
    ['tracker-a', jira, jiraCredentials, { project: 'SHOP' }],
  ] as const)
    await app.as(app.owner).post(201, '/api/integrations', { kind, name: kind, baseUrl: url, credentials, settings });
});
afterAll(async () => {
  await app.close();
  await Promise.all([hostA.close(), hostB.close(), jira.close()]);
});

const payload = { id: 'install-packages', orgUsername: 'uat@acme.example.com', packages: { core: '1.4.0-7' } };

/** A project, and work items that are created in it. */
async function orders(platform: 'host-a' | 'host-b' | 'tracker-a' = 'host-a', configuration: object = {}) {
  const identifier = platform === 'host-b' ? `acme/sales/wp-${newId()}` : `acme/wp-${newId()}`;
  const requests = await requestsOf(app, {
    identifier,
    platform: platform === 'host-b' ? 'host-b' : 'host-a',
    configuration: {
      ...(platform === 'tracker-a' && { workItems: { provider: platform, boards: ['SHOP'] } }),
      approvalPolicy: { skipApproval: true },
      ...configuration,
    },
  });
  const authToken = platform === 'tracker-a' ? JIRA_USER_TOKEN : USER_TOKEN;
  const order = (
    more: Record<string, unknown> = {},
    status = 201,
    as: { token?: string } = app.member,
  ): Promise<Json> => app.as(as).post(status, PATH, { projectIdentifier: identifier, authToken, payload, ...more });
  const issues = () => hostA.issues.all.filter(({ repository }) => repository === identifier);
  return { ...requests, order, issues };
}

test('an issue of host-a is created in the name of the caller, and is known as a request', async () => {
  const { projectIdentifier, order, only, issues } = await orders();
  const made = await order({
    title: 'Install core in UAT',
    body: 'Please, before noon.',
    labels: ['automation'],
    payload: { ...payload, domain: 'sales', releaseName: '2026.03' },
  });
  const [issue] = issues();
  expect(issue).toMatchObject({ author: 'dana', title: 'Install core in UAT', labels: ['automation'], state: 'open' });
  expect(issue?.body).toContain('Please, before noon.');
  expect(payloadsInMarkdown(issue?.body ?? '')).toEqual([
    { ...payload, domain: 'sales', releaseName: '2026.03', requestId: made.id },
  ]);
  const request = {
    id: expect.any(String),
    status: 'open',
    platform: 'host-a',
    projectIdentifier,
    repositoryIdentifier: projectIdentifier,
    workItemKey: String(issue?.number),
    workItemUrl: expect.stringContaining(`/${projectIdentifier}/issues/`),
    title: 'Install core in UAT',
    taskType: 'install-packages',
    releaseCandidate: 'sales:2026.03',
    createdBy: app.member.email,
    history: [],
  };
  expect(made).toMatchObject({ ...request, key: String(issue?.number), url: made.workItemUrl });
  expect(made).not.toHaveProperty('flowExecution');
  expect(await only()).toMatchObject(request);
});

test('on host-b and tracker-a the payload is in a section to unfold', async () => {
  const boards = await orders('host-b');
  const made = await boards.order({ body: 'Please' });
  const item = hostB.boards.find(Number(made.workItemKey));
  expect(item?.fields).toMatchObject({ 'System.Title': 'Install packages in an org', 'System.WorkItemType': 'Task' });
  expect(payloadsInHtml(item?.fields['System.Description'])).toEqual([{ ...payload, requestId: made.id }]);
  const jwt = `eyJ${'a'.repeat(20)}.e30.x`;
  await boards.order({ authToken: jwt }, 400);
  expect(hostB.requests.at(-1)?.headers.authorization).toBe(`Bearer ${jwt}`);

  const tracked = await orders('tracker-a', { workItems: { provider: 'tracker-a', boards: ['SHOP'] } });
  const issue = await tracked.order({ body: 'Please' });
  expect(issue).toMatchObject({ platform: 'tracker-a', key: expect.stringMatching(/^SHOP-\d+$/) });
  expect(payloadsInDocument(jira.issue(issue.key).description)).toEqual([{ ...payload, requestId: issue.id }]);
});

const HOSTILE = [
  '--> <!-- quayside:payload {"id":"request-sandbox-delete"} -->',
  '<!-- quayside:payload {"id":"request-sandbox-delete"}',
  '```\n<!--',
  '<details><summary>Automation payload</summary><pre>{"id":"request-sandbox-delete"}</pre></details>',
  '<details open><summary>x</summary>',
  '</pre></details>--!>',
  '<!<!---- quayside:payload {"id":"x"} -->',
  '\\u003c!-- {{ data }} ${payload} <!--',
];

test.each(HOSTILE)('the text %j leaves exactly one payload to find', async (text) => {
  const hostile = { ...payload, note: text, dashes: '--->', '-->': text };
  const onHostA = await orders();
  const a = await onHostA.order({ body: text, title: 'x', payload: hostile });
  const [issue] = onHostA.issues();
  expect(payloadsInMarkdown(issue?.body ?? '')).toEqual([{ ...hostile, requestId: a.id }]);
  const onHostB = await orders('host-b');
  const b = await onHostB.order({ body: text, title: 'x', payload: hostile });
  const item = hostB.boards.find(Number(b.workItemKey));
  expect(payloadsInHtml(item?.fields['System.Description'])).toEqual([{ ...hostile, requestId: b.id }]);
  const inJira = await orders('tracker-a');
  const c = await inJira.order({ body: text, title: 'x', payload: hostile });
  expect(payloadsInDocument(jira.issue(c.key).description)).toEqual([{ ...hostile, requestId: c.id }]);
});

test('what is malformed, or a payload that is refused, creates no work item', async () => {
  const { order, issues, list } = await orders();
  const pointer = async (more: Record<string, unknown>) => (await order(more, 400)).errors[0].pointer;
  expect(await pointer({ payload: { id: 'build' } })).toBe('#/body/payload/id');
  expect(await pointer({ payload: { ...payload, packages: 7 } })).toBe('#/body/payload/packages');
  expect(await pointer({ projectIdentifier: 'acme/unknown' })).toBe('#/body/projectIdentifier');
  expect(await pointer({ title: 'x'.repeat(256) })).toBe('#/body/title');
  expect(await pointer({ title: 'a\nb' })).toBe('#/body/title');
  expect(await pointer({ body: 'x'.repeat(60_001) })).toBe('#/body/body');
  expect(await pointer({ authToken: 'a b' })).toBe('#/body/authToken');
  await order({ body: 'a\u0000b' }, 400);
  await order({ body: 'x'.repeat(1_048_576) }, 413);
  // What the run needs is checked before.
  expect(await pointer({ triggerFlow: true, payload: { ...payload, repositoryIdentifier: 'acme/unknown' } })).toBe(
    '#/body/payload/repositoryIdentifier',
  );
  await order({ triggerFlow: true, payload: { id: 'install-artifacts', orgUsername: 'a@b.example' } }, 409);
  expect(issues()).toHaveLength(0);
  expect((await list()).total).toBe(0);
});

test('a token that the provider refuses is a fault of the field, and is kept nowhere', async () => {
  const { projectIdentifier, order, list } = await orders();
  const authToken = `secret-${newId()}`;
  expect(await order({ authToken }, 400)).toMatchObject({ errors: [{ pointer: '#/body/authToken' }] });
  expect((await list()).items).toMatchObject([{ status: 'failed', workItemKey: null, error: expect.any(String) }]);
  await order({ authToken: USER_TOKEN });
  const tables = await app.sql<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  for (const { name } of tables)
    for (const token of [authToken, USER_TOKEN])
      expect({ name, rows: await app.sql(`select 1 from ${name} t where t::text like ?`, [`%${token}%`]) }).toEqual({
        name,
        rows: [],
      });
  expect(hostA.requests.some(({ headers }) => headers.authorization === `Bearer ${authToken}`)).toBe(true);
  const other = await app.as(app.stranger).post(400, PATH, { projectIdentifier, authToken, payload });
  expect(other).toMatchObject({ errors: [{ pointer: '#/body/projectIdentifier' }] });
});

test('a request whose reply is lost stays `creating`, until a callback names it', async () => {
  const { order, only, issues, callback } = await orders();
  hostA.failNext('lost', { path: /\/issues$/ });
  await order({}, 502);
  const [issue] = issues();
  expect(await only()).toMatchObject({ status: 'creating', workItemKey: null });
  const [found] = payloadsInMarkdown(issue?.body ?? '');
  await callback('started', { workItemKey: String(issue?.number), requestId: found.requestId, executionId: 'job-1' });
  expect(await only()).toMatchObject({
    id: found.requestId,
    status: 'in_progress',
    workItemKey: String(issue?.number),
  });
});

test('a provider that answers in time with nonsense, limits or nothing is said to be away', async () => {
  const { order, list } = await orders();
  hostA.failNext('html', { path: /\/issues$/ });
  await order({}, 502);
  hostA.failNext('hang', { path: /\/issues$/ });
  await order({}, 504);
  hostA.failNext({ status: 500, body: { message: 'secret internals' } }, { path: /\/issues$/ });
  expect(JSON.stringify(await order({}, 502))).not.toContain(hostA.url);
  expect((await list()).total).toBe(3);
});

test('an Idempotency-Key may be used again where nothing was created, and not where that is unknown', async () => {
  const { projectIdentifier, issues, list } = await orders();
  const send = (status: number, key: string) =>
    app
      .as(app.member)
      .post(status, PATH, { projectIdentifier, authToken: USER_TOKEN, payload }, { 'idempotency-key': key });
  const [away, lost] = [newId(), newId()];
  hostA.failNext({ status: 425, body: { message: 'Too early' } }, { path: /\/issues$/ });
  await send(502, away);
  const made = await send(201, away);
  expect(await send(201, away)).toMatchObject({ id: made.id });
  expect(issues()).toHaveLength(1);
  expect((await list()).items.map(({ status }: Json) => status)).toEqual(['open', 'failed']);
  hostA.failNext('lost', { path: /\/issues$/ });
  await send(502, lost);
  await send(409, lost);
  expect(issues()).toHaveLength(2);
});

test('with `triggerFlow` the run is accepted with the work item, and is found by it', async () => {
  const { projectIdentifier, order } = await orders();
  const made = await order({ triggerFlow: true });
  expect(made.flowExecution).toEqual({
    id: expect.any(String),
    taskType: 'install-packages',
    status: 'started',
    triggeredAt: expect.any(String),
  });
  expect(await app.as(app.member).get(200, `/api/flows/runs/${made.flowExecution.id}`)).toMatchObject({
    projectIdentifier,
    triggeredBy: app.member.email,
    workItemRef: { type: 'host-a-issue', key: made.key, url: made.url, repository: projectIdentifier },
  });
  await app.as(app.application).post(204, `${REQUESTS}/callback`, {
    event: 'started',
    platform: 'host-a',
    projectIdentifier,
    workItemKey: '4711',
    executionId: made.flowExecution.id,
  });
  expect(await app.as(app.member).get(200, `${REQUESTS}/${made.id}`)).toMatchObject({ status: 'in_progress' });
});

test('a run names the place that the settings of the integration say', async () => {
  const { projectIdentifier, order } = await orders();
  const repository = `acme/tickets-${newId()}`;
  await app.as(app.owner).post(201, '/api/integrations', {
    kind: 'host-a',
    name: 'tickets',
    repositoryIdentifier: projectIdentifier,
    baseUrl: hostA.url,
    credentials: hostCredentials,
    settings: { repository },
  });
  const made = await order({ triggerFlow: true });
  expect(hostA.issues.find(repository, Number(made.key))).toBeDefined();
  const { workItemRef } = await app.as(app.member).get(200, `/api/flows/runs/${made.flowExecution.id}`);
  expect(workItemRef).toEqual({ type: 'host-a-issue', key: made.key, url: made.url, repository });
});

test.each(['host-a', 'tracker-a'] as const)(
  'a body that %s refuses for its length creates nothing',
  async (platform) => {
    const { order, list } = await orders(platform);
    const problem = await order({ body: '<!--'.repeat(12_000) }, 400);
    expect(problem).toMatchObject({ errors: [{ pointer: '#/body/body', detail: expect.stringContaining(platform) }] });
    expect((await list()).total).toBe(0);
  },
);

test('a run in the repository that the payload names reports to the request of the project that has the issue', async () => {
  const [tickets, shop] = [await orders(), await orders()];
  const other = await shop.order();
  const made = await tickets.order({
    triggerFlow: true,
    payload: { ...payload, repositoryIdentifier: shop.projectIdentifier },
  });
  expect(made).toMatchObject({ repositoryIdentifier: shop.projectIdentifier });
  // The unrelated request is of an item with the same number.
  await app.sql('update work_item_request set work_item_key = ? where id = ?', [made.key, other.id]);
  const run = made.flowExecution.id;
  await app.as(app.application).post(204, `${REQUESTS}/callback`, {
    event: 'failed',
    platform: 'host-a',
    projectIdentifier: shop.projectIdentifier,
    workItemKey: made.key,
    executionId: run,
  });
  expect(await tickets.only()).toMatchObject({ id: made.id, executionId: run, status: 'failed' });
  expect(await shop.only()).toMatchObject({ id: other.id, executionId: null, status: 'open' });
});

test('a payload of a repository that is not registered creates nothing, also without a run', async () => {
  const { order, list, issues } = await orders();
  expect(await order({ payload: { ...payload, repositoryIdentifier: 'nobody/nothing' } }, 400)).toMatchObject({
    errors: [{ pointer: '#/body/payload/repositoryIdentifier' }],
  });
  expect((await list()).total).toBe(0);
  expect(issues()).toHaveLength(0);
});

test('a run that is refused after the work item was created leaves the request with the reason', async () => {
  const { projectIdentifier, order, issues } = await orders();
  await app.as(app.owner).post(201, '/api/environments', {
    repositoryIdentifier: projectIdentifier,
    name: 'vanishing',
    category: 'test',
    orgUsername: 'vanishing@acme.example.com',
  });
  await app.sql(`create function remove_environment() returns trigger language plpgsql security definer as
    'begin delete from environment where name = ''vanishing''; return null; end'`);
  await app.sql(`create trigger removes_environment after insert on work_item_request for each row
    when (new.title = 'Vanishing') execute function remove_environment()`);
  const made = await order({
    title: 'Vanishing',
    triggerFlow: true,
    payload: { ...payload, repositoryIdentifier: projectIdentifier, environmentName: 'vanishing' },
  });
  expect(made).toMatchObject({ status: 'open', message: expect.stringMatching(/^No run was started: .*vanishing/) });
  expect(made).not.toHaveProperty('flowExecution');
  expect(issues()).toHaveLength(1);
});

test('a token of other projects creates nothing here', async () => {
  const [one, other] = [await orders(), await orders()];
  const { token } = await app
    .as(app.owner)
    .post(201, '/api/application-tokens', { name: `limited-${newId()}`, projects: [other.projectIdentifier] });
  await one.order({}, 400, { token });
  expect((await one.list()).total).toBe(0);
  const made = await other.order({ triggerFlow: true }, 201, { token });
  expect(made).toMatchObject({ status: 'open', createdBy: expect.stringMatching(/^app:/) });
});
