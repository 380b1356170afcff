import { randomBytes } from 'node:crypto';
import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { insertBranch, insertCommits } from '../../../support/factories.ts';
import { idleEngine } from '../../../support/launch.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

let made = 0;
interface Built {
  projectId: string;
  repositoryIdentifier: string;
  /** The oldest first. */
  shas: string[];
  get: (status: number, path: string, query?: Record<string, string>) => Promise<Json>;
  preview: (status: number, query?: Record<string, string>) => Promise<Json>;
  run: (status: number, body?: object) => Promise<Json>;
}

async function built(configuration: object = {}, commits = 40): Promise<Built> {
  const repositoryIdentifier = `acme/built-${++made}`;
  const owner = app.as(app.owner);
  const { id: projectId } = await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration,
  });
  const shas = await insertCommits(app, projectId, commits);
  const get: Built['get'] = (status, path, query = {}) =>
    app.as(app.member).get(status, `/api/builds/${path}?${new URLSearchParams({ repositoryIdentifier, ...query })}`);
  const tip = shas.at(-1) ?? '';
  return {
    projectId,
    repositoryIdentifier,
    shas,
    get,
    preview: (status, query = {}) => get(status, 'preview', { branchName: 'main', commitId: tip, ...query }),
    run: (status, body = {}) =>
      app
        .as(app.member)
        .post(status, '/api/builds/run', { repositoryIdentifier, branchName: 'main', commitId: tip, ...body }),
  };
}

test('branches and the newest commits of a branch', async () => {
  const { shas, get } = await built();
  await expect(get(200, 'branches')).resolves.toEqual([
    { name: 'main', commitId: shas.at(-1), committedAt: expect.any(String), isDefault: true },
  ]);
  const commits = await get(200, 'commits', { branch: 'main' });
  expect(commits.map(({ sha }: Json) => sha)).toEqual(shas.toReversed().slice(0, 30));
  expect(commits[0]).toEqual({
    sha: shas.at(-1),
    message: 'Commit 40',
    authorName: 'Dana',
    authoredAt: '2026-01-01T00:40:00.000Z',
    baseRef: shas.at(-2),
  });
  await expect(get(200, 'commits', { branch: 'main', limit: '50' })).resolves.toMatchObject({ 39: { baseRef: null } });
  for (const branch of ['other', '--upload-pack=touch', '$(touch hacked)', 'a\nb', "'; drop table git_ref; --"])
    await get(404, 'commits', { branch });
  for (const limit of ['0', '51', 'x']) await get(400, 'commits', { branch: 'main', limit });
  await get(400, 'commits', { branch: 'main\0' });
});

test('the list of builds has pages', async () => {
  const { projectId, get } = await built({}, 1);
  const rows = Array.from({ length: 45 }, (_, n) => ({
    tenantId: app.tenant.id,
    projectId,
    commitSha: n.toString(16).padStart(40, '0'),
    commitDate: new Date(Date.UTC(2026, 0, 1, 0, Math.floor(n / 2))),
  }));
  await app.db.insertInto('build_status').values(rows).execute();
  const pages = await Promise.all(['0', '20', '40', '60'].map((offset) => get(200, 'status', { offset })));
  expect(pages.map(({ builds, total, hasMore }) => [builds.length, total, hasMore])).toEqual([
    [20, 45, true],
    [20, 45, true],
    [5, 45, false],
    [0, 45, false],
  ]);
  const ids = pages.flatMap(({ builds }) => builds.map(({ commitId }: Json) => commitId));
  expect(new Set(ids).size).toBe(45);
  await expect(get(200, 'status', { domain: 'unknown' })).resolves.toEqual({ builds: [], total: 0, hasMore: false });
  for (const query of [{ limit: '101' }, { offset: '-1' }, { repositoryIdentifier: 'acme/nobody' }])
    await get(400, 'status', query);
});

