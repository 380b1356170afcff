import { createScheduleActivities } from '../../../../activities/delivery/flows/schedules.activities.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { scheduledFlowContract } from '../../../../workflows/delivery/flows/scheduled-flow.contract.ts';
import { createTemporalClient } from '../../../../workflows/temporal-client.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Bearer, Json } from '../../../support/client.ts';
import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';
import { insertMembership, insertUser } from '../../../support/factories.ts';
import { cutRelease } from '../../../support/releases.ts';
import { tracedRuns } from '../../../support/traced-runs.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
const runs = tracedRuns(() => app, {
  'install-packages': 'true',
  'execute-release': 'true',
  'run-apex-tests': 'true',
  build: 'true',
});
const { repositoryIdentifier, shown, reached } = runs;
let worker: TestWorker;
let host: GitHostSimulator;
let activities: ReturnType<typeof activityDeps>;
/** Application tokens that the owner made: of the tenant, of the project alone, and of another project. */
let token: Bearer;
let limited: Bearer;
let elsewhere: Bearer;

beforeAll(async () => {
  host = await gitHost('host-a');
  app = await testApp({ env: { COMMANDS_FILE: runs.commandsFile, OUTBOUND_ALLOW: '127.0.0.0/8' } });
  worker = await startWorker(app, ['flows-v1', 'commands-v1', 'environment-locks-v1', 'approvals-v1']);
  activities = activityDeps(app);
  const owner = app.as(app.owner);
  token = await owner.post(201, '/api/application-tokens', { name: 'pipeline' });
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  await owner.post(201, '/api/projects', { identifier: 'acme/elsewhere', platform: 'host-a' });
  limited = await owner.post(201, '/api/application-tokens', { name: 'limited', projects: [repositoryIdentifier] });
  elsewhere = await owner.post(201, '/api/application-tokens', { name: 'elsewhere', projects: ['acme/elsewhere'] });
  await owner.post(201, '/api/integrations', {
    kind: 'host-a',
    name: 'host',
    baseUrl: host.url,
    credentials: hostCredentials,
  });
  await releases('r', 'r2', 'r3');
  const both = { approvers: [app.owner.email, app.member.email] };
  for (const [name, orgUsername, approvalPolicy, category] of [
    ['prod', 'Deploy@acme.example', both, 'release'],
    ['dev', 'deploy@acme.example.dev', { skipApproval: true }, 'dev'],
  ])
    await owner.post(201, '/api/environments', {
      repositoryIdentifier,
      name,
      category,
      orgUsername,
      approvalPolicy,
    });
});
afterAll(async () => {
  await worker.stop();
  await activities.close();
  await app.close();
  await host.close();
  runs.remove();
});

const releases = (...names: string[]) => Promise.all(names.map((name) => cutRelease(app, repositoryIdentifier, name)));
const start = async (payload: object, caller: Bearer = app.member): Promise<string> =>
  (await app.as(caller).post(202, '/api/flows/run', { payload: { note: 'n', ...payload } })).id;
const TOO_FEW = { code: 'too_few_approvers' };
const refuse = async (payload: object, caller: Bearer): Promise<void> => {
  const refused = await app.as(caller).post(409, '/api/flows/run', { payload: { note: 'n', ...payload } });
  expect(refused).toMatchObject(TOO_FEW);
};
/** Starts a run by a schedule, which is removed again. */
async function startBySchedule(payload: object, caller: Bearer): Promise<string> {
  const schedule = { name: `schedule ${newId()}`, cron: '0 3 * * *', payload: { note: 'n', ...payload } };
  const { id: scheduleId } = await app.as(caller).post(201, '/api/flows/schedules', schedule);
  const occasion = `${scheduleId}/now`;
  await createScheduleActivities(activities.deps).startScheduledRun({ ...app.tenantKey, scheduleId, occasion });
  const [run] = await app.sql<{ id: string }>('select id from flow_run where schedule_id = ?', [scheduleId]);
  await app.as(app.owner).delete(204, `/api/flows/schedules/${scheduleId}`);
  return run?.id ?? '';
}
/** The approval that a run waits for. */
const approvalOf = async (runId: string): Promise<Json> => {
  await reached(runId, 'waiting_approval');
  const { items } = await app.as(app.owner).get(200, '/api/flows/approvals?limit=200');
  return items.find((each: Json) => each.executionId === runId);
};
const approve = (caller: Bearer, { id }: Json, status = 200): Promise<Json> =>
  app.as(caller).post(status, `/api/flows/approvals/${id}/approve`, {});
