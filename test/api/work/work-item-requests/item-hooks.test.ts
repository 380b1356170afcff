import { randomUUID } from 'node:crypto';
import { type HostHook, sent } from '../../../simulators/host-hooks.ts';
import { EXAMPLES } from '../../../simulators/pull-request-hooks.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { idleEngine } from '../../../support/launch.ts';
import { requestsOf } from '../../../support/work-item-requests.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
const [example] = EXAMPLES.find(({ name }) => name === 'issues')?.examples ?? [];

const issueHook = (repository: string, state: 'open' | 'closed', at: string): HostHook => ({
  host: 'host-a',
  headers: { 'x-github-event': 'issues', 'x-github-delivery': randomUUID() },
  body: {
    ...example,
    action: state === 'open' ? 'reopened' : 'closed',
    issue: { ...example.issue, number: 12, state, updated_at: at },
    repository: { full_name: repository },
  },
});

/** `workitem.updated` as Azure Boards publishes it. */
const workItemHook = (state: string, at: string, more: object = {}): HostHook => ({
  host: 'host-b',
  headers: {},
  body: {
    id: randomUUID(),
    eventType: 'workitem.updated',
    publisherId: 'tfs',
    resource: {
      id: 2,
      workItemId: 12,
      rev: 2,
      revisedDate: '9999-01-01T00:00:00Z',
      fields: { 'System.State': { oldValue: 'New', newValue: state } },
      revision: { id: 12, rev: 2, fields: { 'System.State': state, 'System.ChangedDate': at, ...more } },
    },
    resourceVersion: '1.0',
    createdDate: at,
  },
});

interface Hooked {
  identifier?: string;
  /** Tracker of the project's work items. */
  tracker?: 'host-a' | 'host-b';
  /** Settings of the tracker's integration. */
  settings?: Record<string, string>;
}

async function hooked(platform: 'host-a' | 'host-b', { tracker = platform, settings, ...given }: Hooked = {}) {
  const { identifier = platform === 'host-a' ? `acme/hooked-${newId()}` : `acme/sales/hooked-${newId()}` } = given;
  const configuration = tracker === platform ? {} : { workItems: { provider: tracker } };
  const requests = await requestsOf(app, { platform, identifier, configuration });
  if (settings)
    await app.as(app.owner).post(201, '/api/integrations', {
      kind: tracker,
      name: 'tracker',
      repositoryIdentifier: identifier,
      credentials: { type: 'token', token: 'a-token' },
      settings,
    });
  const path = `/api/projects/${encodeURIComponent(identifier)}/hook-secret`;
  const { secret } = await app.as(app.owner).post(201, path);
  const send = async (hook: HostHook) => {
    const { path: address, headers, rawBody } = sent(hook, secret);
    const isNamed = hook.host === 'host-b' || settings !== undefined;
    const query = isNamed ? `?repositoryIdentifier=${encodeURIComponent(identifier)}` : '';
    return (await app.as().request(202, 'POST', address + query, { headers, rawBody })).body;
  };
  return { ...requests, send, identifier };
}

test('on host-a what is completed is closed with its issue, and what is closed before completes as closed', async () => {
  const { callback, only, send, identifier } = await hooked('host-a');
  await callback('started', { executionId: 'one' });
  expect(await send(issueHook(identifier, 'closed', secondsAgo(50)))).toEqual({ outcome: 'accepted', events: 1 });
  expect(await only()).toMatchObject({ status: 'in_progress' });
  await callback('completed', { executionId: 'one' });
  expect(await only()).toMatchObject({ status: 'closed' });
  await send(issueHook(identifier, 'open', secondsAgo(40)));
  expect(await only()).toMatchObject({ status: 'completed' });
  // It is older than what is known.
  await send(issueHook(identifier, 'closed', secondsAgo(45)));
  expect(await only()).toMatchObject({ status: 'completed' });
  await send(issueHook(identifier, 'closed', secondsAgo(30)));
  const { status, updatedAt } = await only();
  expect(status).toBe('closed');
  await send(issueHook(identifier, 'closed', secondsAgo(25)));
  expect(await only()).toMatchObject({ updatedAt });
  // What was told of an earlier time is older, also than what changed nothing.
  await send(issueHook(identifier, 'open', secondsAgo(28)));
  expect(await only()).toMatchObject({ status: 'closed', updatedAt });
  await callback('failed', { executionId: 'two' });
  expect(await only()).toMatchObject({ status: 'failed' });
});

