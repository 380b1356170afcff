import { requestAnalysis } from '../../../../domain/insight/code-analysis/jobs/analysis-jobs.mutations.ts';
import { projectInRequest } from '../../../../domain/projects/projects/projects.queries.ts';
import { endRun } from '../../../../domain/delivery/flows/flow-runs.mutations.ts';
import { noteCommit } from '../../../../domain/insight/code-analysis/jobs/analysis-jobs.queries.ts';
import { runById } from '../../../../domain/delivery/flows/flow-runs.queries.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { idleEngine } from '../../../support/launch.ts';
import type { WorkerBackend } from '../../../../activities/backend.ts';
import { createNightlyAnalysisActivities } from '../../../../activities/insight/code-analysis/nightly-analysis.activities.ts';

let app: TestApp;
let backend: WorkerBackend;
let number = 0;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
  backend = activityDeps(app);
});
afterAll(async () => {
  await backend.close();
  await app.close();
});

const REFRESH = '/api/testreports/code-analysis/refresh';
const sha = (letter: string) => letter.repeat(40);

/** A project whose repository has these branches. */
async function project(heads: Record<string, string>, configuration: object = {}): Promise<string> {
  const identifier = `acme/refreshed-${++number}`;
  const { id } = await app.as(app.owner).post(201, '/api/projects', { identifier, platform: 'host-a', configuration });
  for (const [name, head] of Object.entries(heads))
    await app.sql(
      `insert into git_ref (tenant_id, project_id, kind, name, sha) select tenant_id, id, 'branch', ?, ? from project where id = ?`,
      [name, head, id],
    );
  return identifier;
}
const refresh = (status: number, repositoryIdentifier: string, branch?: string, as = app.owner) =>
  app
    .as(as)
    .post(
      status,
      `${REFRESH}?${new URLSearchParams({ repositoryIdentifier, ...(branch !== undefined && { branch }) })}`,
    );
const unit = () => backend.deps.actingAs(systemActor(app.tenantKey, 'test'));
const requested = (identifier: string, branch: string, commitId?: string) =>
  unit()(async (tx) =>
    requestAnalysis(tx, await projectInRequest(tx, identifier), { branch, commitId, isForced: false }),
  );
const end = (id: string, outcome: Parameters<typeof endRun>[2]) =>
  unit()(async (tx) => endRun(tx, await runById(tx, id, { forUpdate: true }), outcome));
const payloadOf = async (id: string) =>
  (await app.sql<{ payload: object }>('select payload from flow_run where id = ?', [id]))[0]?.payload;

test('a refresh analyses the head of a branch; while that goes on, everybody gets the same job', async () => {
  const identifier = await project({ main: sha('a'), next: sha('b') });
  const { jobId, ...answer } = await refresh(202, identifier, 'main');
  expect(answer).toEqual({ status: 'pending', jobs: [{ branch: 'main', jobId }], message: expect.any(String) });
  expect(await payloadOf(jobId)).toEqual({
    id: 'analyze',
    repositoryIdentifier: identifier,
    branch: 'main',
    force: true,
  });
  expect(await refresh(202, identifier, 'main', app.member)).toMatchObject({ jobId });
  expect(await requested(identifier, 'main')).toMatchObject({ status: 'pending', jobId });
  expect(await requested(identifier, 'main', sha('A'))).toMatchObject({ status: 'pending', jobId });
  const other = await requested(identifier, 'main', sha('c'));
  expect(other).toMatchObject({ status: 'pending' });
  expect(other.jobId).not.toBe(jobId);
  const all = await Promise.all([1, 2, 3, 4].map(() => requested(identifier, 'next')));
  expect(new Set(all.map((each) => each.jobId)).size).toBe(1);
});