const reject = async (runId: string): Promise<void> => {
  const { id } = await approvalOf(runId);
  await app.as(app.owner).post(200, `/api/flows/approvals/${id}/reject`, {});
  await reached(runId, 'rejected');
};
const locksOf = (runId: string) =>
  app.sql('select state from environment_lock_ticket where run_id = ? and held_at is not null', [runId]);

const RELEASE = { id: 'execute-release', repositoryIdentifier, domain: 'core', releaseName: 'r' };

test('a deployment that names its org alone waits for approval and lock of the environment', async () => {
  const runId = await start({ id: 'install-packages', orgUsername: ' DEPLOY@acme.example' });
  const approval = await approvalOf(runId);
  expect(approval).toMatchObject({ environmentName: 'prod', approvers: [app.owner.email, app.member.email] });
  expect(await shown(runId)).toMatchObject({ environmentName: 'prod' });
  await approve(app.owner, approval);
  await reached(runId, 'succeeded');
  expect(await locksOf(runId)).toEqual([{ state: 'released' }]);
});

test('a lax environment does not open the way to a strict one that is named elsewhere, and both are locked', async () => {
  const lax = { id: 'install-packages', repositoryIdentifier, environmentName: 'dev' };
  for (const target of [{ args: '-o deploy@acme.example' }, { nested: { environment: 'PROD' } }]) {
    const runId = await start({ ...lax, ...target });
    await approve(app.owner, await approvalOf(runId));
    await reached(runId, 'succeeded');
    expect(await locksOf(runId)).toEqual([{ state: 'released' }, { state: 'released' }]);
  }
  const alone = await start(lax);
  await reached(alone, 'succeeded');
});

test('a target that is no environment waits for the owners, who are one', async () => {
  const byMember = await start({ id: 'install-packages', orgUsername: 'nobody@acme.example' });
  const approval = await approvalOf(byMember);
  expect(approval).toMatchObject({ environmentName: null, approvers: [] });
  await approve(app.member, approval, 403);
  await approve(app.owner, approval);
  await reached(byMember, 'succeeded');
  expect(await locksOf(byMember)).toEqual([]);

  const inPerson = await start({ id: 'install-packages' }, app.owner);
  // The owner may give what they ask for in person, not by a token.
  await refuse({ id: 'install-packages' }, token);
  await approvalOf(inPerson);
  const { items } = await app.as(app.owner).get(200, '/api/flows/approvals?mine=true');
  expect(items.map(({ executionId }: Json) => executionId)).toEqual([inPerson]);
  await app.sql(`update membership set role = 'owner' where user_id = (select id from user_account where email = ?)`, [
    app.member.email,
  ]);
  await approve(app.owner, await approvalOf(inPerson), 403);
  await app.sql(`update membership set role = 'member' where user_id = (select id from user_account where email = ?)`, [
    app.member.email,
  ]);
  await approve(app.owner, await approvalOf(inPerson));
  await reached(inPerson, 'succeeded');
});

test('a type with the lock gate alone runs without lock where no environment is found', async () => {
  const runId = await start({ id: 'run-apex-tests', repositoryIdentifier, orgUsername: 'nobody@acme.example' });
  await reached(runId, 'succeeded');
  expect(await locksOf(runId)).toEqual([]);
  const locked = await start({ id: 'run-apex-tests', orgUsername: 'deploy@acme.example.DEV' });
  await reached(locked, 'succeeded');
  expect(await locksOf(locked)).toEqual([{ state: 'released' }]);
});

