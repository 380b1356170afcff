import { randomBytes } from 'node:crypto';
import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { idleEngine } from '../../../support/launch.ts';
import {
  buildHook,
  type BuildOutcome,
  type Host,
  type HookRequest,
  HOSTS,
  pushHook,
  sent,
} from '../../../simulators/host-hooks.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

const sha = () => randomBytes(20).toString('hex');
const REPOSITORY = { 'host-a': 'acme/shop', 'host-b': 'acme/sales/shop', 'host-c': 'group/sub/shop' } as const;
/** Azure DevOps tells of builds that are over only. */
const OUTCOMES: Record<Host, BuildOutcome[]> = {
  'host-a': ['queued', 'running', 'succeeded'],
  'host-b': ['succeeded'],
  'host-c': ['queued', 'running', 'succeeded'],
};
let made = 0;

interface HookedProject {
  host: Host;
  repository: string;
  secret: string;
  url: string;
}

async function hooked(host: Host, owner = app.owner, repository?: string): Promise<HookedProject> {
  const identifier = repository ?? `${REPOSITORY[host]}-${++made}`;
  await app
    .as(owner)
    .post(201, '/api/projects', { identifier, platform: host, remoteUrl: 'https://git.example.com/shop.git' });
  const { secret, url } = await app.as(owner).post(201, `/api/projects/${encodeURIComponent(identifier)}/hook-secret`);
  return { host, repository: identifier, secret, url };
}

const send = async (status: number, { path, headers, rawBody }: HookRequest): Promise<Json> =>
  (await app.as().request(status, 'POST', path, { headers, rawBody })).body;
const builds = async (repository: string, owner = app.owner): Promise<Json[]> =>
  (await app.as(owner).get(200, `/api/builds/status?${new URLSearchParams({ repositoryIdentifier: repository })}`))
    .builds;
const told = async (repository: string): Promise<string[]> => {
  const { items } = await app
    .as(app.owner)
    .get(200, `/api/audit?${new URLSearchParams({ repositoryIdentifier: repository, limit: '100' })}`);
  return items
    .map(({ action }: Json) => action)
    .filter((action: string) => action.startsWith('build.'))
    .toReversed();
};

test.each(HOSTS)(
  '%s: a push is listed and has the repository fetched; states of its build are shown and announced once',
  async (host) => {
    const { repository, secret } = await hooked(host);
    await app.as(app.owner).post(201, '/api/webhooks', {
      event: 'build.completed',
      name: repository,
      config: { url: 'http://127.0.0.1:9/', filter: { 'data.repositoryIdentifier': repository } },
    });
    const commitId = sha();
    const place = { repository, commitId, branch: 'feature/größer' };
    const asked = () =>
      app.sql<{ requested_at: string }>(
        'select m.requested_at from git_mirror m join project p on p.id = m.project_id where p.identifier = ?',
        [repository],
      );
    const before = await asked();
    await expect(send(202, sent(pushHook(host, { ...place, message: 'Größer\n\nmore' }), secret))).resolves.toEqual({
      outcome: 'accepted',
      events: 1,
    });
    expect(await asked()).not.toEqual(before);
    await expect(builds(repository)).resolves.toMatchObject([
      {
        commitId,
        commitMessage: 'Größer\n\nmore',
        commitAuthor: 'Dana Döring',
        ciInfo: null,
        workflowStatus: { state: 'pending', branch: place.branch },
      },
    ]);

    const start = Date.now() - 60_000;
    for (const [index, outcome] of OUTCOMES[host].entries()) {
      await send(202, sent(buildHook(host, { ...place, outcome, at: new Date(start + index * 1_000) }), secret));
    }
    const [build] = await builds(repository);
    expect(build).toMatchObject({
      commitId,
      ciInfo: {
        service: host,
        name: 'ci',
        buildUrl: expect.stringMatching(/^https:/),
        branch: place.branch,
        isPr: false,
        prNumber: null,
      },
      workflowStatus: { state: 'succeeded', builds: { ci: { state: 'succeeded' } } },
    });
    expect(build.commitTimestamp).toBe(Date.parse(build.commitDate));
    await expect(told(repository)).resolves.toEqual(
      host === 'host-b' ? ['build.completed'] : ['build.started', 'build.completed'],
    );
    const deliveries = await app.sql<{ payload: Json }>(
      'select d.payload from webhook_delivery d join webhook w on w.id = d.webhook_id where w.name = ?',
      [repository],
    );
    expect(deliveries).toMatchObject([
      { payload: { repositoryIdentifier: repository, commitSha: commitId, branch: place.branch, status: 'completed' } },
    ]);
  },
);

