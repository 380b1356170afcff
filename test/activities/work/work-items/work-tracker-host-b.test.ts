import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';
import type { HostCredentials } from '../../../../domain/projects/integrations/integration-rules.ts';
import type { TrackerTarget } from '../../../../domain/work/work-items/work-tracker.port.ts';
import type { ProcessName } from '../../../simulators/trackers/azure-processes.ts';
import { failureOf, type TestTrackers, testTrackers, valueOf } from '../../../support/work-trackers.ts';

const credentials = hostCredentials as HostCredentials;
const place = 'acme/shop';
let host: GitHostSimulator;
let trackers: TestTrackers;

beforeEach(async () => {
  host = await gitHost('host-b');
  trackers = testTrackers();
});
afterEach(async () => {
  await Promise.all([host.close(), trackers.close()]);
});

const tracker = (
  given: Partial<TrackerTarget> = {},
  at: { credentials?: HostCredentials; settings?: Record<string, string> } = {},
) =>
  trackers.of('host-b', { baseUrl: host.url, credentials, ...at }, { repositoryIdentifier: 'acme/shop/web', ...given });
const fieldOf = (id: number, name: string) => host.boards.find(id)?.fields[name];

test('a work item with its state, people and parent', async () => {
  host.boards.add(place, { 'System.WorkItemType': 'Epic', 'System.Title': 'The epic' });
  host.boards.add(
    place,
    {
      'System.WorkItemType': 'Bug',
      'System.Title': 'Prices',
      'System.State': 'Resolved',
      'System.Tags': 'ui; urgent',
      'System.AssignedTo': {
        displayName: 'Dana Döring',
        uniqueName: 'dana@example.com',
        id: 'd1',
        imageUrl: 'https://a.example/d',
      },
      'Microsoft.VSTS.Common.Priority': 2,
      'Microsoft.VSTS.TCM.ReproSteps': '<div>Open &amp; look</div>',
      'Custom.Team': 'core',
      'System.ChangedBy': { displayName: 'Ole', uniqueName: 'ole@example.com' },
    },
    { parent: 1 },
  );
  expect(valueOf(await tracker().fetch('2'))).toEqual({
    id: '2',
    key: '2',
    title: 'Prices',
    description: 'Open & look',
    type: 'Bug',
    status: 'Resolved',
    priority: '2',
    assignee: { id: 'd1', name: 'Dana Döring', email: 'dana@example.com', avatarUrl: 'https://a.example/d' },
    reporter: { id: 'id-of-dana@example.com', name: 'Dana Döring', email: 'dana@example.com' },
    labels: ['ui', 'urgent'],
    createdAt: '2026-01-01T00:01:00.000Z',
    updatedAt: '2026-01-01T00:01:00.000Z',
    platform: 'host-b',
    url: 'https://dev.azure.com/acme/shop/_workitems/edit/2',
    parent: { id: '1', key: '1', title: 'The epic' },
    customFields: {
      'System.TeamProject': 'shop',
      'System.AreaPath': 'shop',
      'Custom.Team': 'core',
      'System.ChangedBy': 'Ole',
    },
    isClosed: false,
  });
  for (const id of ['3', 'x', '1/comments']) expect(failureOf(await tracker().fetch(id)).kind).toBe('not_found');
});

test('a work item of a type that is gone is shown', async () => {
  host.boards.add(place, { 'System.WorkItemType': 'Request', 'System.State': 'Asked' });
  expect(valueOf(await tracker().fetch('1'))).toMatchObject({ type: 'Request', status: 'Asked', isClosed: false });
});

