import { createApprovalActivities } from '../../../../activities/delivery/approvals/approvals.activities.ts';
import type { TicketState } from '../../../../domain/delivery/environment-locks/lock-rules.ts';
import { json } from '../../../../domain/kernel/data/columns.ts';
import type { RunStatus } from '../../../../domain/delivery/flows/run-status-rules.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { idleEngine } from '../../../support/launch.ts';
import { REQUESTS } from '../../../support/work-item-requests.ts';

const projectIdentifier = 'acme/waiting';
const APPROVER = 'lead@acme.example';
let app: TestApp;
let host: GitHostSimulator;
let activities: ReturnType<typeof activityDeps>;
let environmentId: string;

beforeAll(async () => {
  host = await gitHost('host-a');
  app = await testApp({
    launch: idleEngine,
    commands: ['install-packages'],
    env: { OUTBOUND_ALLOW: '127.0.0.0/8' },
  });
  activities = activityDeps(app);
  const owner = app.as(app.owner);
  await owner.post(201, '/api/integrations', {
    kind: 'host-a',
    name: 'host',
    baseUrl: host.url,
    credentials: hostCredentials,
  });
  await owner.post(201, '/api/projects', { identifier: projectIdentifier, platform: 'host-a' });
  const made = await owner.post(201, '/api/environments', {
    repositoryIdentifier: projectIdentifier,
    name: 'uat',
    category: 'test',
    orgUsername: 'uat@acme.example',
    approvalPolicy: { approvers: [app.owner.email, APPROVER] },
  });
  environmentId = made.id;
});
afterAll(async () => {
  await activities.close();
  await app.close();
  await host.close();
});

/** An issue with a payload of which the run is started, which no worker executes. */
async function requested(): Promise<{ id: string; key: string; run: string }> {
  const { id, key, flowExecution } = await app.as(app.member).post(201, '/api/work-items/with-payload', {
    projectIdentifier,
    authToken: 'token-of-dana',
    payload: { id: 'install-packages', environmentName: 'uat', packages: { shop: '1.4.0' } },
    triggerFlow: true,
  });
  return { id, key, run: flowExecution.id };
}
const reach = (run: string, status: RunStatus, more: Record<string, string | null> = {}) =>
  app.db
    .updateTable('flow_run')
    .set({ status, ...more })
    .where('id', '=', run)
    .execute();
const request = (id: string): Promise<Json> => app.as(app.member).get(200, `${REQUESTS}/${id}`);
const item = (key: string): Promise<Json> =>
  app.as(app.member).get(200, `/api/work-items/${key}?${new URLSearchParams({ projectIdentifier })}`);

test('a request knows its run from when that is accepted', async () => {
  const { id, key, run } = await requested();
  const execution = {
    id: run,
    taskType: 'install-packages',
    environmentName: 'uat',
    releaseName: null,
    status: 'Waiting',
    rawStatus: 'dispatched',
    waiting: null,
  };
  const shown = await request(id);
  expect(shown).toMatchObject({ status: 'open', executionId: run, startedAt: null, execution });
  expect(shown.history).toMatchObject([{ event: 'accepted', executionId: run }]);
  const { items } = await app.as(app.member).get(200, `${REQUESTS}?${new URLSearchParams({ projectIdentifier })}`);
  expect(items[0]).toMatchObject({ id, executionId: run, execution });
  expect((await item(key)).openRuns).toEqual([execution]);
});

test('a request and its work item say by whom the run is to be approved', async () => {
  const { id, key, run } = await requested();
  await createApprovalActivities(activities.deps).openApproval({ ...app.tenantKey, runId: run });
  await reach(run, 'waiting_approval');
  const waiting = {
    for: 'approval',
    who: [app.owner.email, APPROVER],
    reason: `Approval by ${app.owner.email}, ${APPROVER}`,
    until: expect.stringMatching(/Z$/),
  };
  expect(await request(id)).toMatchObject({ executionId: run, execution: { rawStatus: 'waiting_approval', waiting } });
  expect(await item(key)).toMatchObject({ openRuns: [{ id: run, waiting }] });
});

test('a request and its work item say for which window the run waits', async () => {
  const { id, key, run } = await requested();
  await reach(run, 'waiting_window', { waitsFor: 'uat is frozen', nextWindowAt: '2026-12-01T08:00:00Z' });
  const waiting = { for: 'window', who: [], reason: 'uat is frozen', until: '2026-12-01T08:00:00.000Z' };
  expect(await request(id)).toMatchObject({ execution: { waiting } });
  expect(await item(key)).toMatchObject({ openRuns: [{ id: run, waiting }] });
});

test('a request and its work item say who holds the lock that the run waits for', async () => {
  const { id, key, run } = await requested();
  await reach(run, 'waiting_lock');
  const [project] = await app.sql<{ id: string }>('select id from project where identifier = ?', [projectIdentifier]);
  const ticket = (state: TicketState, holderKey: string, more: object = {}) => ({
    id: newId(),
    tenantId: app.tenant.id,
    projectId: project?.id ?? '',
    environmentId,
    holder: json({ ...app.tenantKey, type: 'user' as const, id: newId(), role: 'member' as const, email: holderKey }),
    holderKey,
    leaseMinutes: 30,
    state,
    ...more,
  });
  await app.db
    .insertInto('environment_lock_ticket')
    .values([
      ticket('held', 'kim@acme.example', { expiresAt: '2026-12-01T08:00:00Z', heldAt: '2026-12-01T07:30:00Z' }),
      ticket('queued', `run:${run}`, { runId: run }),
    ])
    .execute();
  const waiting = {
    for: 'lock',
    who: ['kim@acme.example'],
    reason: 'The lock of uat, which kim@acme.example holds',
    until: '2026-12-01T08:00:00.000Z',
  };
  expect(await request(id)).toMatchObject({ execution: { waiting } });
  expect(await item(key)).toMatchObject({ openRuns: [{ id: run, waiting }] });
});

test('a work item shows the runs that name it in any spelling, and none of another place or that have ended', async () => {
  const { number } = host.issues.add(projectIdentifier, { title: 'An issue' });
  const start = async (workItemRef: object): Promise<string> => {
    const payload = { id: 'install-packages', repositoryIdentifier: projectIdentifier, environmentName: 'uat' };
    return (await app.as(app.member).post(202, '/api/flows/run', { payload: { ...payload, workItemRef } })).id;
  };
  const type = 'host-a-issue';
  const plain = await start({ type, key: String(number) });
  const spelled = await start({ type, key: `${projectIdentifier}#${number}` });
  const ended = await start({ type, key: `#${number}` });
  await start({ type, key: String(number), repository: 'acme/elsewhere' });
  await reach(ended, 'failed', { endedAt: '2026-12-01T08:00:00Z' });
  const { openRuns } = await item(String(number));
  expect(openRuns.map(({ id }: Json) => id)).toEqual([spelled, plain]);
});
