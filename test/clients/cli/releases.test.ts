import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { type TestApp, testApp } from '../../support/app.ts';
import type { Json } from '../../support/client.ts';
import { QUAYSIDE, type QuaysideCommand, quaysideCommand } from '../../support/quayside-command.ts';
import { eventually, startWorker, type TestWorker } from '../../support/worker.ts';

const run = promisify(execFile);
const ROOT = new URL('../../..', import.meta.url).pathname;
const COMMIT = 'a'.repeat(40);

let app: TestApp;
let worker: TestWorker;
let quayside: QuaysideCommand;
let folder: string;
beforeAll(async () => {
  app = await testApp({ commands: ['execute-release'] });
  worker = await startWorker(app, [
    'flows-v1',
    'commands-v1',
    'environment-locks-v1',
    'approvals-v1',
    'releases-v1',
    'system-v1',
  ]);
  quayside = await quaysideCommand({ QUAYSIDE_URL: app.url, QUAYSIDE_TOKEN: app.application.token });
  folder = mkdtempSync(join(tmpdir(), 'quayside-scripts-'));
  mkdirSync(join(folder, 'bin'));
  program('bin/quayside', `exec '${process.execPath}' '${QUAYSIDE}' "$@"`);
  program('bin/npm', '[ "$1 $2" = "install --global" ]');
  program('build.sh', 'echo built');
  program('deploy.sh', 'echo "deployed to $1"');
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  quayside.remove();
  rmSync(folder, { recursive: true, force: true });
});

function program(name: string, text: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, name), 0o755);
}

async function project(repositoryIdentifier: string, approvalPolicy: object): Promise<void> {
  const owner = app.as(app.owner);
  const configuration = { autoReleaseFinalization: true };
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', configuration });
  for (const [orchestrationOrder, [name, category]] of [
    ['uat', 'test'],
    ['production', 'release'],
  ].entries())
    await owner.post(201, '/api/environments', {
      repositoryIdentifier,
      name,
      category,
      orchestrationOrder,
      ...(name === 'production' && { approvalPolicy }),
    });
}

const shell = (script: string, env: Record<string, string>) =>
  run('sh', ['-e', '-c', script], {
    cwd: folder,
    env: {
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      HOME: quayside.home,
      QUAYSIDE_URL: app.url,
      QUAYSIDE_TOKEN: app.application.token,
      ...env,
    },
  });

test('a shell script composes a whole release', async () => {
  await project('acme/shop', { approvers: [app.owner.email] });
  const { stdout } = await shell(readFileSync(join(ROOT, 'test/clients/cli/release.sh'), 'utf8'), {
    RELEASE: '2026.07',
    COMMIT,
    APPROVER: app.owner.token,
    GITHUB_REPOSITORY: 'acme/shop',
    GITHUB_RUN_ID: '71',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_JOB: 'release',
  });
  expect(stdout).toContain('deployed to uat');
  expect(stdout).toMatch(/2026\.07 +core +finalized/);
  const { releases } = await app.as(app.owner).get(200, '/api/releases?repositoryIdentifier=acme%2Fshop');
  const environments = releases[0].environments.map(({ name, executionId }: Json) => [name, executionId]);
  expect(Object.fromEntries(environments).uat).toBe('71');
});

test('a release is held, found, compared, and followed as it changes', async () => {
  const env = { QUAYSIDE_REPOSITORY: 'acme/shop' };
  const candidate = ['--domain', 'core', '--commit', COMMIT, '--artifact', 'app=1.5.0'];
  await quayside.run(0, ['candidate', 'create', '2026.10', ...candidate], { env });
  const { child, said, ended } = quayside.start(['changes', '--topic', 'release_candidate', '--json'], { env });
  await eventually(
    async () => said(),
    (text) => text.includes('connected'),
  );
  await quayside.run(0, ['candidate', 'hold', '2026.10', '--reason', 'a customer waits', '--until', '2099-01-01'], {
    env,
  });
  await eventually(
    async () => said(),
    (text) => text.includes('"topic":"release_candidate"'),
  );
  child.kill('SIGTERM');
  expect((await ended).code).toBe(143);
  const request = ['release', 'request', '2026.10', '--domain', 'core', '--environment', 'production'];
  const { problem } = await quayside.run(5, [...request, '--json'], { env });
  expect(problem).toMatchObject({ code: 'held', detail: expect.stringContaining('a customer waits') });
  await quayside.run(5, [...request, '--dry-run'], { env });
  await quayside.run(0, ['candidate', 'release-hold', '2026.10'], { env });
  // Names that look like numbers stay names.
  const members = ['domain=core', 'releaseName=2026.10', 'environmentName=production'].flatMap((each) => [
    '--set',
    each,
  ]);
  const start = ['run', 'start', 'execute-release', ...members, '--dry-run', '--json'];
  const { json: dry } = await quayside.run(0, start, { env });
  expect(dry).toMatchObject({ wouldStart: true, gates: { approval: { approvers: [app.owner.email] } } });
  const { out: where } = await quayside.run(0, ['release', 'where'], { env });
  expect(where).toMatch(/^production +core +2026\.07 /m);
  const { out: differs } = await quayside.run(0, ['release', 'compare', '2026.10', 'production'], { env });
  expect(differs).toContain('update  app');
  expect((await quayside.run(0, ['release', 'compare', 'uat', 'production'], { env })).out).toBe('the same\n');
});