test('a preview has one key for one request, whatever the order of its lists; a refresh is its next generation', async () => {
  const { preview, get, repositoryIdentifier } = await built({ domains: ['core'] });
  const first = await preview(200, { forceBuildDomains: 'core,sales' });
  expect(first).toMatchObject({
    workflowKind: 'build-on-merge',
    excluded: false,
    dispatchStatus: 'unavailable',
    existingRun: null,
    impact: { status: 'pending', generation: 1, impactedDomains: [], computedAt: null },
  });
  const { previewKey } = first.impact;
  expect((await preview(200, { forceBuildDomains: 'sales, core' })).impact).toEqual(first.impact);
  expect((await preview(200, {})).impact.previewKey).not.toBe(previewKey);
  const again = await preview(200, { forceBuildDomains: 'core,sales', refreshImpact: 'true' });
  expect(again.impact).toMatchObject({ previewKey, generation: 2 });

  const computedAt = '2026-03-02T09:30:00.000Z';
  const publish = (status: number, more: object, as = app.application) =>
    app.as(as).post(status, '/api/builds/impact-preview/results', {
      repositoryIdentifier,
      previewKey,
      generation: 2,
      status: 'available',
      impactedDomains: [],
      computedAt,
      ...more,
    });
  await publish(204, { generation: 1, impactedDomains: [{ domainName: 'old', impactedPackages: [] }] });
  await expect(get(200, 'impact-preview', { previewKey })).resolves.toMatchObject({
    status: 'pending',
    impactedDomains: [],
  });
  await publish(400, { generation: 3 });
  await publish(404, { previewKey: '0'.repeat(32) });
  await publish(403, {}, app.member);
  await publish(400, {}, app.strangerApplication);
  const impactedDomains = [{ domainName: 'core', impactedPackages: ['app'] }];
  await publish(204, { impactedDomains });
  await publish(204, { impactedDomains });
  const impact = await get(200, 'impact-preview', { previewKey });
  expect(impact).toEqual({
    status: 'available',
    previewKey,
    generation: 2,
    jobId: expect.stringContaining(previewKey),
    impactedDomains,
    computedAt,
    message: null,
  });
  await expect(preview(200, { forceBuildDomains: 'core,sales' })).resolves.toMatchObject({
    impact,
    plannedTargets: [{ domainName: 'core', packages: ['app'], environments: [] }],
  });
});

test('targets are the active environments of the branch, of the categories asked for', async () => {
  const { preview, repositoryIdentifier } = await built({ cascade: [{ from: 'develop', to: 'main' }] });
  for (const [name, category, branch] of [
    ['dev', 'dev', '**'],
    ['uat', 'test', 'main'],
    ['other', 'test', 'release/*'],
  ]) {
    await app.as(app.owner).post(201, '/api/environments', { repositoryIdentifier, name, category, branch });
  }
  const { impact, cascadeSourceBranch } = await preview(200);
  expect(cascadeSourceBranch).toBe('develop');
  const { previewKey, generation } = impact;
  const result = {
    repositoryIdentifier,
    previewKey,
    generation,
    status: 'available',
    impactedDomains: [{ domainName: 'core', impactedPackages: [] }],
    computedAt: new Date(),
  };
  await app.as(app.owner).post(204, '/api/builds/impact-preview/results', result);
  const environments = async (query = {}) => (await preview(200, query)).plannedTargets[0].environments;
  await expect(environments()).resolves.toEqual(['dev', 'uat']);
  await expect(environments({ targetEnvironmentTypes: 'test,release' })).resolves.toEqual(['uat']);
  await preview(400, { targetEnvironmentTypes: 'production' });
});

