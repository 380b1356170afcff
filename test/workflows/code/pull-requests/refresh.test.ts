import {
  pullRequestsContract,
  refreshDueSignal,
} from '../../../../workflows/code/pull-requests/pull-requests.contract.ts';
import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';
import { type Host, HOSTS, sent } from '../../../simulators/host-hooks.ts';
import type { StoredPullRequest } from '../../../simulators/pull-request-endpoints.ts';
import { pullRequestHook } from '../../../simulators/pull-request-hooks.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { sendHook } from '../../../support/hooked.ts';
import { newRepository, type TestRepository } from '../../../support/repository.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let worker: TestWorker;
let remote: TestRepository;
const hosts = new Map<Host, GitHostSimulator>();
const host = (name: Host) => hosts.get(name) as GitHostSimulator;
const PREFIX = { 'host-a': 'acme', 'host-b': 'acme/sales', 'host-c': 'group/sub' } as const;
/** A whole second, as hosts tell times; the same for all of the file. */
const NOW_MS = Math.floor(Date.now() / 1_000) * 1_000;
const ago = (minutes: number) => new Date(NOW_MS - minutes * 60_000);
let made = 0;

/** Projects that are there when the worker starts. */
const unasked = new Map<Host, Stage>();
const FIRST: Omit<StoredPullRequest, 'repository'>[] = [
  { number: 1, author: 'Dana', openedAt: ago(60_000), at: ago(59_000), requested: ['erin'] },
  { number: 2, openedAt: ago(600), at: ago(60), state: 'merged' },
  { number: 3, openedAt: ago(60_000), at: ago(50_000), state: 'closed' },
];

beforeAll(async () => {
  remote = newRepository();
  remote.commit({ files: { 'sfdx-project.json': manifest('app', 'lib'), 'app/a': '1', 'lib/b': '1', 'app/old': '1' } });
  app = await testApp({ env: { ALLOW_LOCAL_GIT: 'true', OUTBOUND_ALLOW: '127.0.0.0/8', SERVICE_PACE: '0.1' } });
  for (const name of HOSTS) {
    const simulator = await gitHost(name);
    hosts.set(name, simulator);
    await app.as(app.owner).post(201, '/api/integrations', {
      kind: name,
      name,
      baseUrl: simulator.url,
      credentials: hostCredentials,
    });
  }
  for (const name of HOSTS) unasked.set(name, await stage(name, FIRST));
  worker = await startWorker(app, ['git-v1', 'system-v1']);
});
afterAll(async () => {
  await worker.stop();
  await Promise.all([...hosts.values()].map((each) => each.close()));
  await app.close();
  remote.remove();
});

const manifest = (...names: string[]) =>
  JSON.stringify({
    packageDirectories: names.map((name) => ({ package: name, path: name, versionNumber: '1.0.0.0' })),
  });

interface Stage {
  id: string;
  repository: string;
  simulator: GitHostSimulator;
  rows: () => Promise<Json[]>;
  state: () => Promise<Json>;
  nextInMinutes: () => Promise<number>;
  /** Has the host asked now, and waits until that has ended. */
  refresh: () => Promise<void>;
}

async function stage(
  name: Host,
  pullRequests: Omit<StoredPullRequest, 'repository'>[],
  more: object = {},
): Promise<Stage> {
  const repository = `${PREFIX[name]}/shop-${++made}`;
  const simulator = host(name);
  simulator.pullRequests.push(...pullRequests.map((each) => ({ repository, ...each })));
  const { id } = await app
    .as(app.owner)
    .post(201, '/api/projects', { identifier: repository, platform: name, ...more });
  const state = async () => (await app.sql<Json>('select * from pull_request_refresh where project_id = ?', [id]))[0];
  const attempt = async () => Date.parse((await state())?.attempted_at ?? '') || 0;
  const input = { ...app.tenantKey, projectId: id, repositoryIdentifier: repository };
  return {
    id,
    repository,
    simulator,
    state,
    nextInMinutes: async () => Math.round((Date.parse((await state()).next_refresh_at) - Date.now()) / 60_000),
    rows: () => app.sql<Json>('select * from pull_request where project_id = ? order by number', [id]),
    async refresh() {
      const before = await attempt();
      const failures = (await state())?.failures ?? 0;
      await app.sql('update pull_request_refresh set next_refresh_at = now() where project_id = ?', [id]);
      await app.launch.signalWithStart(pullRequestsContract, input, refreshDueSignal);
      await eventually(attempt, (at) => at > before);
      await eventually(
        async () =>
          (await state()).failures > failures || (await app.launch.stateOf(pullRequestsContract, input)) !== 'running',
        (isOver) => isOver,
      );
    },
  };
}
const stored = ({ simulator, repository }: Stage, number: number): StoredPullRequest =>
  simulator.pullRequests.find((each) => each.repository === repository && each.number === number) as StoredPullRequest;
