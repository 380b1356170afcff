import type { ExchangeWithHost } from '../../../../activities/adapters/git-hosts/host-http.ts';
import { type CallTracker, createTrackerLimits } from '../../../../activities/adapters/trackers/tracker-http.ts';
import { trackerAt } from '../../../../activities/adapters/trackers/work-trackers.ts';
import { trackerA } from '../../../../activities/adapters/trackers/work-tracker-a.ts';
import type { HostCredentials } from '../../../../domain/projects/integrations/integration-rules.ts';
import type { TrackerTarget } from '../../../../domain/work/work-items/work-tracker.port.ts';
import { JIRA_USER_TOKEN, jiraCredentials, type JiraSimulator, jiraSite } from '../../../simulators/trackers/jira.ts';
import type { Json } from '../../../support/client.ts';
import { failureOf, type TestTrackers, testTrackers, valueOf } from '../../../support/work-trackers.ts';

const credentials = jiraCredentials as HostCredentials;
const person: HostCredentials = { type: 'token', token: JIRA_USER_TOKEN };
const dana = { accountId: '5b10', displayName: 'Dana Döring', emailAddress: 'dana@example.com' };
const ole = { accountId: '5b11', displayName: 'Ole "Olli" O\'Hara' };
let site: JiraSimulator;
let trackers: TestTrackers;

beforeEach(async () => {
  site = await jiraSite();
  trackers = testTrackers();
});
afterEach(async () => {
  await Promise.all([site.close(), trackers.close()]);
});

const tracker = (place: Partial<TrackerTarget> = {}, given = credentials) =>
  trackers.of('tracker-a', { baseUrl: site.url, credentials: given }, place);
const doc = (text: string) => ({
  type: 'doc',
  version: 1,
  content: [{ type: 'paragraph', content: [{ type: 'text', text }] }],
});

test('an issue in plain text, with its people and parent', async () => {
  site.add('SHOP', { summary: 'The epic', type: 'Epic' });
  site.add('SHOP', {
    summary: 'Prices',
    description: doc('They are wrong'),
    type: 'Bug',
    status: 'In Progress',
    priority: null,
    assignee: ole,
    labels: ['ui'],
    parent: 'SHOP-1',
    fields: {
      customfield_10010: doc('Steps'),
      customfield_10011: { self: 'https://a.example', value: 'Web', id: '1' },
      customfield_10012: [{ name: '2026.11' }],
      customfield_10013: null,
    },
  });
  expect(valueOf(await tracker().fetch('shop-2'))).toEqual({
    id: '10002',
    key: 'SHOP-2',
    title: 'Prices',
    description: 'They are wrong',
    type: 'Bug',
    status: 'In Progress',
    priority: null,
    assignee: { id: '5b11', name: 'Ole "Olli" O\'Hara', email: null, avatarUrl: 'https://avatars.example/5b11' },
    reporter: { id: '5b10', name: 'Dana Döring', email: 'dana@example.com' },
    labels: ['ui'],
    createdAt: '2026-11-01T00:01:00.000Z',
    updatedAt: '2026-11-01T00:01:00.000Z',
    platform: 'tracker-a',
    url: `${site.url}/browse/SHOP-2`,
    parent: { id: '10001', key: 'SHOP-1', title: 'The epic' },
    customFields: {
      creator: 'Dana Döring',
      project: { key: 'SHOP' },
      customfield_10010: 'Steps',
      customfield_10011: 'Web',
      customfield_10012: ['2026.11'],
    },
    isClosed: false,
  });
  for (const id of ['SHOP-3', '10001', 'SHOP-1/comment', 'SHOP-'])
    expect(failureOf(await tracker().fetch(id)).kind).toBe('not_found');
  const pagesUrl = 'https://jira.example/{key}?from=quayside';
  expect(valueOf(await tracker({ pagesUrl }).fetch('SHOP-1')).url).toBe('https://jira.example/SHOP-1?from=quayside');
});

