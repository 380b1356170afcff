import { createHostHttp } from '../../../../activities/adapters/git-hosts/host-http.ts';
import { createPullRequestsHostA } from '../../../../activities/adapters/git-hosts/pull-requests-host-a.ts';
import { createPullRequestsHostB } from '../../../../activities/adapters/git-hosts/pull-requests-host-b.ts';
import { createPullRequestsHostC } from '../../../../activities/adapters/git-hosts/pull-requests-host-c.ts';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';
import type { ListOrder, PullRequestHost } from '../../../../domain/code/pull-requests/pull-request-host.port.ts';
import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';
import { type Host, HOSTS } from '../../../simulators/host-hooks.ts';
import type { StoredPullRequest } from '../../../simulators/pull-request-endpoints.ts';

const CONNECT = {
  'host-a': createPullRequestsHostA,
  'host-b': createPullRequestsHostB,
  'host-c': createPullRequestsHostC,
};
const REPOSITORY = { 'host-a': 'acme/shop', 'host-b': 'acme/sales/shop', 'host-c': 'group/sub/shop' } as const;
const NOW = Date.now();
const ago = (minutes: number) => new Date(Math.floor(NOW / 1_000) * 1_000 - minutes * 60_000);

const loopback = outboundAddresses('127.0.0.0/8');
const http = createHostHttp(loopback, 60_000);
/** Waits less for a host that hangs. */
const shortHttp = createHostHttp(loopback, 300);
const simulators = new Map<Host, GitHostSimulator>();
beforeAll(async () => {
  for (const host of HOSTS) simulators.set(host, await gitHost(host));
});
afterAll(async () => {
  await Promise.all([http.close(), shortHttp.close()]);
  await Promise.all([...simulators.values()].map((each) => each.close()));
});

function stage(host: Host, pullRequests: Omit<StoredPullRequest, 'repository'>[], { exchange } = http) {
  const simulator = simulators.get(host) as GitHostSimulator;
  const repository = REPOSITORY[host];
  simulator.pullRequests.length = 0;
  simulator.pullRequests.push(...pullRequests.map((each) => ({ repository, ...each })));
  simulator.requests.length = 0;
  const connected: PullRequestHost = CONNECT[host](exchange, {
    baseUrl: simulator.url,
    token: hostCredentials.token,
    username: '',
  });
  const list = async (order: Partial<ListOrder> = {}) => {
    const { signal } = new AbortController();
    const since = ago(60).toISOString();
    const answer = await connected.list({ repository, since, withAllOpen: false, etag: null, signal, ...order });
    if (!answer.isOk) throw new Error(answer.reason);
    return answer.value;
  };
  return { simulator, repository, connected, list };
}
const numbers = (list: { reports: { number: number }[] } | null) =>
  list?.reports.map(({ number }) => number).toSorted((a, b) => a - b);

test.each(HOSTS)('%s: lists what changed since, and on request all that are open', async (host) => {
  const { list, simulator } = stage(host, [
    { number: 1, openedAt: ago(9_000), at: ago(8_000) },
    { number: 2, openedAt: ago(9_000), at: ago(8_000), state: 'merged' },
    { number: 3, openedAt: ago(70), at: ago(10), state: 'closed' },
    { number: 4, openedAt: ago(20), at: ago(20), requested: ['erin'] },
  ]);
  // Hosts tell whole seconds.
  const askedAt = Math.floor(Date.now() / 1_000) * 1_000;
  const changed = await list();
  // The list of host-b knows no last change: all that are open are among it.
  expect(numbers(changed)).toEqual(host === 'host-b' ? [1, 3, 4] : [3, 4]);
  expect(changed).toMatchObject({
    isCut: false,
    reports: expect.arrayContaining([expect.objectContaining({ number: 3, state: 'closed', author: 'dana' })]),
  });
  const readUntil = Date.parse(changed?.readUntil ?? '');
  if (host === 'host-b') expect([readUntil >= askedAt, readUntil <= Date.now()]).toEqual([true, true]);
  else expect(readUntil).toBe(ago(10).getTime());
  const whole = await list({ withAllOpen: true });
  expect(numbers(whole)).toEqual([1, 3, 4]);
  expect(whole?.reports.find(({ number }) => number === 4)?.requested.users).toEqual(['erin']);
  expect(simulator.requests.every(({ method }) => method === 'GET')).toBe(true);
});

test.each(['host-a', 'host-c'] as const)('%s: a list that is as it was costs one conditional request', async (host) => {
  const { list, simulator } = stage(host, [{ number: 1, openedAt: ago(30), at: ago(30) }]);
  const first = await list();
  simulator.requests.length = 0;
  await expect(list({ etag: first?.etag ?? null })).resolves.toBeNull();
  expect(simulator.requests).toHaveLength(1);
  simulator.pullRequests[0] = { ...simulator.pullRequests[0], repository: REPOSITORY[host], number: 1, at: ago(1) };
  await expect(list({ etag: first?.etag ?? null })).resolves.toMatchObject({ reports: [{ number: 1 }] });
});