test.each([
  ['no environment', {}],
  ['an org that nobody knows', { orgUsername: 'nobody@acme.example' }],
  ['a branch that goes everywhere', { branch: 'main' }],
  ['a pipeline', { pipeline: { id: 'deploy.yml', inputs: { target: 'prod' } } }],
])('a type that deploys to an environment is refused with %s, at once and on a schedule', async (_, target) => {
  const payload = { ...RELEASE, ...target };
  for (const [path, body] of [
    ['/api/flows/run', { payload }],
    ['/api/flows/schedules', { name: 'never', cron: '0 3 * * *', payload }],
  ] as const) {
    const refused = await app.as(app.owner).post(400, path, body);
    expect(refused.errors).toEqual([
      { pointer: '#/body/payload/environmentName', detail: expect.stringContaining('name it') },
    ]);
  }
});

test('a schedule whose run cannot go says why: by a run that failed, or itself where there can be no run', async () => {
  const owner = app.as(app.owner);
  const { id: environmentId } = await owner.post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'removed',
    category: 'dev',
  });
  const payload = { ...RELEASE, releaseName: 'uncut', environmentName: 'removed', note: 'n' };
  const { id: scheduleId } = await owner.post(201, '/api/flows/schedules', {
    name: 'early',
    cron: '0 3 * * *',
    payload,
  });
  const fire = (occasion: string) =>
    createScheduleActivities(activities.deps).startScheduledRun({ ...app.tenantKey, scheduleId, occasion });
  const schedule = async () => (await owner.get(200, '/api/flows/schedules')).find(({ id }: Json) => id === scheduleId);
  for (let attempt = 0; attempt < 2; attempt++) await fire(`${scheduleId}/first`);
  const made = await app.sql<{ id: string }>('select id from flow_run where schedule_id = ?', [scheduleId]);
  expect(made).toHaveLength(1);
  expect(await shown(made[0]?.id ?? '')).toMatchObject({
    rawStatus: 'failed',
    startedAt: null,
    success: { error: expect.stringContaining('uncut') },
  });
  expect((await schedule()).lastRefusal).toBeNull();

  await owner.delete(204, `/api/environments/${environmentId}`);
  await fire(`${scheduleId}/second`);
  expect(await app.sql('select id from flow_run where schedule_id = ?', [scheduleId])).toHaveLength(1);
  const reason = expect.stringContaining('removed');
  expect((await schedule()).lastRefusal).toEqual({ at: expect.any(String), reason });
  const trail = await owner.get(200, `/api/audit?entityId=${scheduleId}&action=flow_schedule.refused`);
  expect(trail.items).toMatchObject([{ after: { reason } }]);
  await owner.delete(204, `/api/flows/schedules/${scheduleId}`);
});

test('a schedule that is paused starts nothing, and the engine knows its new times', async () => {
  const owner = app.as(app.owner);
  const name = 'paused';
  const { id: scheduleId } = await owner.post(201, '/api/flows/schedules', {
    name,
    cron: '0 3 * * *',
    payload: { id: 'build', repositoryIdentifier },
  });
  const path = `/api/flows/schedules/${scheduleId}`;
  await owner.patch(200, path, { isPaused: true, cron: '15 4 * * *', timezone: 'Europe/Berlin' });
  const client = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });
  const engine = client.schedule.getHandle(
    app.launch.idOf(scheduledFlowContract, { ...app.tenantKey, scheduleId, name }),
  );
  expect(await engine.describe()).toMatchObject({
    state: { paused: true },
    spec: { calendars: [{ hour: [{ start: 4 }], minute: [{ start: 15 }] }], timezone: 'Europe/Berlin' },
  });
  await createScheduleActivities(activities.deps).startScheduledRun({
    ...app.tenantKey,
    scheduleId,
    occasion: `${scheduleId}/first`,
  });
  expect(await app.sql('select id from flow_run where schedule_id = ?', [scheduleId])).toEqual([]);
  await owner.patch(200, path, { isPaused: false });
  expect(await engine.describe()).toMatchObject({ state: { paused: false } });
  await client.connection.close();
  await owner.delete(204, path);
});

