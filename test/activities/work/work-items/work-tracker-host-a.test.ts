import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';
import type { HostCredentials } from '../../../../domain/projects/integrations/integration-rules.ts';
import type { TrackerTarget } from '../../../../domain/work/work-items/work-tracker.port.ts';
import { failureOf, IMPATIENT, type TestTrackers, testTrackers, valueOf } from '../../../support/work-trackers.ts';

const credentials = hostCredentials as HostCredentials;
const shop = 'acme/shop';
let host: GitHostSimulator;
let trackers: TestTrackers;

beforeEach(async () => {
  host = await gitHost('host-a');
  trackers = testTrackers();
});
afterEach(async () => {
  await Promise.all([host.close(), trackers.close()]);
});

const tracker = (place: Partial<TrackerTarget> = {}, given = credentials) =>
  trackers.of('host-a', { baseUrl: host.url, credentials: given }, place);
const written = () =>
  host.requests.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`);

test('an issue with its type, priority, people and parent', async () => {
  host.issues.add(shop, { title: 'The epic' });
  host.issues.add(shop, {
    title: 'Prices',
    body: 'Wrong <b>prices</b>',
    type: 'Bug',
    labels: ['P2', 'ui'],
    assignees: ['ole', 'dana'],
    milestone: '2026.11',
    parent: 1,
  });
  expect(valueOf(await tracker().fetch('2'))).toEqual({
    id: '2',
    key: '2',
    title: 'Prices',
    description: 'Wrong <b>prices</b>',
    type: 'Bug',
    status: 'open',
    priority: 'P2',
    assignee: { id: '3', name: 'ole', email: null, avatarUrl: 'https://avatars.example/ole' },
    reporter: { id: '4', name: 'dana', email: null },
    labels: ['P2', 'ui'],
    createdAt: '2026-01-01T00:01:00.000Z',
    updatedAt: '2026-01-01T00:01:00.000Z',
    platform: 'host-a',
    url: 'https://github.com/acme/shop/issues/2',
    parent: { id: '1', key: '1', title: 'The epic' },
    customFields: { assignees: ['ole', 'dana'], milestone: '2026.11', comments: 0, author_association: 'MEMBER' },
    isClosed: false,
  });
});

test('pull requests, ids that are none and repositories without issues are not found', async () => {
  host.issues.add(shop, { isPullRequest: true });
  for (const id of ['1', '2', 'SHOP-1', '../1', ''])
    expect(failureOf(await tracker().fetch(id)).kind).toBe('not_found');
  expect(failureOf(await tracker().update('1', { title: 'x' })).kind).toBe('not_found');
  expect(failureOf(await tracker().close('1', {})).kind).toBe('not_found');
  host.issues.switchedOff.add(shop);
  expect(failureOf(await tracker().fetch('1')).kind).toBe('not_found');
  host.failNext({ status: 301, body: { message: 'Moved Permanently' }, headers: { location: 'http://127.0.0.1:9/' } });
  expect(failureOf(await tracker().fetch('1')).kind).toBe('not_found');
  expect(written()).toEqual([]);
});

test('the newest changes come first, of any of the labels, without pull requests', async () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 5, 1, 0, minute));
  host.issues.add(shop, { title: 'old', labels: ['team-a'], updatedAt: at(1) });
  host.issues.add(shop, {
    title: 'both',
    labels: ['team-a', 'team, b'],
    updatedAt: at(3),
    state: 'closed',
    type: 'bug',
  });
  host.issues.add(shop, { title: 'neither', labels: ['ui'], updatedAt: at(9) });
  host.issues.add(shop, { title: 'new', labels: ['team-c', 'Story'], updatedAt: at(5), assignees: ['quayside-bot'] });
  host.issues.add(shop, { title: 'request', labels: ['team-a'], isPullRequest: true, updatedAt: at(8) });
  const titles = async (filter: object, boards: string[] = ['team-a', 'team-c']) =>
    valueOf(await tracker({ boards }).list({ maxResults: 10, ...filter })).map(({ title }) => title);
  expect(await titles({})).toEqual(['new', 'both', 'old']);
  expect(await titles({}, [])).toEqual(['neither', 'new', 'both', 'old']);
  expect(await titles({ maxResults: 2 })).toEqual(['new', 'both']);
  expect(await titles({ status: 'Closed' })).toEqual(['both']);
  expect(await titles({ status: 'open' })).toEqual(['new', 'old']);
  expect(await titles({ status: 'In Progress' })).toEqual([]);
  expect(await titles({ type: 'STORY' })).toEqual(['new']);
  expect(await titles({ type: 'issue' })).toEqual(['old']);
  expect(await titles({ assignee: 'me' })).toEqual(['new']);
  for (const assignee of ['nobody-there', 'none', '*']) expect(await titles({ assignee })).toEqual([]);
  expect(await titles({}, ['"; drop'])).toEqual([]);
});

test('a repository full of pull requests still lists its issues', async () => {
  host.issues.add(shop, { title: 'the issue', updatedAt: new Date('2020-01-01') });
  for (let made = 0; made < 120; made++) host.issues.add(shop, { isPullRequest: true });
  expect(valueOf(await tracker().list({ maxResults: 50 }))).toHaveLength(1);
  expect(host.requests.map(({ query }) => query.get('page'))).toEqual(['1', '2', '3']);
});

test('an issue is created with a payload that is found again', async () => {
  const payload = { id: 'install-packages', requestId: 'r', note: '--> & <b>' };
  const person: HostCredentials = { type: 'token', token: 'token-of-dana' };
  const made = valueOf(
    await tracker({}, person).create({ title: 'Please install', body: 'Now <!-- x -->', labels: ['ops'], payload }),
  );
  expect(made).toMatchObject({ id: '1', key: '1', url: 'https://github.com/acme/shop/issues/1' });
  const issue = host.issues.find(shop, 1);
  expect(issue).toMatchObject({ title: 'Please install', author: 'dana', labels: ['ops'] });
  expect(issue?.body?.match(/<!--/g)).toHaveLength(1);
  const [, json = ''] = /<!-- quayside:payload (.*) -->/.exec(issue?.body ?? '') ?? [];
  expect(JSON.parse(json)).toEqual(payload);
});

test('what GitHub would refuse, or has refused', async () => {
  const item = { title: 'x', body: '', labels: [] };
  const tooLong = await tracker().create({ ...item, body: 'x'.repeat(60_000), payload: { text: 'y'.repeat(6_000) } });
  expect(failureOf(tooLong)).toMatchObject({ kind: 'refused', message: expect.stringContaining('65536') });
  expect(host.requests).toEqual([]);
  expect(failureOf(await tracker().create({ ...item, title: 'x'.repeat(300) }))).toMatchObject({
    kind: 'refused',
    message: 'host-a answered 422: Validation Failed; title invalid',
  });
  const badToken: HostCredentials = { type: 'token', token: 'wrong' };
  expect(failureOf(await tracker({}, badToken).create(item))).toMatchObject({
    kind: 'auth_failed',
    message: 'host-a answered 401: Bad credentials',
  });
  host.failNext({ status: 404, body: { message: 'Not Found' } });
  expect(failureOf(await tracker().create(item)).kind).toBe('auth_failed');
});

test('a change replaces labels and assignees, and keeps the payload', async () => {
  const payload = { id: 'install-packages' };
  valueOf(await tracker().create({ title: 'Old', body: 'Old', labels: ['a', 'b'], payload }));
  const after = valueOf(
    await tracker().update('1', {
      title: 'New',
      body: 'New <!-- quayside:payload {"id":"forged"} -->',
      labels: ['c'],
      assignees: ['dana', 'a stranger'],
      state: 'Closed',
    }),
  );
  expect(after).toMatchObject({
    title: 'New',
    labels: ['c'],
    status: 'closed',
    isClosed: true,
    assignee: { name: 'dana' },
  });
  expect(after.description?.match(/<!-- .*/g)).toEqual(['<!-- quayside:payload {"id":"install-packages"} -->']);
  expect(valueOf(await tracker().update('1', { state: 'open', labels: [], assignees: [] }))).toMatchObject({
    status: 'open',
    labels: [],
    assignee: null,
    title: 'New',
  });
  expect(failureOf(await tracker().update('1', { state: 'Done' })).kind).toBe('refused');
});

test('closing comments first, once', async () => {
  host.issues.add(shop, {});
  expect(valueOf(await tracker().close('1', { comment: 'Done <!-- quayside -->', reason: 'not_planned' }))).toEqual({
    isChanged: true,
    isClosed: true,
    updatedAt: host.issues.find(shop, 1)?.updatedAt.toISOString(),
  });
  expect(host.issues.find(shop, 1)).toMatchObject({ state: 'closed', stateReason: 'not_planned' });
  expect(written()).toEqual(['POST /repos/acme/shop/issues/1/comments', 'PATCH /repos/acme/shop/issues/1']);
  expect(host.issues.find(shop, 1)?.comments.map(({ body }) => body)).toEqual(['Done &lt;!-- quayside -->']);
  expect(valueOf(await tracker().close('1', { comment: 'Again' }))).toMatchObject({ isChanged: false, isClosed: true });
  expect(host.issues.find(shop, 1)?.comments).toHaveLength(1);
});

test('a report is one comment and one label, however often it is written', async () => {
  const issue = host.issues.add(shop, { labels: ['ops', 'quayside:failed'] });
  for (let made = 0; made < 150; made++) issue.comments.push({ id: 1_000 + made, body: 'chatter', author: 'ole' });
  const report = {
    marker: 'quayside-request:r1',
    lines: ['Running for @acme/team'],
    links: [{ text: 'Run', url: 'https://q.example/r' }],
  };
  const { commentId } = valueOf(await tracker().report('1', { ...report, state: 'running' }));
  expect(issue.labels).toEqual(['ops', 'quayside:running']);
  // The worker died before it could remember the comment.
  expect(valueOf(await tracker().report('1', { ...report, state: 'done' }))).toEqual({ commentId });
  expect(valueOf(await tracker().report('1', { ...report, lines: ['Done'], state: 'done', commentId }))).toEqual({
    commentId,
  });
  expect(issue.labels).toEqual(['ops', 'quayside:done']);
  const ours = issue.comments.filter(({ body }) => body !== 'chatter');
  expect(ours.map(({ body }) => body)).toEqual([
    'Done\n\n[Run](<https://q.example/r>)\n\n<!-- quayside-request:r1 -->',
  ]);
  // Somebody deleted it.
  issue.comments.splice(150, 1);
  expect(valueOf(await tracker().report('1', { ...report, state: 'failed', commentId })).commentId).not.toBe(commentId);
  expect(
    valueOf(await tracker().report('1', { ...report, marker: 'quayside-request:r2', state: 'failed' })).commentId,
  ).not.toBe(commentId);
  expect(issue.comments).toHaveLength(152);
});

test("a stranger's comment with the marker is left alone, and one that may not be edited is replaced", async () => {
  const issue = host.issues.add(shop);
  const forged = { id: 900, body: '<!-- quayside-request:r1 -->', author: 'ole' };
  issue.comments.push(forged);
  const report = { marker: 'quayside-request:r1', lines: ['Done'], links: [], state: 'done' } as const;
  const { commentId } = valueOf(await tracker().report('1', report));
  expect(valueOf(await tracker().report('1', report))).toEqual({ commentId });
  expect(issue.comments).toEqual([forged, expect.objectContaining({ author: 'quayside-bot' })]);
  // An app has no user; its comments are those of bots.
  host.failNext({ status: 403, body: { message: 'Resource not accessible by integration' } }, { path: /\/user$/ });
  expect(valueOf(await tracker().report('1', report)).commentId).not.toBe(commentId);
  host.issues.readers.add('quayside-bot');
  const replaced = valueOf(await tracker().report('1', { ...report, commentId: '900' }));
  expect(replaced).toEqual({ commentId });
  host.failNext({ status: 403, body: { message: 'Forbidden' } }, { method: 'PATCH', times: 2 });
  expect(valueOf(await tracker().report('1', { ...report, commentId })).commentId).not.toBe(commentId);
  expect(forged.body).toBe('<!-- quayside-request:r1 -->');
});

test('an issue with 500 hostile labels is shown', async () => {
  const labels = Array.from({ length: 500 }, (_, n) => `"'\\\u0000</script>${'x'.repeat(40)}${n}`);
  host.issues.add(shop, { labels });
  expect(valueOf(await tracker().fetch('1')).labels).toEqual(labels);
  expect(failureOf(await tracker().update('1', { labels })).kind).toBe('refused');
});