test('at the address of OAuth tokens, the site says where its pages are', async () => {
  const issue = { id: '1', key: 'SHOP-1', fields: { status: { name: 'Done' } } };
  const urls: string[] = [];
  const call: CallTracker = async ({ url }, schema) => {
    urls.push(url);
    const value = schema.parse(url.endsWith('/serverInfo') ? { baseUrl: 'https://acme.atlassian.net/' } : issue);
    return { isOk: true, value };
  };
  const baseUrl = 'https://api.atlassian.com/ex/jira/1f2e';
  const { fetch } = trackerA(call, { baseUrl, boards: [], issueType: 'Task', pagesUrl: null });
  expect(valueOf(await fetch('SHOP-1')).url).toBe('https://acme.atlassian.net/browse/SHOP-1');
  expect(urls.every((url) => url.startsWith(`${baseUrl}/rest/api/3/`))).toBe(true);
});

test('lists narrow by boards, status or category, type and person', async () => {
  const at = (minute: number) => new Date(Date.now() - 86_400_000 + minute * 60_000);
  site.add('SHOP', { summary: 'one', type: 'Story', status: 'In Progress', updatedAt: at(1), assignee: ole });
  site.add('SHOP', { summary: 'two', type: 'Bug', status: 'Done', updatedAt: at(4) });
  site.add('OPS', { summary: 'three', status: "Won't Do", updatedAt: at(3) });
  site.add('HR', { summary: 'four', updatedAt: at(9), assignee: dana });
  site.add('HR', { summary: 'of long ago', updatedAt: new Date('2020-01-01') });
  site.boards.set(7, ['HR', 'OPS']);
  const titles = async (filter: object, boards: string[] = ['SHOP', 'OPS'], given = credentials) =>
    valueOf(await tracker({ boards }, given).list({ maxResults: 10, ...filter })).map(({ title }) => title);
  expect(await titles({})).toEqual(['two', 'three', 'one']);
  expect(await titles({}, [])).toEqual(['four', 'two', 'three', 'one']);
  expect(await titles({}, ['7'])).toEqual(['four', 'three', 'of long ago']);
  expect(await titles({ maxResults: 2 }, ['7', 'SHOP'])).toEqual(['four', 'two']);
  expect(await titles({}, ['7', 'OPS'])).toEqual(['four', 'three', 'of long ago']);
  expect(await titles({ status: 'closed' })).toEqual(['two', 'three']);
  expect(await titles({ status: 'OPEN' })).toEqual(['one']);
  expect(await titles({ status: 'in progress' })).toEqual(['one']);
  expect(await titles({ status: "Won't Do" })).toEqual(['three']);
  expect(await titles({ type: 'bug' })).toEqual(['two']);
  expect(await titles({ assignee: 'Ole "Olli" O\'Hara' })).toEqual(['one']);
  expect(await titles({ assignee: 'dana@example.com' }, ['7'])).toEqual(['four']);
  expect(await titles({ assignee: 'me' }, ['7'], person)).toEqual(['four']);
  for (const hostile of ['x" OR project = "HR', String.raw`\" OR project = \"HR`, '\u0000', 'a\nb', '\\', ')'])
    for (const filter of [{ status: hostile }, { assignee: hostile }, { type: hostile }])
      expect(await titles(filter)).toEqual([]);
  expect(failureOf(await tracker({ boards: ['" OR project = "HR'] }).list({ maxResults: 1 }))).toMatchObject({
    kind: 'refused',
    message: expect.stringContaining("does not exist for the field 'project'"),
  });
  expect(failureOf(await tracker({ boards: ['8'] }).list({ maxResults: 1 })).kind).toBe('not_found');
});

