import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { HostCredentials } from '../../../../domain/projects/integrations/integration-rules.ts';
import type { TrackerPlatform, WorkTracker } from '../../../../domain/work/work-items/work-tracker.port.ts';
import { gitHost, hostCredentials } from '../../../simulators/git-hosts.ts';
import type { HostServer } from '../../../simulators/host-server.ts';
import { jiraCredentials, jiraSite } from '../../../simulators/trackers/jira.ts';
import { failureOf, IMPATIENT, type TestTrackers, testTrackers, valueOf } from '../../../support/work-trackers.ts';

const HOUR_MS = 3_600_000;
let trackers: TestTrackers;
let impatient: TestTrackers;
const servers: HostServer[] = [];

beforeEach(() => {
  trackers = testTrackers();
  impatient = testTrackers(IMPATIENT);
});
afterEach(async () => {
  await Promise.all([...servers.splice(0).map((server) => server.close()), trackers.close(), impatient.close()]);
});

interface Case {
  server: HostServer;
  tracker: WorkTracker;
  /** A tracker of somebody who waits only a moment. */
  hasty: WorkTracker;
  id: string;
  /** How many work items there are. */
  made: () => number;
}

const both = (...given: Parameters<TestTrackers['of']>) => [trackers.of(...given), impatient.of(...given)] as const;

/** A tracker with one work item. */
const CASES: Record<TrackerPlatform, () => Promise<Case>> = {
  async 'tracker-a'() {
    const server = await jiraSite();
    server.add('SHOP-1');
    const at = { baseUrl: server.url, credentials: jiraCredentials as HostCredentials };
    const [tracker, hasty] = both('tracker-a', at, { boards: ['SHOP'] });
    return { server, tracker, hasty, id: 'SHOP-1', made: () => server.issues.length };
  },
  async 'host-a'() {
    const server = await gitHost('host-a');
    server.issues.add('acme/shop');
    const [tracker, hasty] = both('host-a', { baseUrl: server.url, credentials: hostCredentials as HostCredentials });
    return { server, tracker, hasty, id: '1', made: () => server.issues.all.length };
  },
  async 'host-b'() {
    const server = await gitHost('host-b');
    server.boards.add('acme/shop');
    const [tracker, hasty] = both('host-b', { baseUrl: server.url, credentials: hostCredentials as HostCredentials });
    return { server, tracker, hasty, id: '1', made: () => server.boards.all.length };
  },
};
const item = { title: 'x', body: '', labels: [] };

/** A limit that holds so long was learnt between two moments. */
function expectLearnt(retryAt: Date | null | undefined, holdsMs: number, since: number, until = Date.now()): void {
  const learntAt = (retryAt?.getTime() ?? 0) - holdsMs;
  expect([learntAt >= since, learntAt <= until]).toEqual([true, true]);
}