test.each(HOSTS)('%s: a hook without a proof, or with a wrong one, is 401 and leaves no trace', async (host) => {
  const { repository, secret } = await hooked(host);
  const hook = pushHook(host, { repository, commitId: sha() });
  const { path, headers, rawBody } = sent(hook, secret);
  const stranger = await hooked(host);
  await send(401, { path, headers: hook.headers, rawBody });
  await send(401, sent(hook, `${secret}x`));
  await send(401, sent(hook, stranger.secret));
  await send(401, sent(pushHook(host, { repository: 'acme/nobody/knows', commitId: sha() }), secret));
  await send(401, { path: path.replace(host, host === 'host-a' ? 'host-c' : 'host-a'), headers, rawBody });
  if (host === 'host-a')
    await send(401, { path, headers, rawBody: rawBody.replace('refs/heads/main', 'refs/heads/mine') });
  await send(404, { path: '/api/hooks/host-d', headers, rawBody });
  await expect(builds(repository)).resolves.toEqual([]);
  await send(202, { path, headers, rawBody });
});

test('host-c: a signature by its signing token is checked instead of the secret token', async () => {
  const { repository, secret } = await hooked('host-c');
  const hook = sent(pushHook('host-c', { repository, commitId: sha() }), secret, { isSigned: true });
  await send(401, { ...hook, rawBody: hook.rawBody.replace('refs/heads/main', 'refs/heads/mine') });
  await send(401, {
    ...hook,
    headers: { ...hook.headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 600) },
  });
  await send(401, { ...hook, headers: { ...hook.headers, 'webhook-signature': 'v1,x', 'x-gitlab-token': secret } });
  await expect(send(202, hook)).resolves.toEqual({ outcome: 'accepted', events: 1 });
});

test('the secret before the newest is good for a while, the one before that no more; only owners get one', async () => {
  const { repository, secret, url } = await hooked('host-a');
  expect(url).toBe(`http://quayside.test/api/hooks/host-a?repositoryIdentifier=${encodeURIComponent(repository)}`);
  const address = `/api/projects/${encodeURIComponent(repository)}/hook-secret`;
  await app.as(app.member).post(403, address);
  await app.as(app.stranger).post(404, address);
  await app.as(app.owner).post(400, address, { overlapHours: 169 });
  const fresh = (status: number, by: string) =>
    send(status, sent(pushHook('host-a', { repository, commitId: sha() }), by));
  const ofRow = 'from project p where p.id = s.project_id and p.identifier = ?';

  const { secret: second } = await app.as(app.owner).post(201, address);
  await fresh(202, secret);
  await fresh(202, second);
  await app.sql(`update hook_secret s set previous_until = now() ${ofRow}`, [repository]);
  await fresh(401, secret);

  const { secret: third } = await app.as(app.owner).post(201, address);
  await fresh(401, secret);
  await fresh(202, second);
  const { secret: fourth } = await app.as(app.owner).post(201, address, { overlapHours: 0 });
  await fresh(401, third);
  await fresh(202, fourth);
  const [row] = await app.sql<{ kept: string }>(
    'select row_to_json(s)::text as kept from hook_secret s join project p on p.id = s.project_id where p.identifier = ?',
    [repository],
  );
  for (const text of [secret, second, third, fourth]) expect(row?.kept).not.toContain(text);
});