test('lists narrow by area, state or category, type and person', async () => {
  const add = (title: string, fields: object) => host.boards.add(place, { 'System.Title': title, ...fields });
  add('one', { 'System.AreaPath': 'shop\\web', 'System.WorkItemType': 'User Story', 'System.State': 'Active' });
  add('two', { 'System.AreaPath': 'shop\\web\\prices', 'System.WorkItemType': 'Bug', 'System.State': 'Resolved' });
  add('three', { 'System.AreaPath': 'shop\\website', 'System.WorkItemType': 'Bug', 'System.State': 'Closed' });
  add("four's", {
    'System.AreaPath': "shop\\team's",
    'System.WorkItemType': 'Task',
    'System.State': 'Removed',
    'System.AssignedTo': { displayName: "Ole O'Hara", uniqueName: 'ole@example.com' },
  });
  host.boards.add('acme/other', { 'System.Title': 'of another project' });
  const titles = async (filter: object, boards: string[] = []) =>
    valueOf(await tracker({ boards }).list({ maxResults: 10, ...filter })).map(({ title }) => title);
  expect(await titles({})).toEqual(["four's", 'three', 'two', 'one']);
  expect(await titles({ maxResults: 2 })).toEqual(["four's", 'three']);
  expect(await titles({}, ['shop\\web'])).toEqual(['two', 'one']);
  expect(await titles({}, ["shop\\team's", 'shop\\website'])).toEqual(["four's", 'three']);
  expect(await titles({ status: 'open' })).toEqual(['two', 'one']);
  expect(await titles({ status: 'closed' })).toEqual(["four's", 'three']);
  expect(await titles({ status: 'closed', type: 'bug' })).toEqual(['three']);
  expect(await titles({ status: 'open', type: 'nothing' })).toEqual([]);
  expect(await titles({ status: 'resolved' })).toEqual(['two']);
  expect(await titles({ type: 'USER STORY' })).toEqual(['one']);
  expect(await titles({ assignee: "Ole O'Hara" })).toEqual(["four's"]);
  expect(await titles({ assignee: 'ole@example.com' })).toEqual(["four's"]);
  expect(await titles({ assignee: 'me' })).toEqual([]);
  for (const hostile of ["x' OR [System.TeamProject] <> 'x", "') OR ('a' = 'a", '\u0000', '@project'])
    for (const filter of [{ status: hostile }, { assignee: hostile }, { type: hostile }])
      expect(await titles(filter, [hostile])).toEqual([]);
});

test('a work item is created without a state, with its payload in a section to unfold', async () => {
  const payload = { id: 'install-packages', note: "</pre></details> & '" };
  const body = 'Please <details>\nnow';
  const made = valueOf(await tracker().create({ title: 'Install', body, labels: ['ops', 'a b'], payload }));
  expect(made).toMatchObject({ id: '1', key: '1', url: 'https://dev.azure.com/acme/shop/_workitems/edit/1' });
  expect(host.boards.find(1)?.fields).toMatchObject({
    'System.WorkItemType': 'Task',
    'System.State': 'New',
    'System.Tags': 'ops; a b',
  });
  const [description, ...others] = [...fieldOf(1, 'System.Description').matchAll(/<details>.*?<pre>(.*?)<\/pre>/g)];
  expect(JSON.parse(description[1])).toEqual(payload);
  expect(others).toEqual([]);
  const unknown = await tracker({ issueType: 'Request' }).create({ title: 'x', body: '', labels: [] });
  expect(failureOf(unknown)).toMatchObject({ kind: 'refused', message: expect.stringContaining('Request') });
  expect(failureOf(await tracker().create({ title: 'x', body: '', labels: ['a;b'] })).kind).toBe('refused');
});

test.each([
  ['agile', 'User Story', 'Closed', 'New'],
  ['scrum', 'Product Backlog Item', 'Done', 'New'],
  ['basic', 'Issue', 'Done', 'To Do'],
] as const)('open and closed are states of the process %s', async (process, type, closed, opened) => {
  host.boards.process = process satisfies ProcessName;
  host.boards.add(place, { 'System.WorkItemType': type });
  expect(valueOf(await tracker().update('1', { state: 'closed' }))).toMatchObject({ status: closed, isClosed: true });
  expect(valueOf(await tracker().update('1', { state: 'closed' })).status).toBe(closed);
  expect(valueOf(await tracker().update('1', { state: 'open' }))).toMatchObject({ status: opened, isClosed: false });
  expect(valueOf(await tracker().close('1', {}))).toMatchObject({ isChanged: true, isClosed: true });
  expect(fieldOf(1, 'System.State')).toBe(closed);
});

