import { UserActivity } from '../../../../api/people/user-activity/user-activity.schemas.ts';
import { buildHook, type Host, HOSTS, sent } from '../../../simulators/host-hooks.ts';
import { pullRequestHook, reviewHook, type SimulatedPullRequest } from '../../../simulators/pull-request-hooks.ts';
import { type Caller, type TestApp, testApp } from '../../../support/app.ts';
import type { Bearer, Json } from '../../../support/client.ts';
import { hooked, type HookedProject, sendHook } from '../../../support/hooked.ts';
import { idleEngine } from '../../../support/launch.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

/** A whole second, as hosts tell times; the same for all of the file. */
const NOW_MS = Math.floor(Date.now() / 1_000) * 1_000;
const ago = (minutes: number) => new Date(NOW_MS - minutes * 60_000);
const activity = (caller: Bearer, query: Record<string, string> = {}, status = 200): Promise<Json> =>
  app.as(caller).get(status, `/api/users/me/activity?${new URLSearchParams(query)}`);
const numbers = (list: Json[]) => list.map(({ number }) => number);
const shownIn = ({ pullRequests }: Json) =>
  Object.fromEntries(Object.entries(pullRequests).map(([section, list]) => [section, numbers(list as Json[])]));

async function link(caller: Caller, provider: Host, username: string): Promise<void> {
  await app.sql(
    `insert into user_identity (provider, username, external_id, user_id)
     select ?, ?, ?, id from user_account where email = ?`,
    [provider, username, `${provider}-${username}`, caller.email],
  );
}
const tell = (project: HookedProject, request: Omit<SimulatedPullRequest, 'repository'>) =>
  sendHook(
    app,
    202,
    sent(pullRequestHook(project.host, { repository: project.repository, ...request }), project.secret),
  );

test.each(HOSTS)('%s: pull requests are shown where they belong, to their author and to who is asked', async (host) => {
  const project = await hooked(app, host);
  const own = { author: `Dana-${host}`, openedAt: ago(600) };
  const other = { author: 'erin', openedAt: ago(600) };
  await tell(project, { ...own, number: 1, at: ago(9) });
  await tell(project, { ...own, number: 2, isDraft: true, requested: ['erin'], at: ago(8) });
  await tell(project, { ...own, number: 3, requested: ['erin'], at: ago(7) });
  await tell(project, { ...own, number: 4, state: 'merged', at: ago(6) });
  await tell(project, { ...own, number: 5, state: 'closed', at: ago(5) });
  await tell(project, { ...other, number: 6, requested: [`DANA-${host}`], at: ago(4) });
  await tell(project, { ...other, number: 7, requested: ['frank'], at: ago(3) });
  await tell(project, { ...other, number: 8, requested: [`dana-${host}`], state: 'merged', at: ago(2) });
  if (host === 'host-a') {
    const review = reviewHook(
      { repository: project.repository, ...own, number: 9, at: ago(1) },
      { by: 'erin', state: 'approved' },
    );
    await sendHook(app, 202, sent(review, project.secret));
    await tell(project, { ...own, number: 9, at: ago(1) });
  } else await tell(project, { ...own, number: 9, reviewed: { erin: 'approved' }, at: ago(1) });
  await link(app.member, host, `dana-${host}`);
  const { identity, repositories } = await activity(app.member, { repositoryIdentifier: project.repository });
  expect(identity).toMatchObject({ email: app.member.email, providerLinked: true, source: 'linked', hint: null });
  expect(Object.values(identity.usernames)).toContain(`dana-${host}`);
  expect(repositories).toHaveLength(1);
  expect(shownIn(repositories[0])).toEqual({
    open: [2, 1],
    inReview: [9, 3],
    mergedRecently: [4],
    closedRecently: [5],
    awaitingMyReview: [6],
  });
  const [merged] = repositories[0].pullRequests.mergedRecently;
  expect(merged).toMatchObject({ state: 'closed', merged: true, elapsedTime: 594 * 60_000, author: `Dana-${host}` });
  const [draft, opened] = repositories[0].pullRequests.open;
  expect(draft.metadata).toMatchObject({ isDraft: true, reviewers: [{ name: 'erin', state: 'requested' }] });
  expect(opened).toMatchObject({
    state: 'open',
    merged: false,
    build: null,
    checkStatus: null,
    reviewEnvironment: null,
  });
  expect(opened.elapsedTime).toBeGreaterThanOrEqual(600 * 60_000);
  // Nobody else's account shows them.
  const owners = await activity(app.owner, { repositoryIdentifier: project.repository });
  expect(Object.values(shownIn(owners.repositories[0])).flat()).toEqual([]);
});