test.each(HOSTS)(
  '%s: a hook that comes again, under its own name or another, is taken once; an old one is not taken',
  async (host) => {
    const { repository, secret } = await hooked(host);
    const hook = buildHook(host, { repository, commitId: sha(), outcome: 'failed' });
    const all = await Promise.all(Array.from({ length: 5 }, () => send(202, sent(hook, secret))));
    expect(all.map(({ outcome }) => outcome).toSorted()).toEqual(['accepted', 'known', 'known', 'known', 'known']);
    await expect(
      send(
        202,
        sent(
          { ...hook, headers: { ...hook.headers, 'x-github-delivery': 'other', 'idempotency-key': 'other' } },
          secret,
        ),
      ),
    ).resolves.toEqual({ outcome: 'known', events: 0 });
    await expect(told(repository)).resolves.toEqual(['build.failed']);
    const late = buildHook(host, {
      repository,
      commitId: sha(),
      outcome: 'succeeded',
      at: new Date(Date.now() - 8 * 86_400_000),
    });
    await expect(send(400, sent(late, secret))).resolves.toMatchObject({ code: 'invalid_request' });
    await expect(builds(repository)).resolves.toHaveLength(1);
  },
);

test('of hooks out of order the latest of the host counts, whichever comes last', async () => {
  const { repository, secret } = await hooked('host-a');
  const commitId = sha();
  const start = Date.now() - 60_000;
  const tell = (outcome: BuildOutcome, seconds: number, name = 'ci') =>
    send(
      202,
      sent(buildHook('host-a', { repository, commitId, outcome, name, at: new Date(start + seconds * 1_000) }), secret),
    );
  const state = async () => (await builds(repository))[0].workflowStatus.state;
  await tell('succeeded', 2);
  await tell('running', 1);
  await tell('queued', 0);
  await send(202, sent(pushHook('host-a', { repository, commitId, at: new Date(start) }), secret));
  await expect(state()).resolves.toBe('succeeded');
  // Within one second the host's times are the same: what is further counts.
  await tell('running', 5);
  await tell('failed', 5);
  await tell('running', 5, 'lint');
  await expect(state()).resolves.toBe('running');
  await tell('succeeded', 6, 'lint');
  await expect(state()).resolves.toBe('failed');
  await expect(told(repository)).resolves.toEqual([
    'build.completed',
    'build.started',
    'build.failed',
    'build.started',
    'build.failed',
  ]);
});

test('hooks about the same commits, all at once, are all taken', async () => {
  const { repository, secret } = await hooked('host-a');
  const commits = [sha(), sha()];
  const names = Array.from({ length: 10 }, (_, index) => `job ${index}`);
  await Promise.all(
    names.flatMap((name) =>
      commits.map((commitId) =>
        send(202, sent(buildHook('host-a', { repository, commitId, outcome: 'succeeded', name }), secret)),
      ),
    ),
  );
  const listed = await builds(repository);
  expect(listed.map(({ workflowStatus }) => Object.keys(workflowStatus.builds).toSorted())).toEqual([names, names]);
});

test('a repository that two tenants have is told to the tenant whose secret it is', async () => {
  const repository = `acme/shared-${++made}`;
  const [ours, theirs] = [
    await hooked('host-a', app.owner, repository),
    await hooked('host-a', app.stranger, repository),
  ];
  const [first, second] = [sha(), sha()];
  await send(202, sent(pushHook('host-a', { repository, commitId: first }), ours.secret));
  await send(202, sent(pushHook('host-a', { repository: repository.toUpperCase(), commitId: second }), theirs.secret));
  await expect(builds(repository)).resolves.toMatchObject([{ commitId: first }]);
  await expect(builds(repository, app.stranger)).resolves.toMatchObject([{ commitId: second }]);
  for (const path of [
    'status',
    'branches',
    'commits?branch=main',
    'impact-preview?previewKey=0123456789abcdef0123456789abcdef',
  ]) {
    const query = new URLSearchParams({ repositoryIdentifier: (await hooked('host-a')).repository });
    await app.as(app.stranger).get(400, `/api/builds/${path}${path.includes('?') ? '&' : '?'}${query}`);
  }
});