test('without a branch those of the configuration are analysed, else the default one', async () => {
  const heads = { main: sha('a'), 'release/1': sha('b'), 'release/2': sha('c'), topic: sha('d') };
  const listed = await refresh(202, await project(heads, { branches: ['main', 'release/*', 'gone'] }));
  expect(listed.jobs.map(({ branch }: { branch: string }) => branch)).toEqual(['main', 'release/1', 'release/2']);
  expect(new Set(listed.jobs.map((job: { jobId: string }) => job.jobId)).size).toBe(3);
  const plain = await refresh(202, await project(heads));
  expect(plain.jobs).toEqual([{ branch: 'main', jobId: plain.jobId }]);
  // Nothing is fetched yet: the run looks for the head.
  const unfetched = await refresh(202, await project({}, { branches: ['main', 'release/*'] }));
  expect(unfetched.jobs).toHaveLength(1);
  expect(await payloadOf(unfetched.jobId)).not.toHaveProperty('commitId');
});

test('a branch or repository that is not there is refused', async () => {
  const identifier = await project({ main: sha('a') });
  expect(await refresh(400, identifier, 'nowhere')).toMatchObject({ code: 'invalid_request' });
  await refresh(400, 'acme/nowhere', 'main');
  expect(await requested(identifier, 'nowhere')).toEqual({
    status: 'error',
    jobId: null,
    message: 'The repository has no branch nowhere',
  });
  await refresh(404, await project({ other: sha('a') }));
});

test('a failure is told for 15 minutes and announced; a refresh starts again at once', async () => {
  const identifier = await project({ main: sha('a') });
  const { jobId } = await refresh(202, identifier, 'main');
  const events = () =>
    app.sql<{ data: object }>(`select payload as data from webhook_delivery where event = 'code_analysis.failed'`);
  const config = { url: 'http://127.0.0.1:9/' };
  await app
    .as(app.owner)
    .post(201, '/api/webhooks', { name: 'a', event: 'code_analysis.failed', provider: 'http', config });
  const result = { commitId: sha('a') };
  await end(jobId, { status: 'failed', error: 'Salesforce Code Analyzer is not installed', result });
  expect(await requested(identifier, 'main')).toEqual({
    status: 'error',
    jobId,
    message: 'Salesforce Code Analyzer is not installed',
  });
  expect((await events()).map(({ data }) => data)).toEqual([
    {
      jobId,
      repositoryIdentifier: identifier,
      branch: 'main',
      commitSha: sha('a'),
      isScheduled: false,
      error: 'Salesforce Code Analyzer is not installed',
    },
  ]);
  const again = await refresh(202, identifier, 'main');
  expect(again.jobId).not.toBe(jobId);
  await end(again.jobId, { status: 'cancelled' });
  expect(await events()).toHaveLength(1);
  await app.sql(`update flow_run set ended_at = now() - interval '16 minutes' where id = ?`, [again.jobId]);
  expect(await requested(identifier, 'main')).toMatchObject({ status: 'pending', run: { taskType: 'analyze' } });
});

test("the project's pipeline goes before the service's own analyzer", async () => {
  const identifier = await project({ main: sha('a') }, { analysisPipeline: { id: 'analyse.yml', timeoutMinutes: 20 } });
  const { jobId } = await refresh(202, identifier, 'main');
  expect(await payloadOf(jobId)).toMatchObject({ pipeline: { id: 'analyse.yml', ref: 'main', timeoutMinutes: 20 } });
});

