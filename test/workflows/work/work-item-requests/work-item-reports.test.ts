import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';
import type { SimulatedIssue } from '../../../simulators/trackers/github-issues.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { loseHeartbeats } from '../../../support/lost-heartbeats.ts';
import { tracedRuns } from '../../../support/traced-runs.ts';
import { eventually, startWorker, startWorkerProcess, type TestWorker } from '../../../support/worker.ts';
import { REQUESTS } from '../../../support/work-item-requests.ts';
import {
  reportChangedSignal,
  workItemReportContract,
} from '../../../../workflows/work/work-item-requests/work-item-report.contract.ts';

const QUEUES = ['flows-v1', 'commands-v1', 'approvals-v1'];

let app: TestApp;
let worker: TestWorker;
let host: GitHostSimulator;
const runs = tracedRuns(() => app, { 'install-packages': 'true', 'install-artifacts': 'exit 3' });
const { repositoryIdentifier } = runs;

beforeAll(async () => {
  host = await gitHost('host-a');
  app = await testApp({ env: { COMMANDS_FILE: runs.commandsFile, OUTBOUND_ALLOW: '127.0.0.0/8' } });
  worker = await startWorker(app, QUEUES);
  const owner = app.as(app.owner);
  await owner.post(201, '/api/integrations', {
    kind: 'host-a',
    name: 'host',
    baseUrl: host.url,
    credentials: hostCredentials,
  });
  await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { approvalPolicy: { skipApproval: true } },
  });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await host.close();
  runs.remove();
});

/** An issue with a payload of which the run is started. */
async function requested(
  id = 'install-packages',
  more: object = { orgUsername: 'uat@acme.example.com' },
): Promise<{ id: string; issue: SimulatedIssue; run: string }> {
  const made = await app.as(app.member).post(201, '/api/work-items/with-payload', {
    projectIdentifier: repositoryIdentifier,
    authToken: 'token-of-dana',
    payload: { id, note: 'a-note', ...more },
    triggerFlow: true,
  });
  const issue = host.issues.find(repositoryIdentifier, Number(made.key)) as SimulatedIssue;
  return { id: made.id, issue, run: made.flowExecution.id };
}
const request = (id: string): Promise<Json> => app.as(app.owner).get(200, `${REQUESTS}/${id}`);
const inStatus = (id: string, status: string) =>
  eventually(
    () => request(id),
    (shown) => shown.status === status,
  );
/** Waits until that is its only label: it is added before the one of the state before it is taken away. */
const labelled = (issue: SimulatedIssue, label: string) =>
  eventually(
    async () => issue.labels,
    (labels) => labels.join() === label,
  );
/** As if five minutes had gone by. */
async function letClose(requestId: string): Promise<void> {
  await app.sql(`update work_item_request set close_due_at = now() - interval '1 second' where id = ?`, [requestId]);
  await app.launch.signalWithStart(
    workItemReportContract,
    { ...app.tenantKey, requestId, repositoryIdentifier },
    reportChangedSignal,
  );
}

test('a run reports to the issue in which it was requested, and the issue is closed after its success', async () => {
  const { id, issue, run } = await requested();
  const done = await inStatus(id, 'completed');
  expect(done).toMatchObject({ executionId: run, startedAt: expect.any(String), completedAt: expect.any(String) });
  expect(done.history.map(({ event, executionId }: Json) => [event, executionId])).toEqual([
    ['accepted', run],
    ['started', run],
    ['completed', run],
  ]);
  await labelled(issue, 'quayside:done');
  expect(issue.comments).toHaveLength(1);
  expect(issue.comments[0]).toMatchObject({ author: 'quayside-bot', body: expect.stringContaining('Completed') });
  expect(issue.state).toBe('open');
  const [due] = await app.sql<{ seconds: number }>(
    'select extract(epoch from close_due_at - completed_at)::int as seconds from work_item_request where id = ?',
    [id],
  );
  expect(due?.seconds).toBe(300);
  await letClose(id);
  await inStatus(id, 'closed');
  expect(issue).toMatchObject({ state: 'closed', stateReason: 'completed' });
  expect(issue.comments).toHaveLength(1);
});

