import type { Json } from '../../../support/client.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { endedRun } from '../../../support/ended-run.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const repositoryIdentifier = 'acme/calls';
// No sweeps: polls of the limits of orgs would note other usages.
const QUEUES = ['flows-v1', 'crm-v1', 'approvals-v1'];

let app: TestApp;
let crm: CrmSimulator;
let worker: TestWorker;
let org: SimulatedOrg;
let made = 0;
beforeAll(async () => {
  crm = await crmSimulator([]);
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8', SERVICE_PACE: '0.01' } });
  worker = await startWorker(app, QUEUES);
  await app.as(app.owner).post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { approvalPolicy: { skipApproval: true } },
  });
  for (const event of ['flow.waiting', 'flow.progress'])
    await app.as(app.owner).post(201, '/api/webhooks', { name: event, event, config: { url: 'http://127.0.0.1:9/' } });
});
beforeEach(async () => {
  org = await crm.addOrg({ name: `org-${++made}`, kind: 'production' });
  org.apexTests.addClass('InvoiceTest', ['adds']);
  await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await crm.close();
});

/** How many of its thousand calls the org has had, as it and the service know. */
async function used(calls: number): Promise<void> {
  org.limits.DailyApiRequests = { max: 1_000, used: calls };
  const changed = await app.sql(
    `update crm_token set api_calls_used = ?, api_calls_max = 1000, api_calls_at = now()
      where org_id = (select id from crm_org where username = ?) returning 1`,
    [calls, org.username],
  );
  expect(changed).toHaveLength(1);
}
const start = (id: string, payload: object = {}): Promise<Json> =>
  app.as(app.owner).post(202, '/api/flows/run', {
    payload: { id, repositoryIdentifier, orgUsername: org.username, ...payload },
  });
const shown = ({ id }: Json): Promise<Json> => app.as(app.owner).get(200, `/api/flows/runs/${id}`);
const waits = (run: Json): Promise<Json> =>
  eventually(
    () => shown(run),
    ({ rawStatus }) => rawStatus === 'waiting_org_calls',
  );
const ended = (run: Json): Promise<Json> => endedRun(app, run);
const historyOf = async (run: Json): Promise<unknown[]> =>
  (
    await app.sql(
      `select after ->> 'status' as status from audit_entry
        where entity_id = ? and action in ('flow.run_started', 'flow.run_waiting', 'flow.run_resumed', 'flow.run_ended')
        order by sequence`,
      [run.id],
    )
  ).map(({ status }) => status);

const FREEZE = ['request-freeze-users', { usernames: ['ada@x.example'] }] as const;

test.each([['run-apex-tests', {}] as const, FREEZE])(
  '%s leaves the last tenth of the calls of the day alone, and goes on when there are more',
  async (id, payload) => {
    org.people.addUser('ada@x.example');
    await used(950);
    const run = await start(id, payload);
    await expect(waits(run)).resolves.toMatchObject({
      status: 'Waiting',
      waitsFor: expect.stringMatching(/More than 90 %.*nobody knows when calls are free.*times out at 20/),
      nextWindowAt: null,
    });
    expect(org.apexTests.jobs).toEqual([]);
    expect(org.people.user('ada@x.example').login.isFrozen).toBe(false);
    const { runs } = await app.as(app.owner).get(200, '/api/flows/runs?status=waiting_org_calls');
    expect(runs).toMatchObject([{ id: run.id }]);
    await used(10);
    await expect(ended(run)).resolves.toMatchObject({ status: 'Completed', waitsFor: null });
    expect(await historyOf(run)).toEqual(['running', 'waiting_org_calls', 'running', 'succeeded']);
    const events = await app.sql(
      `select 1 from webhook_delivery where event = 'flow.waiting' and payload::text like ?`,
      [`%${run.id}%`],
    );
    expect(events).toHaveLength(1);
    // While it waits it is no further: nobody is told that it runs.
    const told = await app.sql(
      `select 1 from webhook_delivery where event = 'flow.progress' and payload ->> 'step' like 'Waiting for calls%'`,
    );
    expect(told).toEqual([]);
  },
);

test('waits in the middle of its work, and stops what the org does when it is cancelled meanwhile', async () => {
  org.apexTests.polls = 1_000_000;
  const run = await start('run-apex-tests');
  await eventually(
    () => shown(run),
    ({ steps }) => (steps as Json[]).some(({ progress }) => progress !== null),
  );
  // What the worker's own first call learnt may be noted behind it.
  await eventually(
    async () => {
      await used(950);
      return shown(run);
    },
    ({ rawStatus }) => rawStatus === 'waiting_org_calls',
  );
  await app.as(app.owner).post(200, `/api/flows/runs/${run.id}/cancel`);
  await expect(ended(run)).resolves.toMatchObject({ status: 'Cancelled', steps: [{ state: 'cancelled' }] });
  expect(org.apexTests.jobs[0]?.status).toBe('Aborted');
});

test('is cancelled while it waits', async () => {
  org.people.addUser('ada@x.example');
  await used(950);
  const run = await start(...FREEZE);
  await waits(run);
  await app.as(app.owner).post(200, `/api/flows/runs/${run.id}/cancel`);
  await expect(ended(run)).resolves.toMatchObject({ status: 'Cancelled' });
  expect(org.people.user('ada@x.example').login.isFrozen).toBe(false);
});

test.each([['run-apex-tests', {}] as const, FREEZE])(
  '%s times out where nothing moves for a day',
  async (id, payload) => {
    await used(950);
    const run = await start(id, payload);
    await waits(run);
    await app.sql(`update flow_run set started_at = started_at - interval '25 hours' where id = ?`, [run.id]);
    await expect(ended(run)).resolves.toMatchObject({
      status: 'Failed',
      rawStatus: 'timed_out',
      success: {
        error: expect.stringMatching(/Nothing moved in org .* for 24 hours, and it has no calls left for runs/),
      },
    });
  },
);

test('waits as well where the platform itself takes no more calls', async () => {
  org.people.addUser('ada@x.example');
  org.fail('used-up', { path: /query/, times: 2 });
  const run = await start(...FREEZE);
  await expect(ended(run)).resolves.toMatchObject({ status: 'Completed' });
  expect(await historyOf(run)).toContain('waiting_org_calls');
});

test('waits on, instead of by turns, where its org does not say how many calls are left', async () => {
  org.people.addUser('ada@x.example');
  const refused = [{ errorCode: 'INSUFFICIENT_ACCESS', message: 'No right to read limits' }];
  org.fail({ kind: 'reply', status: 403, body: refused }, { path: /limits/, times: 9 });
  org.fail('used-up', { path: /query/, times: 3 });
  const run = await start(...FREEZE);
  await expect(ended(run)).resolves.toMatchObject({ status: 'Completed' });
  expect(await historyOf(run)).toEqual(['running', 'waiting_org_calls', 'running', 'succeeded']);
});