test('of those that have ended, the newest twenty of the last 14 days are shown', async () => {
  const project = await hooked(app, 'host-a');
  const old = { author: 'gus', openedAt: ago(6 * 1_440) };
  for (let number = 1; number <= 22; number++)
    await tell(project, { ...old, number, state: 'merged', at: ago(200 - number) });
  await tell(project, { ...old, number: 30, state: 'closed', at: ago(5) });
  await app.sql(
    `update pull_request set ended_at = now() - interval '14 days 1 minute' where number = 30 and author = 'gus'`,
  );
  const { repositories } = await activity(app.owner, {
    repositoryIdentifier: project.repository,
    githubUsername: 'gus',
  });
  const { mergedRecently, closedRecently } = shownIn(repositories[0]);
  expect(mergedRecently).toEqual(Array.from({ length: 20 }, (_, index) => 22 - index));
  expect(closedRecently).toEqual([]);
});

test('names may be given instead of linked ones, and are not stored', async () => {
  const project = await hooked(app, 'host-b');
  await tell(project, { number: 1, author: 'Hanna@Example.com', at: ago(5) });
  const query = { repositoryIdentifier: project.repository };
  const unknown = await activity(app.owner, query);
  expect(unknown.identity).toMatchObject({
    providerLinked: false,
    source: 'none',
    usernames: { github: null, azureDevops: null, gitlab: null },
    hint: expect.stringContaining('adoUsername'),
  });
  expect(Object.values(shownIn(unknown.repositories[0])).flat()).toEqual([]);
  for (const caller of [app.owner, app.application]) {
    const named = await activity(caller, { ...query, adoUsername: 'hanna@example.COM' });
    expect(named.identity).toMatchObject({
      source: 'override',
      hint: null,
      usernames: { azureDevops: 'hanna@example.com' },
    });
    expect(shownIn(named.repositories[0]).open).toEqual([1]);
  }
  await expect(activity(app.owner, query)).resolves.toMatchObject({ identity: { source: 'none' } });
  await expect(activity(app.application, query)).resolves.toMatchObject({
    identity: { hint: expect.stringContaining('application token') },
  });
  for (const name of ['', ' ', 'a'.repeat(256), 'a\nb'])
    await activity(app.owner, { ...query, githubUsername: name }, 400);
});

test('repositories are selected by repeated or comma-separated identifiers; an unregistered one is refused', async () => {
  const projects = [await hooked(app, 'host-a'), await hooked(app, 'host-b'), await hooked(app, 'host-c')];
  const [one = '', two = '', three = ''] = projects.map(({ repository }) => repository);
  const ask = (query: string, status = 200): Promise<Json> =>
    app.as(app.owner).get(status, `/api/users/me/activity${query}`);
  const named = async (query: string) => {
    const { repositories } = await ask(query);
    return repositories.map(({ repositoryIdentifier }: Json) => repositoryIdentifier);
  };
  await expect(
    named(`?repositoryIdentifier=${one},${two}&repositoryIdentifier=${three}&repositoryIdentifier=${one}`),
  ).resolves.toEqual([one, two, three].toSorted());
  await expect(named('')).resolves.toEqual(expect.arrayContaining([one, two, three]));
  const foreign = await hooked(app, 'host-a', { owner: app.stranger, repository: 'acme/of-others' });
  for (const unknown of ['acme/unknown', foreign.repository])
    await expect(ask(`?repositoryIdentifier=${one},${unknown}`, 400)).resolves.toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: '#/query/repositoryIdentifier', detail: expect.stringContaining(unknown) }],
    });
  const many = (count: number) => Array.from({ length: count }, () => one).join(',');
  await ask(`?repositoryIdentifier=${many(50)}`);
  await ask(`?repositoryIdentifier=${many(51)}`, 400);
  await ask('?repositoryIdentifier=nothing', 400);
  await ask('?since=2026-01-01', 400);
});

