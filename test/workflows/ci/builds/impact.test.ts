import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { forgetFetch, mirrored, type MirroredProject } from '../../../support/mirrored.ts';
import { newRepository, removeRepositories, type TestRepository } from '../../../support/repository.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';
import { buildHook, type HostHook, pushHook, sent } from '../../../simulators/host-hooks.ts';

const CONFIGURATION = {
  packagePaths: { ui: 'ui', api: 'api', log: 'log' },
  domains: [{ name: 'sales', packages: ['ui', 'api'] }, 'rest'],
};

let app: TestApp;
let worker: TestWorker;
const folder = mkdtempSync(join(tmpdir(), 'quayside-builds-'));
beforeAll(async () => {
  const commandsFile = join(folder, 'commands.json');
  writeFileSync(
    commandsFile,
    JSON.stringify({ build: { program: '/bin/echo', args: ['{payload.branch}', '{payload.commitId}'] } }),
  );
  app = await testApp({ env: { ALLOW_LOCAL_GIT: 'true', COMMANDS_FILE: commandsFile } });
  worker = await startWorker(app, ['git-v1', 'flows-v1', 'commands-v1']);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  removeRepositories();
  rmSync(folder, { recursive: true, force: true });
});

interface Stage {
  remote: TestRepository;
  project: MirroredProject;
  get: (path: string, query?: Record<string, string>) => Promise<Json>;
  hook: (make: (repository: string) => HostHook) => Promise<void>;
  /** The impact of a commit when it is computed. */
  impact: (branchName: string, commitId: string, more?: Record<string, string>) => Promise<Json>;
}

async function stage(): Promise<Stage> {
  const remote = newRepository();
  remote.commit({ files: { 'ui/a': '0', 'api/a': '0', 'log/a': '0' } });
  const project = await mirrored(app, remote, { configuration: CONFIGURATION });
  const { repositoryIdentifier } = project;
  const { secret } = await app
    .as(app.owner)
    .post(201, `/api/projects/${encodeURIComponent(repositoryIdentifier)}/hook-secret`);
  const get: Stage['get'] = (path, query = {}) =>
    app.as(app.member).get(200, `/api/builds/${path}?${new URLSearchParams({ repositoryIdentifier, ...query })}`);
  return {
    remote,
    project,
    get,
    async hook(make) {
      const { path, headers, rawBody } = sent(make(repositoryIdentifier), secret);
      await app.as().request(202, 'POST', path, { headers, rawBody });
    },
    async impact(branchName, commitId, more = {}) {
      const { impact } = await get('preview', { branchName, commitId, ...more });
      return eventually(
        () => get('impact-preview', { previewKey: impact.previewKey }),
        ({ status, generation }) => status !== 'pending' && generation >= impact.generation,
      );
    },
  };
}

const named = ({ impactedDomains }: Json) =>
  Object.fromEntries(impactedDomains.map(({ domainName, impactedPackages }: Json) => [domainName, impactedPackages]));

test('a push told by a hook is fetched, and its commit shows the domains that it touches', async () => {
  const { remote, hook, get } = await stage();
  const commitId = remote.commit({ files: { 'api/a': '1', 'log/a': '1' }, message: 'Größer [skip ci]' });
  await hook((repository) => pushHook('host-a', { repository, commitId, message: 'Größer [skip ci]' }));
  const { builds } = await eventually(
    () => get('status'),
    ({ builds: [first] }) => Object.keys(first?.domains ?? {}).length > 0,
  );
  expect(builds).toMatchObject([
    {
      commitId,
      commitMessage: 'Größer [skip ci]',
      skipReason: expect.stringContaining('[skip ci]'),
      domains: { sales: { packages: ['api'] }, rest: { packages: ['log'] } },
    },
  ]);
  const touching = async (domain: string) => (await get('status', { domain })).total;
  const other = remote.commit({ files: { 'ui/a': '1' } });
  await hook((repository) => pushHook('host-a', { repository, commitId: other }));
  await eventually(
    () => touching('sales'),
    (total) => total === 2,
  );
  await expect(touching('rest')).resolves.toBe(1);
});