test('a build is started once for a commit, however many ask for it at the same time', async () => {
  const { run, preview, shas, repositoryIdentifier } = await built({
    buildPipeline: { id: 'build.yml', inputs: { target: 'ci' } },
  });
  const answers = await Promise.all(
    Array.from({ length: 6 }, async (_, index) => {
      const { status, body } = await app.as(app.owner).send('POST', '/api/builds/run', {
        body: {
          repositoryIdentifier,
          branchName: 'main',
          commitId: index % 2 === 0 ? shas.at(-1) : shas.at(-1)?.slice(0, 12),
        },
      });
      return { status, ...body };
    }),
  );
  expect(answers.map(({ status, outcome }) => `${status} ${outcome}`).toSorted()).toEqual([
    ...Array.from({ length: 5 }, () => '200 already_active'),
    '202 started',
  ]);
  const [executionId] = new Set(answers.map((answer) => answer.executionId));
  expect(new Set(answers.map((answer) => answer.executionId)).size).toBe(1);
  const { payload, taskType } = await app.as(app.owner).get(200, `/api/flows/runs/${executionId}`);
  expect({ payload, taskType }).toMatchObject({
    taskType: 'build',
    payload: {
      branch: 'main',
      commitId: shas.at(-1),
      pipeline: { id: 'build.yml', ref: 'main', inputs: { target: 'ci' } },
    },
  });
  await expect(preview(200)).resolves.toMatchObject({
    dispatchStatus: 'active',
    existingExecutionId: executionId,
    existingRun: { executionId, status: 'Waiting' },
  });

  await app.sql(`update flow_run set status = 'succeeded', display_status = 'Completed' where id = ?`, [executionId]);
  await expect(run(200)).resolves.toMatchObject({ outcome: 'already_completed', executionId });
  await app.sql(`update flow_run set status = 'failed', display_status = 'Failed' where id = ?`, [executionId]);
  await expect(preview(200)).resolves.toMatchObject({ dispatchStatus: 'available', existingRun: null });
  const again = await run(202);
  expect(again.outcome).toBe('started');
  expect(again.executionId).not.toBe(executionId);
});

test('only a commit of the branch is built, and only of a branch that the project builds', async () => {
  const { projectId, run, preview, shas } = await built({
    branches: ['release/*'],
    buildPipeline: { id: 'build.yml' },
  });
  const unknown = randomBytes(20).toString('hex');
  for (const body of [
    { commitId: unknown },
    { branchName: 'other' },
    { branchName: '--upload-pack=touch' },
    { branchName: '$(touch hacked)' },
    { commitId: 'HEAD' },
    { commitId: shas[0]?.slice(0, 4) },
    { branchName: '' },
  ]) {
    await expect(run(400, body)).resolves.toMatchObject({ code: 'invalid_request' });
    await expect(preview(400, body as Record<string, string>)).resolves.toMatchObject({ code: 'invalid_request' });
  }
  await expect(run(202, { commitId: shas[0] })).resolves.toMatchObject({ outcome: 'started' });
  await insertBranch(app, projectId, 'feature/1', shas.at(-1) ?? '');
  await expect(run(200, { branchName: 'feature/1' })).resolves.toMatchObject({
    outcome: 'excluded',
    executionId: null,
    message: expect.stringContaining('release/*'),
  });
  await expect(preview(200, { branchName: 'feature/1' })).resolves.toMatchObject({
    excluded: true,
    dispatchStatus: 'excluded',
  });
});

test('a build that nothing executes is refused at once', async () => {
  const { run, preview } = await built();
  await expect(preview(200)).resolves.toMatchObject({ dispatchStatus: 'unavailable' });
  await expect(run(409)).resolves.toMatchObject({ code: 'flow_unavailable', detail: expect.stringContaining('build') });
});

test('what another tenant has is unknown', async () => {
  const { repositoryIdentifier, shas } = await built();
  const stranger = app.as(app.stranger);
  const commit = { repositoryIdentifier, branchName: 'main', commitId: shas[0] ?? '' };
  await stranger.get(400, `/api/builds/preview?${new URLSearchParams(commit)}`);
  await stranger.post(400, '/api/builds/run', commit);
  await stranger.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  await expect(
    stranger.get(200, `/api/builds/branches?${new URLSearchParams({ repositoryIdentifier })}`),
  ).resolves.toEqual([]);
  await stranger.post(400, '/api/builds/run', commit);
});
