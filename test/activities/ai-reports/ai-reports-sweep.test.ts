import { aiReportsSweep } from '../../../activities/ai-reports/ai-reports.sweep.ts';
import { runSweep } from '../../../activities/system/run-sweep.ts';
import { activityDeps } from '../../support/activities.ts';
import { onRepository, type ReportedProject, reportedProject } from '../../support/ai-reports.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { engineAway, recordingEngine } from '../../support/launch.ts';
import { refresh } from '../../support/model-reports.ts';

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
  expect(seen.started).toEqual([{ ...app.tenantKey, reportId: id }]);
  await expect(project.get('/status', onRepository)).resolves.toMatchObject({ status: 'generating', reportId: id });
});

test('a report whose workflow somebody ended fails, and the next one is another', async () => {
  const { project, id } = await accepted(301);
  await app.sql("update ai_report set status = 'running' where id = ?", [id]);
  seen.isRunning = true;
  await sweep();
  await expect(project.get('/status', onRepository)).resolves.toMatchObject({ status: 'generating' });
  seen.isRunning = false;
  await sweep();
  await expect(project.get('/status', onRepository)).resolves.toMatchObject({
    status: 'failed',
    error: 'interrupted: The generation was ended from outside',
  });
  const next = await refresh(app, project, { provider: 'local' });
  expect(next).toMatchObject({ status: 'generating', cached: false });
  expect(next.taskExecutionId).not.toBe(id);
});