test('at night branches that were asked for have a turn each, four at a time; heads with results have none', async () => {
  await app.sql('delete from code_analysis_schedule');
  await app.sql(`update flow_run set ended_at = now(), status = 'failed' where ended_at is null`);
  const heads = { a: sha('a'), b: sha('b'), c: sha('c'), d: sha('d'), e: sha('e'), f: sha('f') };
  const identifier = await project(heads, { branches: ['*'] });
  const { jobs } = await refresh(202, identifier);
  for (const { jobId } of jobs) await end(jobId, { status: 'cancelled' });
  await app.sql(`update flow_run set ended_at = now() - interval '1 hour' where task_type = 'analyze'`);
  await app.sql(`delete from git_ref where name = 'f'`);
  // No run can be made of such a name, which holds up no other branch.
  for (const table of ['git_ref', 'code_analysis_schedule']) {
    const isRef = table === 'git_ref';
    await app.sql(
      `insert into ${table} (tenant_id, project_id, ${isRef ? 'kind, name, sha' : 'branch'})
        select tenant_id, id, ${isRef ? `'branch', repeat('0', 300), repeat('0', 40)` : `repeat('0', 300)`}
        from project where identifier = ?`,
      [identifier],
    );
  }
  await app.as(app.owner).post(201, '/api/testreports/code-analysis/results', {
    repositoryIdentifier: identifier,
    branch: 'a',
    commitId: sha('a'),
    analyzedAt: new Date().toISOString(),
    sarif: { version: '2.1.0', runs: [] },
  });
  const { startNightlyAnalyses } = createNightlyAnalysisActivities(backend.deps);
  const look = (night: string) => startNightlyAnalyses({ night });
  for (const open of [1, 2, 3, 4]) expect(await look('2026-03-02')).toEqual({ started: 1, open, left: true });
  expect(await look('2026-03-02')).toEqual({ started: 0, open: 4, left: true });
  const nightly = () =>
    app.sql<{ id: string; payload: object; triggered_by: string }>(
      'select id, payload, triggered_by from flow_run where is_scheduled order by created_at',
    );
  expect((await nightly()).map(({ payload, triggered_by }) => ({ payload, triggered_by }))).toEqual(
    ['b', 'c', 'd', 'e'].map((branch) => ({
      payload: { id: 'analyze', repositoryIdentifier: identifier, branch, commitId: sha(branch) },
      triggered_by: 'cron',
    })),
  );
  for (const { id } of await nightly()) await end(id, { status: 'failed', error: 'none' });
  expect(await look('2026-03-02')).toEqual({ started: 0, open: 0, left: false });
  expect(await app.sql('select branch from code_analysis_schedule order by branch')).toEqual(
    ['0'.repeat(300), 'a', 'b', 'c', 'd', 'e'].map((branch) => ({ branch })),
  );
  await app.sql(`update flow_run set ended_at = now() - interval '1 hour' where task_type = 'analyze'`);
  expect(await look('2026-03-03')).toMatchObject({ started: 1, open: 1 });
});

test('the job of a refresh is that of the commit which it found to be the head', async () => {
  const identifier = await project({});
  const { jobId } = await refresh(202, identifier, 'main');
  expect(await requested(identifier, 'main')).toMatchObject({ status: 'pending', jobId });
  await unit()((tx) => noteCommit(tx, jobId, sha('e')));
  await app.sql(
    `insert into git_ref (tenant_id, project_id, kind, name, sha) select tenant_id, id, 'branch', 'main', ? from project where identifier = ?`,
    [sha('e'), identifier],
  );
  expect(await requested(identifier, 'main')).toMatchObject({ status: 'pending', jobId });
  expect(await requested(identifier, 'main', sha('e'))).toMatchObject({ status: 'pending', jobId });
  expect((await requested(identifier, 'main', sha('f'))).jobId).not.toBe(jobId);
});

test('what a pipeline publishes during a refresh replaces results, once', async () => {
  const identifier = await project({ main: sha('a') }, { analysisPipeline: { id: 'analyse.yml' } });
  const publish = (status: number, name: string) =>
    app.as(app.owner).post(status, '/api/testreports/code-analysis/results', {
      repositoryIdentifier: identifier,
      branch: 'main',
      commitId: sha('a'),
      analyzedAt: new Date(Date.now() - 1_000).toISOString(),
      sarif: { version: '2.1.0', runs: [{ tool: { driver: { name } }, results: [] }] },
    });
  const tools = async () =>
    (
      await app
        .as(app.owner)
        .get(
          200,
          `/api/testreports/code-analysis/history/main?${new URLSearchParams({ repositoryIdentifier: identifier })}`,
        )
    ).map((row: { metadata: { tools: string[] } }) => row.metadata.tools.join());
  await publish(201, 'before');
  await publish(200, 'ignored');
  const { jobId } = await refresh(202, identifier, 'main');
  await publish(201, 'during');
  await publish(200, 'again');
  await end(jobId, { status: 'succeeded' });
  await publish(200, 'after');
  expect(await tools()).toEqual(['during']);
});