test('of hooks of one second the later to arrive counts, also after a change of the same second by this service', async () => {
  const { callback, only, send, identifier } = await hooked('host-a');
  await callback('completed');
  const second = `${secondsAgo(20).slice(0, 19)}Z`;
  await send(issueHook(identifier, 'closed', second));
  await app.sql('update work_item_request set item_state_at = ? where id = ?', [
    new Date(Date.parse(second) + 400).toISOString(),
    (await only()).id,
  ]);
  await send(issueHook(identifier, 'open', second));
  expect(await only()).toMatchObject({ status: 'completed' });
});

test('a request that is made known after its issue was closed completes as closed', async () => {
  const { callback, list, send, identifier } = await hooked('host-a');
  await callback('completed', { taskType: 'build' });
  await send(issueHook(identifier, 'closed', secondsAgo(50)));
  await callback('completed', { taskType: 'run-apex-tests' });
  expect((await list({ status: 'closed' })).total).toBe(2);
});

test.each([
  ['Closed', {}, 'closed'],
  ['Done', {}, 'closed'],
  ['Shipped', { 'Microsoft.VSTS.Common.ClosedDate': '2026-03-02T09:30:00Z' }, 'closed'],
  ['Active', {}, 'completed'],
])('on host-b a work item in state %s leaves the completed request %s', async (state, more, status) => {
  const { callback, only, send } = await hooked('host-b');
  await callback('completed', { platform: 'host-b' });
  expect(await send(workItemHook(state, secondsAgo(20), more))).toEqual({ outcome: 'accepted', events: 1 });
  expect(await only()).toMatchObject({ status });
});

test('issues of the repository that the settings of the integration name are those of the project', async () => {
  const tickets = `acme/tickets-${newId()}`;
  const { callback, only, send, identifier } = await hooked('host-a', { settings: { repository: tickets } });
  await callback('completed', { workItemKey: `${tickets}#12` });
  await callback('completed', { workItemKey: `${identifier}#12` }, { status: 400 });
  await send(issueHook(identifier, 'closed', secondsAgo(50)));
  expect(await only()).toMatchObject({ status: 'completed' });
  await send(issueHook(tickets, 'closed', secondsAgo(40)));
  expect(await only()).toMatchObject({ status: 'closed' });
  // Its secret says nothing of other repositories.
  await send(issueHook(`acme/other-${newId()}`, 'open', secondsAgo(30)));
  expect(await only()).toMatchObject({ status: 'closed' });
});

test('hooks of a tracker that is not the host of the repository close work items, and tell nothing of commits', async () => {
  const settings = { organization: 'acme', project: `boards-${newId()}` };
  const { callback, only, send } = await hooked('host-a', { tracker: 'host-b', settings });
  await callback('completed', { platform: 'host-b' });
  const elsewhere = { 'System.TeamProject': 'another' };
  await send(workItemHook('Closed', secondsAgo(30), elsewhere));
  expect(await only()).toMatchObject({ status: 'completed' });
  await send(workItemHook('Closed', secondsAgo(20), { 'System.TeamProject': settings.project }));
  expect(await only()).toMatchObject({ status: 'closed' });
  const push: HostHook = {
    host: 'host-b',
    headers: {},
    body: { eventType: 'git.push', resource: {}, createdDate: secondsAgo(10) },
  };
  expect(await send(push)).toEqual({ outcome: 'ignored', events: 0 });
});

test('a work item is closed for all projects that keep their work items in its place, and for no other', async () => {
  const azure = `acme/shared-${newId()}`;
  const one = await hooked('host-b', { identifier: `${azure}/one` });
  const two = await hooked('host-b', { identifier: `${azure}/two` });
  const other = await hooked('host-b', { identifier: `${azure}-too/one` });
  for (const { callback } of [one, two, other]) await callback('completed', { platform: 'host-b' });
  await one.send(workItemHook('Closed', secondsAgo(20)));
  expect(await one.only()).toMatchObject({ status: 'closed' });
  expect(await two.only()).toMatchObject({ status: 'closed' });
  expect(await other.only()).toMatchObject({ status: 'completed' });
});

test('a hook that gives way to a concurrent change is recorded all the same', async () => {
  const { callback, only, send, identifier } = await hooked('host-a');
  await callback('completed');
  await app.sql('create sequence given_way');
  await app.sql(`create function give_way() returns trigger language plpgsql security definer as
    'begin if nextval(''given_way'') = 1 then raise exception ''deadlock detected'' using errcode = ''40P01''; end if; return null; end'`);
  await app.sql(`create trigger gives_way after update on work_item_request for each row execute function give_way()`);
  expect(await send(issueHook(identifier, 'closed', secondsAgo(50)))).toEqual({ outcome: 'accepted', events: 1 });
  await app.sql('drop trigger gives_way on work_item_request');
  expect(await only()).toMatchObject({ status: 'closed' });
});