test('an issue shows that its run waits for an approval, and names nobody', async () => {
  const owner = app.as(app.owner);
  await owner.post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'guarded',
    category: 'test',
    approvalPolicy: { approvers: [app.owner.email] },
  });
  const { id, issue, run } = await requested('install-packages', { environmentName: 'guarded' });
  await labelled(issue, 'quayside:waiting');
  expect(issue.comments).toHaveLength(1);
  expect(issue.comments[0]?.body).toContain('Waiting for approval');
  expect(issue.comments[0]?.body).not.toContain(app.owner.email);
  const { execution } = await request(id);
  expect(execution).toMatchObject({ id: run, waiting: { for: 'approval', who: [app.owner.email] } });
  const { items } = await owner.get(200, `/api/flows/approvals?${new URLSearchParams({ repositoryIdentifier })}`);
  await owner.post(200, `/api/flows/approvals/${items[0].id}/reject`, {});
  await inStatus(id, 'completed');
  await labelled(issue, 'quayside:failed');
  expect(issue.comments).toHaveLength(1);
});

test('a run that fails leaves the issue open; a rerun edits its comment', async () => {
  const { id, issue, run } = await requested('install-artifacts');
  expect(await inStatus(id, 'failed')).toMatchObject({ error: expect.any(String) });
  await labelled(issue, 'quayside:failed');
  const { id: again } = await app.as(app.member).post(202, `/api/flows/runs/${run}/rerun`);
  await eventually(
    () => request(id),
    ({ executionId, status }) => executionId === again && status === 'failed',
  );
  await eventually(
    async () => ({ body: issue.comments[0]?.body ?? '', labels: issue.labels.join() }),
    ({ body, labels }) => body.includes(again.slice(-12)) && body.includes('Failed') && labels === 'quayside:failed',
  );
  expect(issue.state).toBe('open');
  expect(issue.comments).toHaveLength(1);
});

test('a run about an issue of the same number elsewhere leaves the request as it is', async () => {
  const { id, issue, run } = await requested('install-artifacts');
  await inStatus(id, 'failed');
  await labelled(issue, 'quayside:failed');
  const start = async (repository: string): Promise<string> => {
    const workItemRef = { type: 'host-a-issue', key: String(issue.number), repository };
    const payload = { id: 'install-artifacts', repositoryIdentifier, note: 'a-note', workItemRef };
    const started = await app.as(app.member).post(202, '/api/flows/run', { payload });
    await eventually(
      () => app.as(app.member).get(200, `/api/flows/runs/${started.id}`),
      ({ rawStatus }: Json) => rawStatus === 'failed',
    );
    return started.id;
  };
  await start('acme/elsewhere');
  expect(await request(id)).toMatchObject({ executionId: run });
  const here = await start(repositoryIdentifier);
  expect(await request(id)).toMatchObject({ executionId: here, status: 'failed' });
});

test('a project may keep its issues open', async () => {
  const path = `/api/projects/${encodeURIComponent(repositoryIdentifier)}`;
  const configure = (closeOnCompletion: boolean | null) =>
    app.as(app.owner).patch(200, path, { configuration: { workItems: { closeOnCompletion } } });
  await configure(false);
  const { id, issue } = await requested();
  await inStatus(id, 'completed');
  // The next test has the host fail.
  await labelled(issue, 'quayside:done');
  const rows = await app.sql('select 1 from work_item_request where id = ? and close_due_at is not null', [id]);
  expect(rows).toEqual([]);
  await configure(true);
});

test('a worker that is killed between the comment and its row leaves one comment', async () => {
  await worker.stop();
  const dying = await startWorkerProcess(app, QUEUES);
  host.failNext('hang', { path: /\/issues\/\d+(\/labels)?$/ });
  const { id, issue, run } = await requested();
  await eventually(
    async () => issue.comments.length,
    (count) => count === 1,
  );
  await runs.reached(run, 'succeeded');
  await dying.kill('SIGKILL');
  const [row] = await app.sql<{ comment_id: string | null }>('select comment_id from work_item_request where id = ?', [
    id,
  ]);
  expect(row?.comment_id).toBeNull();
  worker = await startWorker(app, QUEUES);
  await loseHeartbeats(
    app,
    app.launch.idOf(workItemReportContract, { ...app.tenantKey, requestId: id, repositoryIdentifier }),
    1,
  );
  await inStatus(id, 'completed');
  await labelled(issue, 'quayside:done');
  expect(issue.comments).toHaveLength(1);
});

test('a host that is away delays the report alone', async () => {
  host.failNext({ status: 503, body: { message: 'Unavailable' } }, { path: /comments/, times: 2 });
  const { id, issue } = await requested();
  await inStatus(id, 'completed');
  await labelled(issue, 'quayside:done');
  expect(issue.comments).toHaveLength(1);
});