test('a release that a pipeline or a command executes as a whole waits for the approval of all its environments', async () => {
  const release = { ...RELEASE, id: 'request-release', releaseName: 'r3' };
  const runId = await start({ ...release, pipeline: { id: 'deploy.yml' } });
  await approve(app.owner, await approvalOf(runId));
  await eventually(
    () => shown(runId),
    ({ cicdRunUrl }) => cicdRunUrl !== null,
  );
  expect(await locksOf(runId)).toEqual([{ state: 'held' }]);
  await app.as(app.application).post(204, `/api/flows/internal/${runId}/callback`, { event: 'completed' });
  await reached(runId, 'succeeded');
  const owner = app.as(app.owner);
  const bare = 'acme/bare';
  await owner.post(201, '/api/projects', { identifier: bare, platform: 'host-a' });
  const payload = { ...release, repositoryIdentifier: bare, pipeline: { id: 'deploy.yml' } };
  const refused = await owner.post(400, '/api/flows/run', { payload });
  expect(refused.errors).toMatchObject([{ pointer: '#/body/payload/environmentNames' }]);
});

test('the policy of the project is that of targets without one', async () => {
  const path = `/api/projects/${encodeURIComponent(repositoryIdentifier)}`;
  const owner = app.as(app.owner);
  await owner.patch(400, path, { configuration: { approvalPolicy: { minApprovals: 0 } } });
  await owner.patch(200, path, { configuration: { approvalPolicy: { approvers: [app.member.email] } } });
  const runId = await start({ id: 'install-packages', repositoryIdentifier }, app.owner);
  await approve(app.member, await approvalOf(runId));
  await reached(runId, 'succeeded');
  await owner.patch(200, path, { configuration: { approvalPolicy: { skipApproval: true } } });
  await reached(await start({ id: 'install-packages', repositoryIdentifier }), 'succeeded');
  await owner.patch(200, path, { configuration: { approvalPolicy: null } });
});

describe('who set a run in motion may not approve it', () => {
  const payload = { id: 'install-packages', repositoryIdentifier, environmentName: 'prod' };

  test('by a token of their own', async () => {
    const runId = await start(payload, token);
    const approval = await approvalOf(runId);
    await approve(app.owner, approval, 403);
    await approve(app.member, approval);
    await reached(runId, 'succeeded');
  });

  test('by a schedule of their own, made in person or by their token, limited or not', async () => {
    for (const caller of [app.owner, token, limited]) {
      const approval = await approvalOf(await startBySchedule(payload, caller));
      await approve(app.owner, approval, 403);
      await approve(app.member, approval);
    }
  });

  test('by a rerun, however often and by whomever it is repeated', async () => {
    const first = await start(payload, app.member);
    await reject(first);
    const rerun = async (id: string, caller: Bearer): Promise<string> =>
      (await app.as(caller).post(202, `/api/flows/runs/${id}/rerun`)).id;
    // A token that nobody in particular made.
    const second = await rerun(first, app.application);
    await approve(app.member, await approvalOf(second), 403);
    await reject(second);
    const third = await rerun(second, app.application);
    const approval = await approvalOf(third);
    await approve(app.member, approval, 403);
    await approve(app.owner, approval);
    await reached(third, 'succeeded');
    // Nobody is left who did not ask.
    expect(await app.as(token).post(409, `/api/flows/runs/${third}/rerun`)).toMatchObject(TOO_FEW);
  });

  test('by a rerun by a token that sees no tokens', async () => {
    const first = await start(payload, token);
    await reject(first);
    const { id, ...nobodys } = await app
      .as(app.owner)
      .post(201, '/api/application-tokens', { name: 'of-nobody', projects: [repositoryIdentifier] });
    await app.sql(`update application_token set people_ids = '{}' where id = ?`, [id]);
    const second = (await app.as(nobodys).post(202, `/api/flows/runs/${first}/rerun`)).id;
    await approve(app.owner, await approvalOf(second), 403);
    await reject(second);
  });

  test('by what it is a part of', async () => {
    const parent = await start({ ...RELEASE, id: 'request-release', releaseName: 'r2' }, token);
    const { children } = await eventually(
      () => shown(parent),
      (run) => run.children.length === 1,
    );
    const approval = await approvalOf(children[0].id);
    await approve(app.owner, approval, 403);
    await approve(app.member, approval);
    await reached(parent, 'succeeded');
  });
});