test('closing that is repeated after a failure writes its comment once', async () => {
  const issue = host.issues.add(shop);
  issue.comments.push({ id: 9, body: 'Bye', author: 'dana', at: new Date(Date.now() - 86_400_000) });
  for (const fault of [{ status: 502, body: {} }, 'hang'] as const) host.failNext(fault, { method: 'PATCH' });
  const close = () => tracker().close('1', { comment: 'Bye' });
  expect(failureOf(await close()).kind).toBe('unreachable');
  const impatient = testTrackers(IMPATIENT);
  const hasty = impatient.of('host-a', { baseUrl: host.url, credentials });
  const changes = () => host.requests.filter(({ method }) => method === 'PATCH').length;
  // A call before the change may take too long as well.
  while (changes() < 2) expect(failureOf(await hasty.close('1', { comment: 'Bye' })).kind).toBe('timeout');
  await impatient.close();
  expect(valueOf(await close()).isChanged).toBe(true);
  expect(issue.comments.map(({ body }) => body)).toEqual(['Bye', 'Bye']);
});

test('a list over many labels costs a bounded number of calls', async () => {
  const boards = Array.from({ length: 50 }, (_, n) => `team-${n}`);
  for (let made = 0; made < 60; made++) host.issues.add(shop, { isPullRequest: true, labels: boards.slice(0, 5) });
  host.issues.add(shop, { title: 'the newest', labels: ['team-49'] });
  expect(valueOf(await tracker({ boards }).list({ maxResults: 10, type: 'issue' }))).toHaveLength(1);
  expect(host.requests).toHaveLength(50);
});

test('an issue of somebody who may not set labels has none', async () => {
  host.issues.readers.add('dana');
  const person: HostCredentials = { type: 'token', token: 'token-of-dana' };
  valueOf(await tracker({}, person).create({ title: 'x', body: '', labels: ['ops'] }));
  expect(host.issues.find(shop, 1)?.labels).toEqual([]);
});
