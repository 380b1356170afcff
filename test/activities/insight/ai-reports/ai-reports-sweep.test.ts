import { aiReportsSweep } from '../../../../activities/insight/ai-reports/ai-reports.sweep.ts';
import { stalledWork } from '../../../../domain/kernel/system/stalled-work.queries.ts';
import { runSweep } from '../../../../activities/kernel/system/run-sweep.ts';
import { activityDeps } from '../../../support/activities.ts';
import { onRepository, type ReportedProject, reportedProject } from '../../../support/ai-reports.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { engineAway, recordingEngine } from '../../../support/launch.ts';
import { refresh } from '../../../support/model-reports.ts';

let app: TestApp;
let activities: ReturnType<typeof activityDeps>;
const { seen, launch } = recordingEngine();
const sweep = () => runSweep({ ...activities.deps, launch }, aiReportsSweep);

beforeAll(async () => {
  app = await testApp({ launch: engineAway });
  activities = activityDeps(app);
});
afterAll(async () => {
  await activities.close();
  await app.close();
});

/** A report that was accepted while no engine was there, and last changed so long ago. */
async function accepted(secondsAgo: number): Promise<{ project: ReportedProject; id: string }> {
  const project = await reportedProject(app);
  const { taskExecutionId: id } = await refresh(app, project, { provider: 'local' });
  await app.sql('update ai_report set updated_at = now() - make_interval(secs => ?) where id = ?', [secondsAgo, id]);
  return { project, id };
}

test('a report whose launch was lost is launched', async () => {
  const [{ project, id }] = [await accepted(31), await accepted(5)];
  seen.started = [];
  await sweep();
  const { repositoryIdentifier } = project;
  expect(seen.started).toEqual([{ ...app.tenantKey, reportId: id, repositoryIdentifier, branch: 'main' }]);
  await expect(project.get('/status', onRepository)).resolves.toMatchObject({ status: 'generating', reportId: id });
});

test('a report that is cancelled before its workflow begins has ended', async () => {
  const { project, id } = await accepted(5);
  const { repositoryIdentifier } = project;
  const path = `/api/ai-reports/cancel?${new URLSearchParams({ repositoryIdentifier, ...onRepository })}`;
  const cancelled = await app.as(app.application).post(202, path);
  expect(cancelled).toEqual({ taskExecutionId: id, status: 'failed' });
  await expect(project.get('/status', onRepository)).resolves.toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/^cancelled: /),
  });
  const { items } = await app.as(app.owner).get(200, `/api/audit?entityId=${id}`);
  expect(items.map(({ action }: { action: string }) => action).toSorted()).toEqual([
    'ai_report.cancel_requested',
    'ai_report.failed',
    'ai_report.requested',
  ]);
});

test('a report whose workflow ended before it began fails, one that waits for a worker stays', async () => {
  const { project, id } = await accepted(31);
  seen.state = 'running';
  seen.started = [];
  await expect(sweep()).resolves.toMatchObject({ handled: 0 });
  expect(seen.started).toEqual([]);
  await expect(project.get('/status', onRepository)).resolves.toMatchObject({ status: 'generating', reportId: id });
  seen.state = 'terminated';
  await sweep();
  await expect(project.get('/status', onRepository)).resolves.toMatchObject({
    status: 'failed',
    error: 'interrupted: The generation was ended from outside',
  });
});

test('many reports that wait for a worker keep no lost one from being launched', async () => {
  await app.sql(
    `insert into ai_report (id, tenant_id, project_id, branch, scope, scope_name, status, analyzed_at, requested_by,
       created_at, updated_at)
     select gen_random_uuid(), tenant_id, id, 'waiting-' || n, 'repository', 'repository', 'queued', now(), 'test',
       now() - interval '1 hour', now() - interval '1 hour'
     from project, generate_series(1, 20) n where id = ?`,
    [(await reportedProject(app)).id],
  );
  const waiting = activities.deps.system;
  const passes = await Promise.all(
    Array.from({ length: 60 }, () =>
      stalledWork(waiting, 'ai_report', { queuedSeconds: 30, runningSeconds: 300, limit: 10 }),
    ),
  );
  expect(new Set(passes.flat().map(({ id }) => id)).size).toBeGreaterThanOrEqual(20);
});

test('a report whose workflow somebody ended fails, and the next one is another', async () => {
  const { project, id } = await accepted(301);
  await app.sql("update ai_report set status = 'running' where id = ?", [id]);
  seen.state = 'running';
  await sweep();
  await expect(project.get('/status', onRepository)).resolves.toMatchObject({ status: 'generating' });
  await app.sql(
    `insert into ai_call (id, tenant_id, project_id, task_execution_id, integration_id, provider, model, outcome, estimate,
       input, output, started_at, lease_until)
     values (gen_random_uuid(), ?, ?, ?, gen_random_uuid(), 'openai', 'gpt', 'running', 0.5, 10, 20, now(), now())`,
    [app.tenant.id, project.id, id],
  );
  seen.state = 'terminated';
  await sweep();
  await expect(project.get('/status', onRepository)).resolves.toMatchObject({
    status: 'failed',
    error: 'interrupted: The generation was ended from outside',
  });
  // Its last call may be billed.
  await expect(project.get('/history', onRepository)).resolves.toMatchObject([
    { cost: 0.5, usage: { input: 10, output: 20 } },
  ]);
  const next = await refresh(app, project, { provider: 'local' });
  expect(next).toMatchObject({ status: 'generating', cached: false });
  expect(next.taskExecutionId).not.toBe(id);
});
