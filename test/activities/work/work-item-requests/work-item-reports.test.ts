import { asyncLocalStorage, type Context } from '@temporalio/activity';
import type { WorkerBackend } from '../../../../activities/backend.ts';
import {
  createWorkItemReportActivities,
  type WorkItemReportActivities,
} from '../../../../activities/work/work-item-requests/work-item-reports.activities.ts';
import { json } from '../../../../domain/kernel/data/columns.ts';
import type { RunStatus } from '../../../../domain/delivery/flows/run-status-rules.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';
import type { Fault } from '../../../simulators/host-server.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { engineAway } from '../../../support/launch.ts';
import { addedRequest, type NewRequestRow } from '../../../support/work-item-requests.ts';

let host: GitHostSimulator;
let app: TestApp;
let backend: WorkerBackend;
let activities: WorkItemReportActivities;
beforeAll(async () => {
  app = await testApp({ launch: engineAway, env: { OUTBOUND_ALLOW: '127.0.0.0/8' } });
});
beforeEach(async () => {
  host = await gitHost('host-a');
  // A limit is known to the process that learned of it.
  backend = activityDeps(app);
  activities = createWorkItemReportActivities(backend.deps);
});
afterEach(async () => {
  await Promise.all([backend.close(), host.close()]);
});
afterAll(() => app.close());

const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000);

/** A request whose issue is to show a run of this status. */
async function reported(status: RunStatus, more: NewRequestRow = {}, { hasIntegration = true } = {}) {
  const report = { runId: newId(), taskType: 'install-packages', status, error: null, url: null };
  const { id: requestId, projectIdentifier } = await addedRequest(app, {
    workItemKey: '1',
    report: json(report),
    reportRevision: 1,
    reportChangedAt: secondsAgo(70),
    ...more,
  });
  const integrate = () =>
    app.as(app.owner).post(201, '/api/integrations', {
      kind: 'host-a',
      name: 'host',
      repositoryIdentifier: projectIdentifier,
      baseUrl: host.url,
      credentials: hostCredentials,
    });
  if (hasIntegration) await integrate();
  const key = { ...app.tenantKey, requestId, repositoryIdentifier: projectIdentifier };
  const row = async () => {
    const [found] = await app.sql<{ error: string | null; minutes: number; written: number; closing: number | null }>(
      `select report_error as error, report_written_revision as written,
         round(extract(epoch from report_changed_at - now()) / 60)::int as minutes,
         round(extract(epoch from close_due_at - now()) / 60)::int as closing
       from work_item_request where id = ?`,
      [requestId],
    );
    return found;
  };
  const run = <Result>(work: () => Promise<Result>): Promise<Result> =>
    asyncLocalStorage.run(
      { heartbeat: () => undefined, cancellationSignal: new AbortController().signal } as Partial<Context> as Context,
      work,
    );
  return {
    issue: host.issues.add(projectIdentifier),
    integrate,
    row,
    write: () => run(() => activities.writeReport(key)),
    close: () => run(() => activities.closeWorkItem(key)),
  };
}

test.each<[RunStatus, string]>([
  ['running', 'quayside:running'],
  ['succeeded', 'quayside:done'],
  ['partial', 'quayside:failed'],
  ['rejected', 'quayside:failed'],
  ['cancelled', 'quayside:failed'],
])('an issue shows that its run is %s by the label %s alone', async (status, label) => {
  const { issue, write } = await reported(status);
  issue.labels = ['ui', 'quayside:running', 'quayside:failed'];
  await write();
  expect(issue.labels.toSorted()).toEqual([label, 'ui'].toSorted());
});

test.each<[string, Fault, number, number]>([
  ['a refused credential', { status: 401, body: { message: 'Bad credentials' } }, 60, 60],
  ['a limit', { status: 429, body: { message: 'Wait' }, headers: { 'retry-after': '7200' } }, 120, 120],
  ['an answer in HTML', 'html', 0, 4],
])('%s delays what an issue shows, and its closing', async (_, fault, minutes, closing) => {
  const { issue, row, write, close } = await reported('succeeded', { closeDueAt: secondsAgo(-240) });
  host.failNext(fault);
  await expect(write()).rejects.toThrow();
  expect(await row()).toMatchObject({ written: 0, minutes, closing, error: expect.stringContaining('host-a') });
  expect(await close()).toMatchObject({ closeInMs: expect.any(Number) });
  expect(issue).toMatchObject({ state: 'open', comments: [] });
});

test('while a limit holds no call leaves', async () => {
  const { write } = await reported('succeeded');
  host.failNext({ status: 429, body: { message: 'Wait' }, headers: { 'retry-after': '3600' } });
  await expect(write()).rejects.toThrow();
  await expect(write()).rejects.toThrow();
  expect(host.requests).toHaveLength(1);
});

test('an issue shows its run once there is an integration, and is closed', async () => {
  const { issue, integrate, row, write, close } = await reported(
    'succeeded',
    { closeDueAt: secondsAgo(1) },
    { hasIntegration: false },
  );
  await expect(write()).rejects.toThrow();
  expect(await row()).toMatchObject({ written: 0, minutes: 60, closing: 60 });
  await integrate();
  await write();
  expect(await row()).toMatchObject({ written: 1, error: null });
  expect(issue.comments).toHaveLength(1);
  await app.sql('update work_item_request set close_due_at = now() where close_due_at is not null');
  host.failNext({ status: 403, body: { message: 'Resource not accessible' } });
  await expect(close()).rejects.toThrow();
  expect(await row()).toMatchObject({ closing: 60, error: expect.stringContaining('403') });
  await app.sql('update work_item_request set close_due_at = now() where close_due_at is not null');
  expect(await close()).toEqual({ closeInMs: null });
  expect(issue.state).toBe('closed');
});

test('what a credential refused for a week is given up', async () => {
  const { row, write } = await reported('succeeded', { completedAt: secondsAgo(8 * 86_400) });
  host.failNext({ status: 401, body: { message: 'Bad credentials' } });
  await write();
  expect(await row()).toMatchObject({ written: 1, error: expect.stringContaining('Bad credentials') });
});
