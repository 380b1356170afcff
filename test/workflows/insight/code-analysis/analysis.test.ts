import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createSalesforceAnalyzer } from '../../../../activities/adapters/analyzer/salesforce-analyzer.ts';
import { workflowIdOfRun } from '../../../support/run-key.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { loseHeartbeats } from '../../../support/lost-heartbeats.ts';
import { mirrored } from '../../../support/mirrored.ts';
import { newRepository, removeRepositories } from '../../../support/repository.ts';
import {
  eventually,
  startWorker,
  startWorkerProcess,
  type TestWorker,
  type TestWorkerProcess,
} from '../../../support/worker.ts';

const QUEUES = ['analysis-v1', 'flows-v1', 'git-v1'];

let app: TestApp;
let worker: TestWorker | undefined;
let dying: TestWorkerProcess;
let analyses: string;
beforeAll(async () => {
  app = await testApp({ env: { ALLOW_LOCAL_GIT: 'true', ANALYSIS_HEAP_MB: '1024' } });
  analyses = join(app.env.DATA_DIR ?? '', 'analysis');
  dying = await startWorkerProcess(app, QUEUES);
});
afterAll(async () => {
  await dying.kill('SIGKILL');
  await worker?.stop();
  await app.close();
  removeRepositories();
});

const isInstalled = createSalesforceAnalyzer({ folder: '/', heapMb: 1 }).whyUnavailable() === undefined;
if (!isInstalled)
  process.stderr.write('Salesforce Code Analyzer is not installed (optional dependencies): its test is skipped\n');

const PREFIX = '/api/testreports/code-analysis';
const ended = (id: string): Promise<Json> =>
  eventually(
    () => app.as(app.owner).get(200, `/api/flows/runs/${id}`),
    ({ success }) => success !== null,
  );
const foldersLeft = () => (existsSync(analyses) ? readdirSync(analyses) : []);

(isInstalled ? test : test.skip)(
  'the head is analysed, also when the worker is killed meanwhile, which leaves no folder behind',
  async () => {
    const remote = newRepository();
    const commitId = remote.commit({
      files: {
        'force-app/a.js': 'var a = 1;\n',
        'force-app/node_modules/left/b.js': 'var b = 1;\n',
        'eslint.config.js': 'process.exit(9);\n',
      },
    });
    const { repositoryIdentifier } = await mirrored(app, remote);
    const query = new URLSearchParams({ repositoryIdentifier });
    const { jobId } = await app.as(app.owner).post(202, `${PREFIX}/refresh?${query}`);
    await eventually(
      async () => foldersLeft().flatMap((name) => readdirSync(join(analyses, name, 'scratch'))),
      (files) => files.length > 0,
    );
    await dying.kill('SIGKILL');
    await eventually(
      async () => foldersLeft(),
      (names) => names.length === 0,
    );
    worker = await startWorker(app, QUEUES);
    await loseHeartbeats(app, await workflowIdOfRun(app, jobId), 1);
    const run = await ended(jobId);
    expect(run).toMatchObject({
      status: 'Completed',
      result: { branch: 'main', commitId, files: 1, leftOut: 2, notes: [expect.stringContaining('PMD')] },
    });
    expect(foldersLeft()).toEqual([]);
    const [found] = await app.as(app.owner).get(200, `${PREFIX}/history/main?${query}`);
    expect(found).toMatchObject({
      commitId,
      metadata: { triggeredBy: app.owner.email, scheduledRun: false },
      summary: { analysisSuccessful: true, filesAffected: 1 },
    });
    expect(found.summary.issuesByRule.map(({ ruleId }: Json) => ruleId)).toContain('no-var');
  },
);

test('a commit that is nowhere fails with a sentence', async () => {
  const remote = newRepository();
  remote.commit({ files: { 'a.js': '' } });
  const { repositoryIdentifier } = await mirrored(app, remote);
  const payload = { id: 'analyze', repositoryIdentifier, branch: 'main', commitId: 'c'.repeat(40) };
  const { id } = await app.as(app.owner).post(202, '/api/flows/run', { payload });
  expect(await ended(id)).toMatchObject({
    status: 'Failed',
    success: { error: `The repository has no commit ${'c'.repeat(40)}` },
  });
});
