import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';
import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { endedRun } from '../../../support/ended-run.ts';
import { startWorker, type TestWorker } from '../../../support/worker.ts';

const folder = mkdtempSync(join(tmpdir(), 'quayside-cascade-'));
const work = join(folder, 'work');
const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
const bareOf = (name: string): string => join(folder, `${name}.git`);
const tipOf = (name: string, branch: string): string => git('-C', bareOf(name), 'rev-parse', `refs/heads/${branch}`);
const PLATFORMS = { 'host-a': 'acme/cascade', 'host-b': 'acme/crm/cascade', 'host-c': 'group/cascade' } as const;

let app: TestApp;
let worker: TestWorker;
const hosts = new Map<string, GitHostSimulator>();
beforeAll(async () => {
  app = await testApp({ env: { ALLOW_LOCAL_GIT: 'true', OUTBOUND_ALLOW: '127.0.0.0/8' } });
  worker = await startWorker(app, ['flows-v1', 'git-v1']);
  for (const [platform, identifier] of Object.entries(PLATFORMS)) {
    const host = await gitHost(platform as keyof typeof PLATFORMS);
    hosts.set(platform, host);
    git('init', '--quiet', '--bare', '--initial-branch=main', bareOf(platform));
    await app.as(app.owner).post(201, '/api/projects', {
      identifier,
      platform,
      remoteUrl: bareOf(platform),
      configuration: {
        cascade: [
          { from: 'main', to: 'uat' },
          { from: 'uat', to: 'dev' },
        ],
      },
    });
    const integration = { kind: platform, name: platform, baseUrl: host.url, credentials: hostCredentials };
    await app.as(app.owner).post(201, '/api/integrations', { ...integration, repositoryIdentifier: identifier });
  }
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  for (const host of hosts.values()) await host.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Makes branches main, uat and dev anew: each commit is files with their contents. */
function branches(platform: string, commits: Record<string, Record<string, string>>): void {
  rmSync(work, { recursive: true, force: true });
  git('init', '--quiet', '--initial-branch=base', work);
  const commit = (files: Record<string, string>) => {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(work, name), content);
    git('-C', work, 'add', '-A');
    git('-C', work, 'commit', '--quiet', '--allow-empty', '-m', 'c');
  };
  commit({ shared: 'one\n' });
  for (const branch of ['main', 'uat', 'dev']) {
    git('-C', work, 'checkout', '--quiet', '-B', branch, 'base');
    if (commits[branch]) commit(commits[branch]);
  }
  git('-C', work, 'push', '--quiet', '--force', bareOf(platform), 'main', 'uat', 'dev');
}

const merge = async (platform: keyof typeof PLATFORMS, payload: object): Promise<Json> => {
  const { id } = await app.as(app.owner).post(202, '/api/flows/run', {
    payload: { id: 'cascade-merge', repositoryIdentifier: PLATFORMS[platform], ...payload },
  });
  return endedRun(app, { id });
};

test('a branch is merged into the next one, and no further', async () => {
  branches('host-a', { main: { fix: 'fixed' }, uat: { feature: 'made' } });
  const before = tipOf('host-a', 'dev');
  const run = await merge('host-a', { branch: 'main' });
  expect(run).toMatchObject({
    status: 'Completed',
    result: { merges: [{ from: 'main', to: 'uat', outcome: 'merged' }] },
  });
  expect(tipOf('host-a', 'uat')).toBe(run.result.merges[0].commitId);
  expect(git('-C', bareOf('host-a'), 'show', 'uat:fix')).toBe('fixed');
  expect(git('-C', bareOf('host-a'), 'show', 'uat:feature')).toBe('made');
  expect(git('-C', bareOf('host-a'), 'log', '-1', '--format=%B', 'uat')).toContain(app.owner.email);
  expect(tipOf('host-a', 'dev')).toBe(before);
  await expect(merge('host-a', { branch: 'main' })).resolves.toMatchObject({
    status: 'Completed',
    result: { merges: [{ outcome: 'up_to_date' }] },
  });
});

test('without a branch the whole cascade is merged, forward where nothing parted', async () => {
  branches('host-a', { main: { fix: 'fixed' } });
  const run = await merge('host-a', {});
  expect(run.result.merges.map(({ outcome }: Json) => outcome)).toEqual(['merged', 'merged']);
  for (const branch of ['uat', 'dev']) expect(tipOf('host-a', branch)).toBe(tipOf('host-a', 'main'));
});

test.each(['host-a', 'host-b', 'host-c'] as const)(
  'a conflict opens one pull request that names it, and what comes after is not tried: %s',
  async (platform) => {
    branches(platform, { main: { shared: 'two\n' }, uat: { shared: 'three\n' } });
    const before = tipOf(platform, 'uat');
    for (let time = 0; time < 2; time++) {
      const run = await merge(platform, {});
      expect(run).toMatchObject({
        status: 'Partial',
        result: {
          merges: [
            {
              outcome: 'conflicts',
              conflicts: ['shared'],
              pullRequest: {
                number: expect.any(Number),
                url: expect.stringMatching(/^https?:.*(pull|pullrequest|merge_requests)\/\d+$/),
              },
            },
            { outcome: 'not_tried' },
          ],
        },
      });
      expect(run.success.error).toContain('1 files conflict: shared');
    }
    expect(tipOf(platform, 'uat')).toBe(before);
    const opened = hosts.get(platform)?.pullRequests ?? [];
    expect(opened.map(({ branch, baseBranch }) => [branch, baseBranch])).toEqual([['main', 'uat']]);
  },
);

test('a protected branch is merged by a pull request', async () => {
  branches('host-a', { main: { fix: 'fixed' }, uat: { feature: 'made' } });
  const hook = join(bareOf('host-a'), 'hooks', 'pre-receive');
  writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  try {
    await expect(merge('host-a', { branch: 'main' })).resolves.toMatchObject({
      status: 'Partial',
      result: { merges: [{ outcome: 'refused', pullRequest: { number: expect.any(Number) } }] },
    });
  } finally {
    rmSync(hook);
  }
});

test.each([
  [{ branch: 'dev' }, /does not go on from dev/],
  [{ branch: '--upload-pack=x' }, /does not go on from/],
  [{ repositoryIdentifier: undefined }, /name its repositoryIdentifier/],
])('%j is refused before a run is accepted', async (payload, reason) => {
  const refusal = await app.as(app.owner).post(409, '/api/flows/run', {
    payload: { id: 'cascade-merge', repositoryIdentifier: PLATFORMS['host-a'], ...payload },
  });
  expect(refusal).toMatchObject({ code: 'flow_unavailable', detail: expect.stringMatching(reason) });
});

test('branches that are not there are said', async () => {
  const bare = bareOf('host-c');
  git('-C', bare, 'update-ref', '-d', 'refs/heads/uat');
  await expect(merge('host-c', { branch: 'main' })).resolves.toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('has no branch uat') },
  });
});

test('a host that is away for a moment is asked again for the pull request', async () => {
  branches('host-a', { main: { shared: 'four\n' }, uat: { shared: 'five\n' } });
  const host = hosts.get('host-a') as GitHostSimulator;
  host.pullRequests.length = 0;
  host.failNext({ status: 503 }, { path: /pulls/ });
  await expect(merge('host-a', { branch: 'main' })).resolves.toMatchObject({
    status: 'Partial',
    result: { merges: [{ outcome: 'conflicts', pullRequest: { number: expect.any(Number) } }] },
  });
  expect(host.pullRequests).toHaveLength(1);
});