test('where the host names no repository, the address does', async () => {
  const { repository, secret } = await hooked('host-b');
  const hook = buildHook('host-b', { repository, commitId: sha(), outcome: 'succeeded' });
  const { path, ...rest } = sent(
    {
      ...hook,
      body: JSON.parse(JSON.stringify(hook.body), (key, value: unknown) => (key === 'repository' ? undefined : value)),
    },
    secret,
  );
  await send(401, { path, ...rest });
  await send(401, { path: `${path}?repositoryIdentifier=acme%2Fnobody`, ...rest });
  await expect(
    send(202, { path: `${path}?${new URLSearchParams({ repositoryIdentifier: repository })}`, ...rest }),
  ).resolves.toEqual({ outcome: 'accepted', events: 1 });
});

test('tags and removed branches have the repository fetched; other events, and what makes no sense, change nothing', async () => {
  const { repository, secret } = await hooked('host-a');
  const plain = (event: string, body: object) =>
    sent(
      {
        host: 'host-a',
        headers: { 'x-github-event': event, 'x-github-delivery': sha() },
        body: { repository: { full_name: repository }, ...body },
      },
      secret,
    );
  await expect(send(202, plain('push', { ref: 'refs/tags/app_v1.0.0.1', after: sha() }))).resolves.toEqual({
    outcome: 'accepted',
    events: 0,
  });
  await expect(
    send(202, plain('push', { ref: 'refs/heads/gone', after: '0'.repeat(40), deleted: true })),
  ).resolves.toEqual({ outcome: 'accepted', events: 0 });
  await expect(send(202, plain('ping', { zen: 'Keep it logically awesome.' }))).resolves.toEqual({
    outcome: 'ignored',
    events: 0,
  });
  await expect(send(202, plain('status', { sha: '--upload-pack=touch', state: 'success' }))).resolves.toEqual({
    outcome: 'ignored',
    events: 0,
  });
  await expect(send(202, plain('workflow_run', { workflow_run: [null, { head_sha: 7 }] }))).resolves.toEqual({
    outcome: 'ignored',
    events: 0,
  });
  const hostile = {
    ref: 'refs/heads/--upload-pack=$(touch hacked)\n;',
    after: sha(),
    head_commit: {
      message: `x${'\u{1f600}'.repeat(1_500)}`,
      author: { name: '\u202e' },
      timestamp: '+275760-01-01T00:00:00Z',
    },
  };
  await send(202, plain('push', hostile));
  await send(
    202,
    plain('status', {
      sha: hostile.after,
      state: 'success',
      context: `__proto__`,
      target_url: 'javascript:alert(1)',
      updated_at: new Date().toISOString(),
    }),
  );
  const [build] = await builds(repository);
  expect(build).toMatchObject({
    commitId: hostile.after,
    ciInfo: { buildUrl: null, branch: expect.stringContaining('--upload-pack') },
    workflowStatus: { state: 'succeeded' },
  });
});

test('a body of 10 MB is 413, whatever it is; what is no JSON is 400, what does not say that it is JSON 415', async () => {
  const { repository, secret } = await hooked('host-a');
  const huge = sent(
    {
      ...pushHook('host-a', { repository, commitId: sha() }),
      body: { repository: { full_name: repository }, padding: 'x'.repeat(10 * 1024 * 1024) },
    },
    secret,
  );
  const answer = await app
    .as()
    .send('POST', huge.path, { headers: huge.headers, rawBody: huge.rawBody })
    .catch((error: Error) => error);
  // The server may close while the client still sends.
  if (!(answer instanceof Error)) expect(answer.status).toBe(413);
  await send(400, { ...huge, rawBody: '{' });
  await send(400, { ...huge, rawBody: '{"a": "\\u0000"}' });
  await send(400, { ...huge, rawBody: '['.repeat(100_000) });
  await send(415, {
    ...huge,
    headers: { ...huge.headers, 'content-type': 'application/x-www-form-urlencoded' },
    rawBody: 'payload=%7B%7D',
  });
  await expect(builds(repository)).resolves.toEqual([]);
});