const asked = ({ simulator, repository }: Stage) =>
  simulator.requests.filter(({ path }) => decodeURIComponent(path).includes(repository.split('/').at(-1) ?? ''));

test.each(HOSTS)(
  '%s: pull requests are read without being asked for, and again what hooks did not tell',
  async (name) => {
    const project = unasked.get(name) as Stage;
    await eventually(project.state, (state) => state?.refreshed_at != null);
    expect(await project.rows()).toMatchObject([
      { number: 1, state: 'open', author: 'Dana', author_key: 'dana', awaited: ['erin'], is_in_review: true },
      { number: 2, state: 'merged' },
    ]);
    Object.assign(stored(project, 1), { state: 'merged', requested: [], at: ago(1) });
    project.simulator.pullRequests.push({ repository: project.repository, number: 4, isDraft: true, at: ago(2) });
    await project.refresh();
    expect(await project.rows()).toMatchObject([
      { number: 1, state: 'merged', awaited: [] },
      { number: 2 },
      { number: 4, is_draft: true },
    ]);
    const before = asked(project).length;
    await project.refresh();
    if (name !== 'host-b') expect(asked(project).length - before).toBeLessThanOrEqual(name === 'host-a' ? 1 : 2);
    expect(await project.state()).toMatchObject({ error: null, failures: 0 });
    expect(await project.nextInMinutes()).toBe(15);
  },
);

test('a quiet project is asked about every six hours', async () => {
  const project = await stage('host-a', [{ number: 1, openedAt: ago(60_000), at: ago(59_000) }]);
  await project.refresh();
  expect(await project.nextInMinutes()).toBe(360);
});

test('what a pull request changes, and how far it is from its base, is read from the mirror; of a fork from the host', async () => {
  const base = remote.lines(['rev-parse', 'main'])[0] ?? '';
  const head = remote.commit({
    branch: 'change',
    from: base,
    files: { 'app/a': '2', 'app/new': '1', 'app/old': null },
  });
  remote.commit({ files: { 'lib/b': '2' }, message: 'on main' });
  const fork = 'f'.repeat(40);
  const project = await stage(
    'host-a',
    [
      { number: 1, branch: 'change', headSha: head, at: ago(5) },
      { number: 2, headSha: fork, at: ago(5), ahead: 4, behind: 1, files: [{ path: 'lib/c', status: 'added' }] },
      { number: 3, headSha: '9'.repeat(40), at: ago(5) },
    ],
    { remoteUrl: remote.path },
  );
  const mirror = () => app.as(app.owner).get(200, `/api/projects/${encodeURIComponent(project.repository)}/mirror`);
  await eventually(mirror, ({ fetchedAt }) => fetchedAt !== null);
  await project.refresh();
  expect(await project.rows()).toMatchObject([
    {
      commits_ahead: 1,
      commits_behind: 1,
      files: { added: ['app/new'], deleted: ['app/old'], modified: ['app/a'], truncated: false },
      packages: ['app'],
      compared_head: head,
      details_error: null,
    },
    { commits_ahead: 4, commits_behind: 1, files: { added: ['lib/c'] }, packages: ['lib'] },
    { commits_ahead: null, files: null, details_error: 'host-a answered 404: Not Found' },
  ]);
  // A hook tells of a new commit: it is looked at without the host's list being read.
  const { secret } = await app
    .as(app.owner)
    .post(201, `/api/projects/${encodeURIComponent(project.repository)}/hook-secret`);
  const next = remote.commit({ branch: 'change', files: { 'lib/b': '3' } });
  const { requestedAt } = await app
    .as(app.owner)
    .post(202, `/api/projects/${encodeURIComponent(project.repository)}/mirror/fetch`);
  await eventually(mirror, ({ fetchedAt }) => fetchedAt >= requestedAt);
  const hook = pullRequestHook('host-a', {
    repository: project.repository,
    number: 1,
    branch: 'change',
    headSha: next,
    openedAt: ago(5),
    at: ago(0),
  });
  await sendHook(app, 202, sent(hook, secret));
  const before = asked(project).length;
  await app.sql('update pull_request_refresh set details_due_at = now() where project_id = ?', [project.id]);
  const [row] = await eventually(project.rows, ([first]) => first.compared_head === next);
  expect(row).toMatchObject({ commits_ahead: 2, commits_behind: 1, packages: ['app', 'lib'] });
  expect(
    asked(project)
      .slice(before)
      .filter(({ path }) => path.includes('/pulls?')),
  ).toEqual([]);
});