test('a change replaces tags, the assignee and the text, and keeps the payload', async () => {
  valueOf(await tracker().create({ title: 'Old', body: 'Old', labels: ['a', 'b'], payload: { id: 'x' } }));
  const after = valueOf(
    await tracker().update('1', {
      title: 'New',
      body: 'New <b>',
      labels: ['c'],
      assignees: ['dana@example.com'],
      state: 'ACTIVE',
    }),
  );
  expect(after).toMatchObject({
    title: 'New',
    labels: ['c'],
    status: 'Active',
    assignee: { email: 'dana@example.com' },
  });
  expect(fieldOf(1, 'System.Description')).toBe(
    '<div>New &lt;b&gt;</div><details><summary>Automation payload</summary><pre>{"id":"x"}</pre></details>',
  );
  expect(valueOf(await tracker().update('1', { labels: [], assignees: [] }))).toMatchObject({
    labels: [],
    assignee: null,
  });
  expect(failureOf(await tracker().update('1', { state: 'Nonsense' }))).toMatchObject({
    kind: 'refused',
    message: expect.stringContaining("contains the value 'Nonsense' that is not in the list of supported values"),
  });
  expect(failureOf(await tracker().update('1', { assignees: ['a', 'b'] })).kind).toBe('refused');
  expect(failureOf(await tracker().update('1', { assignees: ['a stranger'] })).kind).toBe('refused');
});

test('a change of somebody else is not overwritten', async () => {
  host.boards.add(place, {});
  host.boards.racingChanges = 1;
  expect(failureOf(await tracker().update('1', { title: 'Mine' })).kind).toBe('conflict');
  expect(fieldOf(1, 'System.Title')).toBe('A work item');
  valueOf(await tracker().update('1', { title: 'Mine' }));
  expect(fieldOf(1, 'System.Title')).toBe('Mine');
});

test.each([
  ['Completed', 'Closed'],
  ['Resolved', 'Resolved'],
  ['removed', 'Removed'],
  [undefined, 'Closed'],
])('closing for the reason %s, with a comment, which repeating does not write again', async (reason, state) => {
  host.boards.add(place, { 'System.WorkItemType': 'Epic', 'System.State': 'Active' });
  expect(valueOf(await tracker().close('1', { reason, comment: 'Bye <b>' }))).toEqual({
    updatedAt: host.boards.find(1)?.fields['System.ChangedDate'],
    isChanged: true,
    isClosed: state !== 'Resolved',
  });
  expect(fieldOf(1, 'System.State')).toBe(state);
  expect(valueOf(await tracker().close('1', { reason, comment: 'Bye <b>' })).isChanged).toBe(false);
  expect(host.boards.find(1)?.comments.map(({ text }) => text)).toEqual(['Bye &lt;b&gt;']);
});

test('one that is closed gets no comment, and a reason that the type has not is refused', async () => {
  host.boards.process = 'basic';
  host.boards.add(place, { 'System.State': 'Done' });
  host.boards.add(place, {});
  expect(valueOf(await tracker().close('1', { comment: 'Bye' }))).toMatchObject({ isChanged: false, isClosed: true });
  expect(failureOf(await tracker().close('2', { reason: 'Removed', comment: 'Bye' }))).toMatchObject({
    kind: 'refused',
    message: 'Task has no closed state Removed: one of To Do, Doing, Done',
  });
  expect(host.boards.all.flatMap(({ comments }) => comments)).toEqual([]);
});

test('a reason that is an open state is refused', async () => {
  host.boards.add(place, { 'System.WorkItemType': 'Bug' });
  for (const reason of ['Active', 'InProgress', 'New', 'Proposed'])
    expect(failureOf(await tracker().close('1', { reason })).kind).toBe('refused');
  expect(fieldOf(1, 'System.State')).toBe('New');
});

test('closing while somebody else changes the work item, or after a failure, writes one comment', async () => {
  const item = host.boards.add(place, {});
  host.failNext({ status: 502, body: {} }, { method: 'PATCH' });
  expect(failureOf(await tracker().close('1', { comment: 'Bye' })).kind).toBe('unreachable');
  host.boards.racingChanges = 1;
  expect(valueOf(await tracker().close('1', { comment: 'Bye' }))).toMatchObject({ isChanged: true, isClosed: true });
  expect(item.comments).toMatchObject([{ text: 'Bye' }]);
  expect(valueOf(await tracker().fetch('1')).customFields).not.toHaveProperty('System.History');
  host.boards.add(place, {});
  host.boards.racingChanges = 9;
  expect(failureOf(await tracker().close('2', { comment: 'Bye' })).kind).toBe('conflict');
  expect(host.boards.find(2)?.comments).toEqual([]);
});

