import type { WorkerBackend } from '../../../../activities/backend.ts';
import { endRun } from '../../../../domain/delivery/flows/flow-runs.mutations.ts';
import { runById } from '../../../../domain/delivery/flows/flow-runs.queries.ts';
import { logKey } from '../../../../domain/insight/code-analysis/sarif/log-upload.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { idleEngine } from '../../../support/launch.ts';
import { logOf, resultAt } from '../../../support/sarif.ts';

const PATH = '/api/testreports/code-analysis';
const repositoryIdentifier = 'acme/shown';
const sha = (letter: string) => letter.repeat(40);

let app: TestApp;
let backend: WorkerBackend;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
  backend = activityDeps(app);
  const { id } = await app
    .as(app.owner)
    .post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  for (const [name, letter] of Object.entries({ main: 'a', next: 'b', topic: 'c' }))
    await app.sql(
      `insert into git_ref (tenant_id, project_id, kind, name, sha) select tenant_id, id, 'branch', ?, ? from project where id = ?`,
      [name, sha(letter), id],
    );
});
afterAll(async () => {
  await backend.close();
  await app.close();
});

const address = (more: Record<string, string>) => `${PATH}?${new URLSearchParams({ repositoryIdentifier, ...more })}`;
const show = (more: Record<string, string>, as = app.member): Promise<Json> => app.as(as).get(200, address(more));
const publish = (branch: string, commitId: string, minute: number, sarif: unknown = logOf([])) =>
  app.as(app.application).post(201, `${PATH}/results`, {
    repositoryIdentifier,
    branch,
    commitId,
    analyzedAt: new Date(Date.UTC(2026, 2, 2, 9, minute)).toISOString(),
    sarif,
  });

test('without results the head is analysed once, until they are there', async () => {
  const pending = await show({ branch: 'main' });
  expect(pending).toEqual({ status: 'pending', jobId: expect.any(String), message: expect.any(String), data: null });
  expect(await show({ branch: 'main' }, app.owner)).toMatchObject({ status: 'pending', jobId: pending.jobId });
  expect(await show({ branch: 'main', commitId: sha('a') })).toMatchObject({ jobId: pending.jobId });
  expect(await app.as(app.owner).get(200, `/api/flows/runs/${pending.jobId}`)).toMatchObject({ taskType: 'analyze' });
  expect(await app.sql('select branch from code_analysis_schedule')).toEqual([{ branch: 'main' }]);
  const sarif = logOf([resultAt('R1', 'a.js', 1, { message: { text: 'with "quotes"\n and ü 😀' } })]);
  await publish('main', sha('a'), 1, sarif);
  const { data, ...envelope } = await show({ branch: 'main' });
  expect(envelope).toEqual({ status: 'available', jobId: null, message: null });
  expect(data).toEqual({
    id: expect.any(String),
    repositoryIdentifier,
    branch: 'main',
    commitId: sha('a'),
    analyzedAt: '2026-03-02T09:01:00.000Z',
    duration: null,
    summary: expect.objectContaining({ totalIssues: 1, newIssues: null, fixedIssues: null }),
    metadata: { triggeredBy: 'app:ci', scheduledRun: false, tools: ['lint'] },
    gate: null,
    sarifUrl: `http://quayside.test${PATH}/results/${data.id}/sarif`,
    sarif,
  });
  const { sarif: _, ...withoutLog } = data;
  expect((await show({ branch: 'main', includeSarif: 'false' })).data).toEqual(withoutLog);
});

test('without a commit the newest results of the branch are shown, with one its own', async () => {
  await publish('next', sha('1'), 2);
  await publish('next', sha('2'), 1);
  expect((await show({ branch: 'next' })).data.commitId).toBe(sha('1'));
  expect((await show({ branch: 'next', commitId: sha('2') })).data.commitId).toBe(sha('2'));
  const other = await show({ branch: 'next', commitId: sha('3') });
  expect(other).toMatchObject({ status: 'pending', data: null });
  const [run] = await app.sql<{ payload: Json }>('select payload from flow_run where id = ?', [other.jobId]);
  expect(run?.payload).toMatchObject({ branch: 'next', commitId: sha('3') });
});

test('the log stays out when it is gone from the object store', async () => {
  await publish('gone', sha('4'), 1);
  const [row] = await app.sql<{ key: string }>(`select body_id as key from code_analysis where branch = 'gone'`);
  await backend.deps.objects.remove(logKey(app.tenantKey.tenantId, row?.key ?? ''));
  const { data } = await show({ branch: 'gone' });
  expect(data.commitId).toBe(sha('4'));
  expect(data).not.toHaveProperty('sarif');
});

test('a failure is shown with its sentence, and nothing is started meanwhile', async () => {
  const { jobId } = await show({ branch: 'topic' });
  await backend.deps.actingAs(systemActor(app.tenantKey, 'test'))(async (tx) =>
    endRun(tx, await runById(tx, jobId, { forUpdate: true }), { status: 'failed', error: 'The analyzer is missing' }),
  );
  expect(await show({ branch: 'topic' })).toEqual({
    status: 'error',
    jobId,
    message: 'The analyzer is missing',
    data: null,
  });
  expect(await show({ branch: 'nowhere' })).toEqual({
    status: 'error',
    jobId: null,
    message: 'The repository has no branch nowhere',
    data: null,
  });
});

test('parameters are checked, and another tenant has no such repository', async () => {
  const get = (status: number, path: string, as = app.member) => app.as(as).get(status, path);
  await get(400, `${PATH}?repositoryIdentifier=${repositoryIdentifier}`);
  await get(400, address({ branch: 'main', commitId: 'main' }));
  await get(400, address({ branch: 'main', includeSarif: 'no' }));
  await get(400, address({ branch: 'main' }), app.stranger);
});