test('an issue is created as the person, with the payload as code to unfold', async () => {
  const payload = { id: 'install-packages', note: '--> <b> {code}' };
  const made = valueOf(
    await tracker({ boards: ['7', 'SHOP'] }, person).create({
      title: 'Please\n install',
      body: 'Now\n\nplease',
      labels: ['a b', 'ops'],
      payload,
    }),
  );
  expect(made).toMatchObject({ key: 'SHOP-1', url: `${site.url}/browse/SHOP-1` });
  const issue = site.issue('SHOP-1');
  expect(issue).toMatchObject({ summary: 'Please install', labels: ['a-b', 'ops'], type: 'Task', reporter: dana });
  const [block] = issue.description.content.at(-1).content;
  expect(block.type).toBe('codeBlock');
  expect(JSON.parse(block.content[0].text)).toEqual(payload);
  expect(site.requests.at(-1)?.headers.authorization).toBe(`Bearer ${JIRA_USER_TOKEN}`);
});

test('the project of an agile board is where issues are created, if no project is named', async () => {
  site.boards.set(7, ['OPS', 'SHOP']);
  const item = { title: 'x', body: '', labels: [] };
  expect(valueOf(await tracker({ boards: ['7'] }).create(item)).key).toBe('OPS-1');
  expect(failureOf(await tracker().create(item))).toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('workItems.boards'),
  });
  expect(failureOf(await tracker({ boards: ['SHOP'], issueType: 'Request' }).create(item))).toMatchObject({
    kind: 'refused',
    message: 'tracker-a answered 400: Specify a valid issue type',
  });
  const long = { ...item, body: 'x'.repeat(40_000) };
  expect(failureOf(await tracker({ boards: ['SHOP'] }).create(long)).message).toContain('32,767');
  const wrong: HostCredentials = { type: 'token', token: 'wrong' };
  expect(failureOf(await tracker({ boards: ['SHOP'] }, wrong).create(item)).kind).toBe('auth_failed');
});

test('closing takes a transition to what is done; changes are not implemented', async () => {
  const issue = site.add('SHOP', {});
  expect(valueOf(await tracker().close('SHOP-1', { comment: 'Bye' }))).toMatchObject({
    isChanged: true,
    isClosed: true,
  });
  expect([issue.status, issue.comments.length]).toEqual(['Done', 1]);
  expect(valueOf(await tracker().close('SHOP-1', { comment: 'Bye' }))).toMatchObject({
    isChanged: false,
    isClosed: true,
  });
  expect(issue.comments).toHaveLength(1);
  expect(failureOf(await tracker().update('SHOP-1', { title: 'x' })).kind).toBe('refused');
});

test('a report is one comment and one label, however often it is written', async () => {
  const issue = site.add('SHOP', { labels: ['ops', 'quayside:failed'] });
  const forged = [{ key: 'quayside.report', value: { marker: 'quayside-request:r1' } }];
  issue.comments.push({ id: '900', body: doc('chatter'), properties: forged, author: { accountId: '5b10' } });
  const report = {
    marker: 'quayside-request:r1',
    lines: ['Running', ''],
    links: [{ text: 'Run', url: 'https://q.example/r' }],
  };
  const { commentId } = valueOf(await tracker().report('SHOP-1', { ...report, state: 'running' }));
  expect(issue.labels).toEqual(['ops', 'quayside:running']);
  expect(valueOf(await tracker().report('SHOP-1', { ...report, state: 'done' }))).toEqual({ commentId });
  expect(valueOf(await tracker().report('SHOP-1', { ...report, lines: ['Done'], state: 'done', commentId }))).toEqual({
    commentId,
  });
  expect(issue.labels).toEqual(['ops', 'quayside:done']);
  expect(issue.comments).toHaveLength(2);
  expect(JSON.stringify(issue.comments[1]?.body)).not.toContain('quayside-request');
  expect(issue.comments[1]?.body.content).toMatchObject([
    { content: [{ text: 'Done' }] },
    { content: [{ text: 'Run', marks: [{ type: 'link', attrs: { href: 'https://q.example/r' } }] }] },
  ]);
});