describe.each(Object.keys(CASES) as TrackerPlatform[])('%s', (platform) => {
  let given: Case;
  beforeEach(async () => {
    given = await CASES[platform]();
    servers.push(given.server);
  });

  test('one that hangs is given up in time', async () => {
    const { server, tracker, hasty, id } = given;
    server.failNext('hang', { times: 2 });
    expect(failureOf(await hasty.fetch(id))).toMatchObject({ kind: 'timeout', mayBeDone: true });
    expect(failureOf(await hasty.create(item))).toMatchObject({ kind: 'timeout', mayBeDone: true });
    server.heal();
    valueOf(await tracker.fetch(id));
  });

  test('one that answers with a page is malformed', async () => {
    const { server, tracker, id } = given;
    server.failNext('html', { times: 3 });
    expect(failureOf(await tracker.fetch(id)).kind).toBe('malformed');
    expect(failureOf(await tracker.list({ maxResults: 5 })).kind).toBe('malformed');
    expect(failureOf(await tracker.create(item))).toMatchObject({ kind: 'malformed', mayBeDone: true });
  });

  test('one that loses the reply to a create may have created', async () => {
    const { server, tracker, made } = given;
    server.failNext('lost');
    expect(failureOf(await tracker.create(item))).toMatchObject({ kind: 'unreachable', mayBeDone: true });
    expect(made()).toBe(2);
  });

  test('one that is broken or away is unreachable', async () => {
    const { server, tracker, id } = given;
    for (const [status, kind] of [
      [500, 'unreachable'],
      [503, 'unreachable'],
      [504, 'timeout'],
    ] as const) {
      server.failNext({ status, body: '<html>' });
      expect(failureOf(await tracker.fetch(id))).toMatchObject({ kind, mayBeDone: true });
    }
    const away = { baseUrl: 'http://127.0.0.1:9', credentials: hostCredentials as HostCredentials };
    expect(failureOf(await trackers.of(platform, away).fetch(id))).toMatchObject({
      kind: 'unreachable',
      mayBeDone: false,
      message: `${platform} could not be reached`,
    });
  });

  test('nothing leaves until a limit of an hour is reset', async () => {
    const { server, tracker, id } = given;
    const before = Date.now();
    server.limit = { remaining: 0, resetAt: new Date(before + HOUR_MS) };
    const { kind, retryAt } = failureOf(await tracker.fetch(id));
    expect(kind).toBe('limited');
    // Headers tell whole seconds.
    expectLearnt(retryAt, HOUR_MS, before, Date.now() + 1_000);
    const asked = server.requests.length;
    server.limit = undefined;
    expect(failureOf(await tracker.create(item))).toMatchObject({ kind: 'limited', retryAt });
    expect(failureOf(await tracker.list({ maxResults: 1 })).kind).toBe('limited');
    expect(server.requests).toHaveLength(asked);
    trackers.clock.laterMs = HOUR_MS + 5_000;
    valueOf(await tracker.fetch(id));
  });

  test('refusals hold neither secrets nor addresses', async () => {
    const { server, tracker, id } = given;
    server.failNext({
      status: 400,
      body: { message: `bad\u0000\n${'x'.repeat(5_000)}`, errorMessages: ['y'.repeat(5_000)] },
    });
    const { kind, message } = failureOf(await tracker.fetch(id));
    expect(kind).toBe('refused');
    expect(message.length).toBeLessThanOrEqual(400);
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(message).not.toMatch(/127\.0\.0\.1|[\u0000-\u001f]/);
  });

  test('a vendor or proxy that repeats the credential and the address shows neither', async () => {
    const { server, tracker, id } = given;
    valueOf(await tracker.fetch(id));
    const sent = server.requests.at(-1)?.headers.authorization?.split(' ')[1] ?? '';
    const decoded = Buffer.from(sent, 'base64').toString('utf8').split(':').at(-1) ?? '';
    const credentials = platform === 'tracker-a' ? jiraCredentials : hostCredentials;
    const { token } = credentials as { token: string };
    const text = `Bad credentials: ${sent} or ${token} at ${server.url}`;
    server.failNext({ status: 401, body: { message: text, errorMessages: [text] } });
    const { message } = failureOf(await tracker.fetch(id));
    expect(message).toContain('Bad credentials: ***');
    for (const secret of [sent, token, decoded, '127.0.0.1'].filter((each) => each.length > 3))
      expect(message).not.toContain(secret);
  });
});

test('the last call of a window succeeds and closes it, where the vendor counts down', async () => {
  for (const platform of ['host-a', 'host-b'] as const) {
    const { server, tracker, id } = await CASES[platform]();
    servers.push(server);
    const resetAt = new Date(Date.now() + HOUR_MS);
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.ceil(resetAt.getTime() / 1_000)) };
    valueOf(await tracker.fetch(id));
    server.failNext({ status: 404, body: { message: 'Not Found' }, headers });
    expect(failureOf(await tracker.fetch(id)).kind).toBe('not_found');
    expect(failureOf(await tracker.fetch(id)).kind).toBe('limited');
  }
});

test('a tracker that answers late and asks for a pause gets it after what was begun', async () => {
  const { server, tracker, id } = await CASES['host-b']();
  servers.push(server);
  const late = (fields: object, given = {}) =>
    server.failNext(
      {
        status: 200,
        body: { id: 1, rev: 1, fields: { 'System.WorkItemType': 'Task', 'System.State': 'New', ...fields } },
        headers: { 'retry-after': '30' },
      },
      given,
    );
  const begunAt = Date.now();
  const isPaused = async () => {
    const asked = server.requests.length;
    const { kind, retryAt } = failureOf(await tracker.fetch(id));
    expect([kind, server.requests.length]).toEqual(['limited', asked]);
    expectLearnt(retryAt, 30_000 + trackers.clock.laterMs, begunAt);
    trackers.clock.laterMs += 60_000;
  };
  late({});
  valueOf(await tracker.fetch(id));
  expect(server.requests).toHaveLength(2);
  await isPaused();
  late({ 'System.Title': 'New' }, { method: 'PATCH' });
  expect(valueOf(await tracker.update(id, { title: 'New' })).title).toBe('New');
  await isPaused();
  late({});
  expect(valueOf(await tracker.close(id, { comment: 'Bye' })).isChanged).toBe(true);
  await isPaused();
});

