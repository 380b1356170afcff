import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkerBackend } from '../../../../activities/backend.ts';
import { analyze } from '../../../../activities/insight/code-analysis/analyze.ts';
import type { CodeAnalyzer } from '../../../../domain/insight/code-analysis/jobs/code-analyzer.port.ts';
import { runById } from '../../../../domain/delivery/flows/flow-runs.queries.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { idleEngine } from '../../../support/launch.ts';
import { type MirroredProject, mirrored } from '../../../support/mirrored.ts';
import { newRepository, removeRepositories } from '../../../support/repository.ts';
import { logOf, resultAt } from '../../../support/sarif.ts';
import { startWorker, type TestWorker } from '../../../support/worker.ts';

const PREFIX = '/api/testreports/code-analysis';
let app: TestApp;
let worker: TestWorker;
let backend: WorkerBackend;
let remote: ReturnType<typeof newRepository>;
let project: MirroredProject;
beforeAll(async () => {
  app = await testApp({ env: { ALLOW_LOCAL_GIT: 'true' } });
  worker = await startWorker(app, ['git-v1']);
  backend = activityDeps(app);
  remote = newRepository();
  remote.commit({ files: { 'a.js': 'let a\n' } });
  project = await mirrored(app, remote);
});
afterAll(async () => {
  await worker.stop();
  await backend.close();
  await app.close();
  removeRepositories();
});

/** An analyzer that finds the same in everything. */
function analyzerThatSays(log: () => AsyncIterable<Uint8Array>): CodeAnalyzer {
  return {
    name: 'test',
    whyUnavailable: () => undefined,
    async open() {
      const folder = mkdtempSync(join(tmpdir(), 'analyze-'));
      return {
        folder,
        analyze: async () => ({ isOk: true, sarif: log, engines: [], notes: [], isOffline: true, durationMs: 1 }),
        close: async () => rmSync(folder, { recursive: true }),
      };
    },
  };
}
async function* smallLog() {
  yield Buffer.from(JSON.stringify(logOf([resultAt('R', 'a.js', 1)])));
}
/** One attempt of the step that executes a run. */
async function attempt(runId: string, log: () => AsyncIterable<Uint8Array> = smallLog) {
  const deps = {
    ...backend.deps,
    launch: idleEngine,
    analysis: { ...backend.deps.analysis, analyzer: analyzerThatSays(log) },
  };
  const run = await runById(deps.reads.as(systemActor(app.tenantKey, 'test')), runId);
  const context = { heartbeat: () => undefined, cancellationSignal: new AbortController().signal };
  return asyncLocalStorage.run(context as unknown as Context, () => analyze(deps, app.tenantKey, run));
}
const query = () => new URLSearchParams({ repositoryIdentifier: project.repositoryIdentifier });
const refresh = async (): Promise<string> => {
  await app.sql(`update flow_run set ended_at = now(), status = 'failed' where ended_at is null`);
  return (await app.as(app.owner).post(202, `${PREFIX}/refresh?${query()}&branch=main`)).jobId;
};
const history = (): Promise<Json[]> => app.as(app.owner).get(200, `${PREFIX}/history/main?${query()}`);

test('a refresh fetches the head, also one that was pushed since; attempts that are repeated store it once', async () => {
  const commitId = remote.commit({ files: { 'b.js': 'let b\n' } });
  const jobId = await refresh();
  expect(await attempt(jobId)).toMatchObject({
    status: 'succeeded',
    result: { commitId, analysisId: jobId, files: 2 },
  });
  const [run] = await app.sql<{ result: Json }>('select result from flow_run where id = ?', [jobId]);
  expect(run?.result).toEqual({ commitId });
  // The worker was lost before it could report; meanwhile somebody has pushed again.
  remote.commit({ files: { 'c.js': 'let c\n' } });
  expect(await attempt(jobId)).toMatchObject({ status: 'succeeded', result: { commitId, analysisId: jobId } });
  expect((await history()).map(({ id }) => id)).toEqual([jobId]);
  const again = await refresh();
  await attempt(again);
  expect((await history()).map(({ id }) => id)).toEqual([again, jobId]);
});

test('the next refresh of the same commit replaces its results', async () => {
  const [newest] = await history();
  const jobId = await refresh();
  await attempt(jobId);
  expect((await history())[0]).toMatchObject({ id: jobId, commitId: newest?.commitId });
  expect((await history()).map(({ id }) => id)).not.toContain(newest?.id);
});

test('a log that is larger than its readers take fails the run, and nothing of it is kept', async () => {
  const bodies = () => app.sql('select id from code_analysis_body order by id');
  const before = await bodies();
  async function* largeLog() {
    yield Buffer.from('{"version": "2.1.0", "runs": [], "properties": {"texts": [""');
    for (let written = 0; written < 52; written++) yield Buffer.from(`, "${'x'.repeat(1024 * 1024)}"`);
  }
  expect(await attempt(await refresh(), largeLog)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('larger than'),
    result: { branch: 'main', commitId: expect.any(String) },
  });
  expect(await bodies()).toEqual(before);
});