test('a token that is limited to projects sees those alone', async () => {
  const [own, other] = [await hooked(app, 'host-a'), await hooked(app, 'host-a')];
  for (const project of [own, other]) await tell(project, { number: 1, author: 'ida', at: ago(5) });
  const limited = await app
    .as(app.owner)
    .post(201, '/api/application-tokens', { name: 'limited', projects: [own.repository] });
  const { repositories } = await activity(limited, { githubUsername: 'ida' });
  expect(repositories).toMatchObject([
    { repositoryIdentifier: own.repository, pullRequests: { open: [{ number: 1 }] } },
  ]);
  await activity(limited, { githubUsername: 'ida', repositoryIdentifier: other.repository }, 400);
});

test('what is shown is stale until the host was read, and when that was long ago and no hook came since', async () => {
  const project = await hooked(app, 'host-a');
  const stale = async () =>
    (await activity(app.owner, { repositoryIdentifier: project.repository })).repositories[0].stale;
  const set = (refreshed: string, hook: string | null) =>
    app.sql(
      `update pull_request_refresh r set refreshed_at = now() - ?::interval, hook_at = now() - ?::interval
       from project p where p.id = r.project_id and p.identifier = ?`,
      [refreshed, hook, project.repository],
    );
  await expect(stale()).resolves.toBe(true);
  await tell(project, { number: 1, at: ago(5) });
  await expect(stale()).resolves.toBe(true);
  await set('44 minutes', '2 hours');
  await expect(stale()).resolves.toBe(false);
  await set('46 minutes', '2 hours');
  await expect(stale()).resolves.toBe(true);
  await set('46 minutes', '45 minutes');
  await expect(stale()).resolves.toBe(false);
  await set('46 minutes', null);
  await expect(stale()).resolves.toBe(true);
});

test('builds of its commit, files and domains are shown', async () => {
  const project = await hooked(app, 'host-a');
  const { repository } = project;
  await app.as(app.owner).patch(200, `/api/projects/${encodeURIComponent(repository)}`, {
    configuration: {
      domains: [
        { name: 'sales', packages: ['app'] },
        { name: 'service', packages: ['lib'] },
      ],
    },
  });
  const headSha = 'c'.repeat(40);
  await tell(project, { number: 1, author: 'jo', headSha, labels: ['bug'], at: ago(5) });
  await tell(project, { number: 2, author: 'jo', at: ago(6) });
  await sendHook(
    app,
    202,
    sent(buildHook('host-a', { repository, commitId: headSha, outcome: 'failed' }), project.secret),
  );
  await app.sql(
    `update pull_request set files = '{"added":["app/a"],"deleted":[],"modified":["app/b"],"truncated":true}', packages = '{app}',
       commits_ahead = 3, commits_behind = 1 where author = 'jo' and number = 1`,
  );
  await app.sql(`update pull_request set details_error = 'gone' where author = 'jo' and number = 2`);
  const shown = await activity(app.owner, { repositoryIdentifier: repository, githubUsername: 'jo' });
  expect(UserActivity.parse(shown)).toEqual(shown);
  const { repositories } = shown;
  expect(repositories[0].pullRequests.open).toMatchObject([
    {
      number: 1,
      labels: [{ key: 'bug', description: 'Something', color: '#d73a4a' }],
      files: { added: ['app/a'], deleted: [], modified: ['app/b'], truncated: true },
      commitsAhead: 3,
      commitsBehind: 1,
      checkStatus: 'completed',
      checkConclusion: 'failure',
      buildActionLink: expect.stringMatching(/^https:/),
      validationActionLink: null,
      build: {
        commitId: headSha,
        overallState: 'failed',
        ciService: 'host-a',
        domains: [{ domain: 'sales', state: 'failed' }],
      },
      error: null,
    },
    { number: 2, files: null, build: null, error: 'gone' },
  ]);
});