test('a limit that begins with a change leaves the change done and answered', async () => {
  for (const platform of ['host-a', 'host-b'] as const) {
    const { server, tracker, id } = await CASES[platform]();
    servers.push(server);
    const resetAt = new Date(Date.now() + HOUR_MS);
    server.limit = { remaining: platform === 'host-a' ? 2 : 3, resetAt };
    expect(valueOf(await tracker.update(id, { title: 'New' })).title).toBe('New');
    expect(failureOf(await tracker.fetch(id))).toMatchObject({ kind: 'limited' });
  }
});

test('a comment is written once where a limit begins with it', async () => {
  const { server, tracker, id } = await CASES['host-a']();
  servers.push(server);
  const close = () => tracker.close(id, { comment: 'Bye' });
  server.limit = { remaining: 3, resetAt: new Date(Date.now() + HOUR_MS) };
  expect(failureOf(await close()).kind).toBe('limited');
  server.limit = undefined;
  trackers.clock.laterMs = 2 * HOUR_MS;
  expect(valueOf(await close()).isChanged).toBe(true);
  const comments = server.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/comments'));
  expect(comments).toHaveLength(1);
});

test('a limit is that of one credential, and at most two hours long', async () => {
  const { server, tracker, id } = await CASES['host-a']();
  servers.push(server);
  server.failNext({
    status: 403,
    body: { message: 'You have exceeded a secondary rate limit' },
    headers: { 'retry-after': '86400000' },
  });
  const before = Date.now();
  expectLearnt(failureOf(await tracker.fetch(id)).retryAt, 2 * HOUR_MS, before);
  const others = trackers.of('host-a', { baseUrl: server.url, credentials: { type: 'token', token: 'token-of-dana' } });
  valueOf(await others.fetch(id));
});

test('a secondary limit that names no time holds a minute', async () => {
  const { server, tracker, id } = await CASES['host-a']();
  servers.push(server);
  server.failNext({ status: 403, body: { message: 'You have exceeded a secondary rate limit.' } });
  const before = Date.now();
  const { kind, retryAt } = failureOf(await tracker.fetch(id));
  expect(kind).toBe('limited');
  expectLearnt(retryAt, 60_000, before);
});

test('an issue with a time that is none is malformed', async () => {
  const { server, tracker, id } = await CASES['host-a']();
  servers.push(server);
  const issue = {
    number: 1,
    title: 'x',
    state: 'open',
    html_url: 'x',
    labels: [],
    created_at: 'soon',
    updated_at: 'soon',
  };
  server.failNext({ status: 200, body: issue });
  expect(failureOf(await tracker.fetch(id)).kind).toBe('malformed');
});

test('an answer without end is cut off', async () => {
  const endless = createServer((_, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const block = Buffer.alloc(1_048_576, ' ');
    const write = () => {
      if (!response.destroyed && response.write(block)) setImmediate(write);
      else response.once('drain', write);
    };
    write();
  });
  endless.listen(0, '127.0.0.1');
  await once(endless, 'listening');
  const baseUrl = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
  const tracker = trackers.of('host-a', { baseUrl, credentials: { type: 'token', token: 'x' } });
  expect(failureOf(await tracker.fetch('1')).kind).toBe('malformed');
  endless.closeAllConnections();
  await new Promise((resolve) => endless.close(resolve));
});

test('addresses that are not permitted are not called', async () => {
  const at = { baseUrl: 'http://10.0.0.1', credentials: { type: 'token', token: 'x' } as const };
  expect(failureOf(await trackers.of('host-a', at).fetch('1'))).toMatchObject({
    kind: 'refused',
    message: 'The address of host-a is not permitted',
  });
});

test('places that cannot be told are refused', () => {
  const at = { baseUrl: 'http://127.0.0.1:9', credentials: { type: 'token', token: 'x' } as const };
  expect(() => trackers.of('host-a', at, { repositoryIdentifier: 'a/b/c' })).toThrow('`repository` (owner/repo)');
  const credentials = { type: 'token', token: 'x' } as const;
  expect(() => trackers.of('tracker-a', { credentials } as never)).toThrow('with a baseUrl');
});