test('the impact of a commit is what changed since the last one before it that was built with success', async () => {
  const { remote, project, hook, impact, get } = await stage();
  const first = remote.commit({ files: { 'ui/a': '1' } });
  const second = remote.commit({ files: { 'log/a': '1' } });
  const third = remote.commit({ files: { 'README.md': '1' } });
  const feature = remote.commit({ branch: 'feature', from: first, files: { 'api/a': '1' } });
  await project.fetch();
  expect(named(await impact('main', second))).toEqual({ rest: ['log'] });
  expect(named(await impact('main', third))).toEqual({});
  expect(named(await impact('feature', feature))).toEqual({ sales: ['api'] });
  expect(named(await impact('main', third, { forceBuildDomains: 'rest', forceBuildPackages: 'api' }))).toEqual({
    rest: ['log'],
    sales: ['api'],
  });

  await hook((repository) => buildHook('host-a', { repository, commitId: first, outcome: 'succeeded' }));
  await hook((repository) => buildHook('host-a', { repository, commitId: second, outcome: 'failed' }));
  const refreshed = await impact('main', third, { refreshImpact: 'true' });
  expect(refreshed.generation).toBe(2);
  expect(named(refreshed)).toEqual({ rest: ['log'] });
  const preview = await get('preview', { branchName: 'main', commitId: third, debug: 'true' });
  expect(preview).toMatchObject({
    dispatchStatus: 'available',
    plannedTargets: [{ domainName: 'rest', packages: ['log'] }],
    debug: { branchTip: third, commitId: third, baseCommitId: first, isStale: false },
  });
});

test('a commit that is not fetched yet is refused, and is there soon after', async () => {
  const { remote, project, get } = await stage();
  await forgetFetch(app, project);
  const commitId = remote.commit({ files: { 'ui/a': '1' } });
  const query = new URLSearchParams({
    repositoryIdentifier: project.repositoryIdentifier,
    branchName: 'main',
    commitId,
  });
  await expect(app.as(app.member).get(400, `/api/builds/preview?${query}`)).resolves.toMatchObject({
    detail: expect.stringContaining('a fetch is requested'),
  });
  const [newest] = await eventually(
    () => get('commits', { branch: 'main' }),
    ([{ sha }]: Json[]) => sha === commitId,
  );
  expect(newest.sha).toBe(commitId);
});

test('a branch with a hostile name is listed, previewed and built as any other; its name is one argument', async () => {
  const { remote, project, get, impact } = await stage();
  const commitId = remote.commit({ files: { 'ui/a': '1' } });
  const names = ['--upload-pack=touch', "';touch\u{a0}hacked;'", '$(touch)'];
  for (const name of names) remote.git(['update-ref', `refs/heads/${name}`, commitId]);
  await project.fetch();
  const branches = await get('branches');
  expect(branches.map(({ name }: Json) => name).toSorted()).toEqual([...names, 'main'].toSorted());
  for (const branch of names)
    await expect(get('commits', { branch, limit: '1' })).resolves.toMatchObject([{ sha: commitId }]);
  for (const branch of names) expect(named(await impact(branch, commitId))).toEqual({ sales: ['ui'] });

  const { repositoryIdentifier } = project;
  const run = async (branchName: string) => {
    const { executionId: id } = await app
      .as(app.member)
      .post(202, '/api/builds/run', { repositoryIdentifier, branchName, commitId });
    return eventually(
      () => app.as(app.member).get(200, `/api/flows/runs/${id}`),
      ({ success }) => success !== null,
    );
  };
  const [option = '', quoted = ''] = names;
  await expect(run(option)).resolves.toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('branch') },
  });
  const { id: executionId, ...ended } = await run(quoted);
  expect(ended).toMatchObject({ status: 'Completed', outputTail: `${quoted} ${commitId}\n` });
  await expect(
    app.as(app.member).post(200, '/api/builds/run', { repositoryIdentifier, branchName: 'main', commitId }),
  ).resolves.toMatchObject({ outcome: 'already_completed', executionId });
});