/** Answers as a test says, and notes what it was asked. */
function answering(answer: (url: string, body: Json) => unknown) {
  const asked: { url: string; body: Json }[] = [];
  const call: CallTracker = async ({ url, body }, schema) => {
    asked.push({ url, body });
    return { isOk: true, value: schema.parse(answer(url, body)) };
  };
  return { asked, call };
}
const jira = { baseUrl: 'https://acme.example', boards: ['SHOP'], issueType: 'Task', pagesUrl: null };

test('a search goes on where Jira gives fewer at once than it is asked for', async () => {
  const issue = (number: number) => ({ id: `${number}`, key: `SHOP-${number}`, fields: { status: { name: 'Done' } } });
  const { asked, call } = answering((_, { nextPageToken = '0' }) => {
    const start = Number(nextPageToken);
    return { issues: [issue(start + 1), issue(start + 2)], nextPageToken: `${start + 2}` };
  });
  expect(valueOf(await trackerA(call, jira).list({ maxResults: 5 }))).toHaveLength(5);
  expect(asked.map(({ body }) => [body.maxResults, body.nextPageToken])).toEqual([
    [5, undefined],
    [3, '2'],
    [1, '4'],
  ]);
});

test('new issues have no empty fields, which the screen of a project may lack', async () => {
  const { asked, call } = answering(() => ({ id: '1', key: 'SHOP-1' }));
  valueOf(await trackerA(call, jira).create({ title: 'x', body: '', labels: [] }));
  expect(Object.keys(asked[0]?.body.fields)).toEqual(['project', 'issuetype', 'summary']);
});

test('the comment of a report is found where comments of an issue come without properties', async () => {
  const properties = [{ key: 'quayside.report', value: { marker: 'r1' } }];
  const { asked, call } = answering((url) =>
    url.includes('/comment/list')
      ? {
          values: [
            { id: '7', author: { accountId: 'other' }, properties },
            { id: '8', author: { accountId: 'me' }, properties },
          ],
        }
      : { id: '8', accountId: 'me', comments: [{ id: '7' }, { id: '8' }] },
  );
  const report = { marker: 'r1', lines: ['x'], links: [], state: 'done' } as const;
  expect(valueOf(await trackerA(call, jira).report('SHOP-1', report))).toEqual({ commentId: '8' });
  expect(asked[1]).toMatchObject({
    url: 'https://acme.example/rest/api/3/comment/list?expand=properties',
    body: { ids: [7, 8] },
  });
});

test("a bearer is used at the address of OAuth, where the site's id is known; messages are asked for in English", async () => {
  const asked: { url: string; headers: object | undefined }[] = [];
  const exchange: ExchangeWithHost = async (_, { url, headers }) => {
    asked.push({ url, headers });
    return {
      isOk: true,
      value: { status: 200, headers: {}, json: { id: '1', key: 'SHOP-1', fields: { status: { name: 'Done' } } } },
    };
  };
  const place = { platform: 'tracker-a', projectId: 'p', repositoryIdentifier: 'acme/shop', ...jira } as const;
  const limits = createTrackerLimits(() => new Date());
  const fetchWith = (given: HostCredentials, settings = {}) =>
    trackerAt(exchange, limits, place, { baseUrl: jira.baseUrl, settings, credentials: given }).fetch('SHOP-1');
  const settings = { cloudId: '1f2e' };
  expect(valueOf(await fetchWith(person, settings)).url).toBe('https://acme.example/browse/SHOP-1');
  await fetchWith(credentials, settings);
  await fetchWith(person);
  expect(asked.map(({ url }) => url.split('/rest/')[0])).toEqual([
    'https://api.atlassian.com/ex/jira/1f2e',
    jira.baseUrl,
    jira.baseUrl,
  ]);
  for (const { headers } of asked)
    expect(headers).toMatchObject({ 'accept-language': 'en', 'x-force-accept-language': 'true' });
});