test('what the tracker does not say of states and parents keeps nobody from seeing or changing a work item', async () => {
  host.boards.add(place, { 'System.State': 'Closed' });
  const path = /\/states/;
  for (const status of [500, 404, 403]) {
    host.failNext({ status, body: {} }, { path });
    expect(valueOf(await tracker().fetch('1'))).toMatchObject({ status: 'Closed', isClosed: true });
    host.failNext({ status, body: {} }, { path });
    expect(valueOf(await tracker().update('1', { title: `${status}` }))).toMatchObject({ isClosed: true });
    host.failNext({ status, body: {} }, { path });
    failureOf(await tracker().update('1', { state: 'open' }));
  }
  const read = host.requests.length;
  valueOf(await tracker().update('1', { title: 'New' }));
  expect(host.requests.slice(read).map(({ method }) => method)).toEqual(['GET', 'GET', 'PATCH']);
});

test('a report is one comment and one tag, also while others change the work item', async () => {
  const item = host.boards.add(place, { 'System.Tags': 'ops; quayside:failed' });
  item.comments.push({ id: 900, text: 'chatter' });
  const report = {
    marker: 'quayside-request:r1',
    lines: ['Running <1>'],
    links: [{ text: 'Run', url: 'https://q.example/"r' }],
  };
  host.boards.racingChanges = 2;
  const { commentId } = valueOf(await tracker().report('1', { ...report, state: 'running' }));
  expect(fieldOf(1, 'System.Tags')).toBe('ops; quayside:running');
  expect(valueOf(await tracker().report('1', { ...report, state: 'done' }))).toEqual({ commentId });
  expect(fieldOf(1, 'System.Tags')).toBe('ops; quayside:done');
  const { rev } = item;
  expect(valueOf(await tracker().report('1', { ...report, state: 'done', commentId }))).toEqual({ commentId });
  expect(item.rev).toBe(rev);
  expect(item.comments.map(({ text }) => text)).toEqual([
    'chatter',
    '<div>Running &lt;1&gt;</div><div><a href="https://q.example/%22r">Run</a></div><span style="display:none">quayside-request:r1</span>',
  ]);
});

test("a stranger's comment with the marker is left alone", async () => {
  const item = host.boards.add(place, {});
  item.comments.push({ id: 900, text: 'quayside-request:r1' });
  const report = { marker: 'quayside-request:r1', lines: ['Done'], links: [], state: 'done' } as const;
  const { commentId } = valueOf(await tracker().report('1', report));
  expect(valueOf(await tracker().report('1', report))).toEqual({ commentId });
  expect(valueOf(await tracker().report('1', { ...report, commentId: '900' }))).toEqual({ commentId });
  expect(item.comments.map(({ id }) => id)).toEqual([900, Number(commentId)]);
  expect(item.comments[0]?.text).toBe('quayside-request:r1');
});

test('personal access tokens go as Basic, tokens of Entra ID as Bearer', async () => {
  host.boards.add(place, {});
  await tracker().fetch('1');
  await tracker(
    {},
    { credentials: { type: 'token', token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl' } },
  ).fetch('1');
  expect(host.requests.map(({ headers }) => headers.authorization?.split(' ')[0])).toEqual([
    'Basic',
    'Basic',
    'Bearer',
  ]);
});

test('a sign-in page instead of an answer is a refused credential', async () => {
  for (const status of [203, 302]) {
    host.failNext({ status, body: '<html>Sign in</html>', headers: { 'content-type': 'text/html' } });
    expect(failureOf(await tracker().fetch('1')).kind).toBe('auth_failed');
  }
});

test('the settings of an integration say where work items of a repository elsewhere are', async () => {
  host.boards.add('contoso/boards', { 'System.Title': 'elsewhere' });
  const settings = { organization: 'contoso', project: 'boards' };
  const elsewhere = tracker({ repositoryIdentifier: 'acme/shop' }, { settings });
  expect(valueOf(await elsewhere.fetch('1')).title).toBe('elsewhere');
});

test('the comment of a report is found among many, page by page', async () => {
  const item = host.boards.add(place, {});
  const report = { marker: 'quayside-request:r1', lines: ['x'], links: [], state: 'done' } as const;
  const { commentId } = valueOf(await tracker().report('1', report));
  for (let id = 1_000; id < 1_100; id++) item.comments.push({ id, text: 'chatter' });
  expect(valueOf(await tracker().report('1', report))).toEqual({ commentId });
  expect(item.comments).toHaveLength(101);
  const sizes = host.requests.map(({ query }) => query.get('$top')).filter((top) => top !== null);
  expect(sizes).toEqual(['40', '40', '40', '40']);
});