interface Template {
  file: string;
  env: Record<string, string>;
  repository: string;
  /** The shell lines of the jobs in their order. Throws where the file is not built as the vendor says. */
  scripts(document: Json): string[];
}

const keysOf = (value: Json, allowed: readonly string[]): void =>
  expect(Object.keys(value).filter((name) => !allowed.includes(name))).toEqual([]);

const TEMPLATES: Template[] = [
  {
    file: 'github-actions.yml',
    repository: 'github/shop',
    env: {
      GITHUB_REPOSITORY: 'github/shop',
      GITHUB_RUN_ID: '81',
      GITHUB_RUN_ATTEMPT: '1',
      GITHUB_JOB: 'release',
      GITHUB_SHA: COMMIT,
      GITHUB_REF: 'refs/heads/main',
    },
    scripts(document) {
      keysOf(document, ['name', 'on', 'env', 'jobs']);
      return Object.values<Json>(document.jobs).flatMap((job, at) => {
        keysOf(job, ['runs-on', 'needs', 'steps']);
        expect(job.needs === undefined || job.needs in document.jobs).toBe(true);
        expect(at === 0).toBe(job.needs === undefined);
        return job.steps.flatMap((step: Json) => {
          keysOf(step, ['name', 'uses', 'run']);
          expect('uses' in step !== 'run' in step).toBe(true);
          return step.run ?? [];
        });
      });
    },
  },
  {
    file: 'azure-pipelines.yml',
    repository: 'shop/web',
    env: {
      SYSTEM_TEAMPROJECT: 'shop',
      BUILD_REPOSITORY_NAME: 'web',
      BUILD_BUILDID: '82',
      SYSTEM_JOBATTEMPT: '1',
      SYSTEM_JOBID: 'j1',
      BUILD_SOURCEVERSION: COMMIT,
      BUILD_SOURCEBRANCH: 'refs/heads/main',
    },
    scripts(document) {
      keysOf(document, ['trigger', 'pool', 'variables', 'stages']);
      const names = document.stages.map(({ stage }: Json) => stage);
      return document.stages.flatMap((stage: Json, at: number) => {
        keysOf(stage, ['stage', 'dependsOn', 'jobs']);
        expect(stage.dependsOn).toBe(names[at - 1]);
        return stage.jobs.flatMap((job: Json) => {
          keysOf(job, ['job', 'steps', 'timeoutInMinutes']);
          return job.steps.map((step: Json) => {
            keysOf(step, ['script', 'displayName', 'env']);
            // Secrets are given to each step that needs one.
            expect(/^quayside|\bif quayside/m.test(step.script)).toBe(step.env?.QUAYSIDE_TOKEN !== undefined);
            return step.script;
          });
        });
      });
    },
  },
  {
    file: 'gitlab-ci.yml',
    repository: 'gitlab/group/shop',
    env: {
      CI_PROJECT_PATH: 'gitlab/group/shop',
      CI_PIPELINE_ID: '83',
      CI_JOB_ID: '1',
      CI_COMMIT_SHA: COMMIT,
      CI_COMMIT_BRANCH: 'main',
    },
    scripts({ stages, default: base, variables, workflow, ...jobs }) {
      keysOf(base, ['image', 'before_script']);
      keysOf(workflow, ['rules']);
      expect(Object.keys(variables)).toEqual(['RELEASE', 'VERSION']);
      expect(Object.values<Json>(jobs).map(({ stage }) => stage)).toEqual(stages);
      return Object.values<Json>(jobs).map((job) => {
        keysOf(job, ['stage', 'script', 'timeout', 'artifacts']);
        // The lines of a job are one script, each of them a text.
        for (const line of job.script) expect(typeof line).toBe('string');
        return [...base.before_script, ...job.script].join('\n');
      });
    },
  },
];

test.each(TEMPLATES)('the lines of $file take a release to production', async ({ file, env, repository, scripts }) => {
  const document: Json = parse(readFileSync(join(ROOT, 'docs/pipelines', file), 'utf8'));
  await project(repository, { skipApproval: true });
  for (const script of scripts(document))
    await shell(script, { ...env, RELEASE: '2026.8', VERSION: '1.8.0', QUAYSIDE_CLI: 'https://packages.test/cli.tgz' });
  const candidates = await app
    .as(app.owner)
    .get(200, `/api/release-candidates?repositoryIdentifier=${encodeURIComponent(repository)}&includeFinalized=true`);
  expect(candidates.items).toEqual([expect.objectContaining({ releaseName: '2026.8', status: 'finalized' })]);
  expect(readFileSync(join(folder, 'release-notes.md'), 'utf8')).toContain('### app 1.8.0');
});