test('a host that fails, limits or hides itself is noted and asked later; what is known stays', async () => {
  const project = await stage('host-a', [{ number: 1, at: ago(5) }]);
  await project.refresh();
  const { refreshed_at: refreshedAt } = await project.state();
  const failures: [Json, string, number][] = [
    [{ status: 502, body: '<html>', headers: { 'content-type': 'text/html' } }, 'host-a answered 502', 15],
    [{ status: 200, body: '<html>Sign in</html>' }, 'host-a answered 200 with something else than a list', 30],
    [
      { status: 403, body: { message: 'API rate limit exceeded' }, headers: { 'retry-after': '3600' } },
      'host-a answered 403: API rate limit exceeded',
      60,
    ],
    [{ status: 401, body: { message: 'Bad credentials' } }, 'host-a answered 401: Bad credentials', 120],
  ];
  for (const [failure, error, minutes] of failures) {
    project.simulator.failNext(failure);
    await project.refresh();
    expect(await project.state()).toMatchObject({ error, refreshed_at: refreshedAt });
    expect(await project.nextInMinutes()).toBe(minutes);
  }
  expect(await project.rows()).toHaveLength(1);
  await project.refresh();
  expect(await project.state()).toMatchObject({ error: null, failures: 0 });
});

test('reviews are read where a list lacks them, and those that vanished at the host are removed', async () => {
  const project = await stage('host-a', [
    { number: 1, at: ago(30), reviews: [{ by: 'Erin', state: 'approved', at: ago(31) }] },
    { number: 2, at: ago(30), reviews: [] },
    { number: 3, at: ago(30), reviews: [], requested: ['frank'] },
  ]);
  await project.refresh();
  expect(await project.rows()).toMatchObject([
    { is_in_review: true, reviews: { erin: { state: 'approved' } } },
    { is_in_review: false, reviews: {} },
    { is_in_review: true },
  ]);
  const { simulator, repository, id } = project;
  simulator.pullRequests.splice(simulator.pullRequests.indexOf(stored(project, 2)), 1);
  await project.refresh();
  expect(await project.rows()).toHaveLength(3);
  await app.sql(`update pull_request set updated_at = now() - interval '1 hour' where project_id = ?`, [id]);
  await app.sql(`update pull_request_refresh set all_open_at = now() - interval '1 day' where project_id = ?`, [id]);
  await project.refresh();
  expect((await project.rows()).map(({ number }) => number)).toEqual([1, 3]);
  expect(
    asked(project)
      .filter(({ path }) => path.includes('/reviews'))
      .map(({ path }) => path.split('?')[0]),
  ).toEqual(expect.arrayContaining([`/repos/${repository}/pulls/1/reviews`, `/repos/${repository}/pulls/2/reviews`]));
});

test('without a credential nothing is asked; a new one has the host asked soon', async () => {
  const integrations = await app.as(app.owner).get(200, '/api/integrations');
  const integration = integrations.find(({ kind }: Json) => kind === 'host-c');
  await app.as(app.owner).delete(204, `/api/integrations/${integration.id}`);
  const project = await stage('host-c', [{ number: 1, at: ago(5) }]);
  await project.refresh();
  expect(await project.state()).toMatchObject({ error: 'There is no credential for host-c', refreshed_at: null });
  await app.as(app.owner).post(201, '/api/integrations', {
    kind: 'host-c',
    name: 'own',
    baseUrl: project.simulator.url,
    repositoryIdentifier: project.repository,
    credentials: hostCredentials,
  });
  expect(await project.nextInMinutes()).toBeLessThanOrEqual(0);
  await project.refresh();
  expect(await project.rows()).toHaveLength(1);
});
