import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { endedRun } from '../../../support/ended-run.ts';
import { startWorker, type TestWorker } from '../../../support/worker.ts';

const folder = mkdtempSync(join(tmpdir(), 'quayside-bare-'));
const bare = join(folder, 'shop.git');
const work = join(folder, 'work');
const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

let app: TestApp;
let worker: TestWorker;
beforeAll(async () => {
  git('init', '--quiet', '--bare', '--initial-branch=main', bare);
  git('clone', '--quiet', bare, work);
  for (const message of ['one', 'two']) {
    git('-C', work, 'commit', '--quiet', '--allow-empty', '-m', message);
    git('-C', work, 'tag', `v-${message}`);
  }
  git('-C', work, 'push', '--quiet', '--tags', 'origin', 'HEAD:main');
  app = await testApp({ env: { ALLOW_LOCAL_GIT: 'true' } });
  worker = await startWorker(app, ['flows-v1', 'git-v1']);
  await app.as(app.owner).post(201, '/api/projects', { identifier: 'acme/shop', platform: 'host-a', remoteUrl: bare });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

const patch = async (newBranch: string, sourceRef: string): Promise<Json> => {
  const { id } = await app.as(app.owner).post(202, '/api/flows/run', {
    payload: { id: 'create-patch-branch', repositoryIdentifier: 'acme/shop', newBranch, sourceRef },
  });
  return endedRun(app, { id });
};

test('a patch branch begins at the tag, and made again it is the same', async () => {
  const commitId = git('-C', work, 'rev-parse', 'v-one');
  for (let time = 0; time < 2; time++) {
    expect(await patch('patch/1.0', 'v-one')).toMatchObject({
      status: 'Completed',
      result: { branch: 'patch/1.0', commitId },
    });
  }
  expect(git('-C', bare, 'rev-parse', 'refs/heads/patch/1.0')).toBe(commitId);
  expect(await patch('patch/by-commit', commitId)).toMatchObject({ status: 'Completed' });
});

test.each([
  ['patch/1.0', 'v-two', 'at another commit'],
  ['patch/2', 'no-such-tag', 'could not be fetched'],
  ['patch/2', '--upload-pack=touch owned', 'could not be fetched'],
  ['a..b', 'v-one', 'not a name for a branch'],
  ['--delete', 'v-one', 'not a name for a branch'],
])('a branch %s at %s is refused', async (branch, ref, reason) => {
  expect(await patch(branch, ref)).toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining(reason) },
  });
});