test('a token of another project deploys to no environment of this one, however it is named', async () => {
  const second = await insertUser(app.db, 'second@acme.example');
  await insertMembership(app, second, 'owner');
  const install = { id: 'install-packages', repositoryIdentifier: 'acme/elsewhere' };
  for (const payload of [
    { ...install, orgUsername: 'deploy@acme.example.dev' },
    { ...install, sandboxName: 'dev' },
    { ...install, args: '-o deploy@acme.example.dev' },
    { ...install, id: 'run-apex-tests', orgUsername: 'deploy@acme.example.dev' },
  ])
    for (const begin of [start, startBySchedule]) {
      const refused = await reached(await begin(payload, elsewhere), 'failed');
      expect(refused.success.error).toMatch(/limited to projects/);
    }
  // A target that nobody here knows is for the owners to decide on.
  await reject(await start({ ...install, orgUsername: 'nobody@acme.example' }, elsewhere));
  await app.sql('delete from membership where user_id = ?', [second]);
});

test('a run begins only while it passes its gates as they are after it waited', async () => {
  const owner = app.as(app.owner);
  const environments: Json[] = await owner.get(200, `/api/environments?repositoryIdentifier=${repositoryIdentifier}`);
  const dev = environments.find(({ name }) => name === 'dev')?.id;
  const path = `/api/environments/${dev}`;
  const meanwhile = async (change: () => Promise<unknown>): Promise<Json> => {
    const { ticketId } = await owner.post(201, `${path}/locks`, {});
    const runId = await start({ id: 'install-packages', repositoryIdentifier, orgUsername: 'deploy@acme.example.dev' });
    await reached(runId, 'waiting_lock');
    await change();
    await owner.delete(204, `${path}/locks/${ticketId}`);
    return eventually(
      () => shown(runId),
      ({ endedAt }) => endedAt !== null,
    );
  };
  const policy = { approvers: [app.owner.email] };
  const withPolicy = await meanwhile(() => owner.patch(200, path, { approvalPolicy: policy }));
  expect(withPolicy).toMatchObject({ rawStatus: 'failed', startedAt: null });
  expect(withPolicy.success.error).toMatch(/policy that was set/);
  await owner.patch(200, path, { approvalPolicy: { skipApproval: true } });
  const twin = { name: 'twin', category: 'test', orgUsername: 'deploy@acme.example.dev' };
  const withTwin = await meanwhile(async () => {
    const { id } = await owner.post(201, '/api/environments', { repositoryIdentifier, ...twin });
    environments.push({ id });
  });
  expect(withTwin).toMatchObject({ rawStatus: 'failed', startedAt: null });
  expect(withTwin.success.error).toMatch(/environments .* changed/);
  await owner.delete(204, `/api/environments/${environments.at(-1)?.id}`);
  expect(await meanwhile(() => owner.patch(200, path, { description: 'as before' }))).toMatchObject({
    rawStatus: 'succeeded',
  });
});

test('a child of an external worker has the controls of its type, whatever the parent names', async () => {
  const parentTaskExecutionId = await start({ id: 'build', repositoryIdentifier });
  const controls = async (taskType: string): Promise<Json> =>
    (
      await app.as(app.application).post(201, '/api/flows/internal/register-child', {
        parentTaskExecutionId,
        taskType,
        flowPath: `flows/${taskType}`,
        repositoryIdentifier,
      })
    ).approvalControls;
  expect(await controls('install-packages')).toEqual({ skipApproval: false, approvers: [] });
  expect(await controls('build-domain')).toEqual({ skipApproval: true, approvers: [] });
});