test.each(HOSTS)('%s: reads all pages', async (host) => {
  const many = Array.from({ length: 250 }, (_, index) => ({
    number: index + 1,
    openedAt: ago(50),
    at: ago(50 - index / 10),
  }));
  const { list } = stage(host, many);
  expect(numbers(await list())).toEqual(many.map(({ number }) => number));
  expect(numbers(await list({ withAllOpen: true }))).toHaveLength(250);
});

test.each(HOSTS)(
  '%s: a host that hangs, limits, fails, or answers a page for people is a failure in time',
  async (host) => {
    const pullRequests = [{ number: 1, at: ago(5) }];
    const { connected, repository, simulator } = stage(host, pullRequests);
    const { connected: hasty } = stage(host, pullRequests, shortHttp);
    const { signal } = new AbortController();
    const ask = (by = connected) =>
      by.list({ repository, since: ago(60).toISOString(), withAllOpen: false, etag: null, signal });
    simulator.failNext('hang');
    await expect(ask(hasty)).resolves.toEqual(
      expect.objectContaining({ isOk: false, isTransient: true, reason: `${host} could not be reached` }),
    );
    simulator.heal();
    simulator.failNext({ status: 429, headers: { 'retry-after': '3600' } });
    await expect(ask()).resolves.toMatchObject({ isOk: false, retryAfterMs: 3_600_000 });
    const reset = String(Math.floor(Date.now() / 1_000) + 1_800);
    simulator.failNext({
      status: host === 'host-a' ? 403 : 429,
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset },
    });
    await expect(ask()).resolves.toMatchObject({ isOk: false, isTransient: true, retryAfterMs: expect.any(Number) });
    simulator.failNext({ status: 203, body: '<html>Sign in</html>', headers: { 'content-type': 'text/html' } });
    await expect(ask()).resolves.toEqual(
      expect.objectContaining({ isOk: false, reason: `${host} answered 203 with something else than a list` }),
    );
    for (const status of [302, 401, 404, 500]) {
      simulator.failNext({ status, body: '<html>', headers: { location: 'http://169.254.169.254/' } });
      await expect(ask()).resolves.toMatchObject({ isOk: false, isTransient: status === 500 });
    }
    await expect(ask()).resolves.toMatchObject({ isOk: true });
  },
);

test('what a list has besides pull requests is left out', async () => {
  const { list, simulator } = stage('host-a', [{ number: 1, at: ago(5) }]);
  simulator.failNext({ status: 200, body: [null, 7, [], { number: 3 }, { number: '4', updated_at: 'never' }] });
  await expect(list()).resolves.toMatchObject({ reports: [] });
});

test.each(HOSTS)('%s: the changes of a fork are read from the host, 300 files at most', async (host) => {
  const files: StoredPullRequest['files'] = [
    { path: 'src/größer.ts', status: 'added' },
    { path: 'src/gone.ts', status: 'removed' },
    { path: 'src/other.ts', status: 'modified' },
    { path: 'src/new name.ts', status: 'renamed', before: 'src/old name.ts' },
  ];
  const many = Array.from({ length: 320 }, (_, index) => ({ path: `src/${index}.ts`, status: 'added' as const }));
  const { connected, repository } = stage(host, [
    { number: 1, headSha: 'a'.repeat(40), files, ahead: 3, behind: 2 },
    { number: 2, headSha: 'b'.repeat(40), files: many, ahead: 1, behind: 0 },
  ]);
  const compare = (number: number, letter: string) =>
    connected.compare({ repository, number, baseBranch: 'main', headSha: letter.repeat(40) });
  await expect(compare(1, 'a')).resolves.toEqual({
    isOk: true,
    value: {
      ahead: 3,
      behind: 2,
      files: {
        added: ['src/größer.ts', 'src/new name.ts'],
        deleted: ['src/gone.ts', 'src/old name.ts'],
        modified: ['src/other.ts'],
        truncated: false,
      },
    },
  });
  const cut = await compare(2, 'b');
  expect(cut).toMatchObject({ isOk: true, value: { ahead: 1, behind: 0, files: { truncated: true } } });
  if (cut.isOk) expect(cut.value.files.added).toHaveLength(300);
  await expect(compare(3, 'c')).resolves.toMatchObject({ isOk: false });
});

test('reviews of host-a are the last decisions of their authors; those of host-c the states of reviewers', async () => {
  const a = stage('host-a', [
    {
      number: 1,
      reviews: [
        { by: 'Erin', state: 'approved', at: ago(9) },
        { by: 'Erin', state: 'commented', at: ago(8) },
        { by: 'frank', state: 'pending', at: ago(7) },
      ],
    },
  ]);
  await expect(a.connected.reviews?.({ repository: a.repository, number: 1 })).resolves.toEqual({
    isOk: true,
    value: { erin: { state: 'approved', at: ago(9).toISOString() } },
  });
  const c = stage('host-c', [{ number: 1, requested: ['erin'], reviewed: { Frank: 'changes_requested' } }]);
  await expect(c.connected.reviews?.({ repository: c.repository, number: 1 })).resolves.toEqual({
    isOk: true,
    value: { frank: { state: 'changes_requested', at: null } },
  });
});
