import type { Json } from '../../../support/client.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { endedRun } from '../../../support/ended-run.ts';
import { newRepository, type TestRepository } from '../../../support/repository.ts';
import { sourceOf } from '../../../support/source-builds.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const QUEUES = ['environment-locks-v1', 'flows-v1', 'crm-v1', 'git-v1', 'system-v1'];
const SIGNUP = /\/sobjects\/ScratchOrgInfo$/;

let app: TestApp;
let crm: CrmSimulator;
let worker: TestWorker;
let remote: TestRepository;
let hubs: [SimulatedOrg, SimulatedOrg];
let repositoryIdentifier: string;
let count = 0;

beforeAll(async () => {
  crm = await crmSimulator([]);
  remote = newRepository();
  const definition = { edition: 'Developer', settings: { mobileSettings: { enableX: true } } };
  remote.commit({
    files: {
      ...sourceOf.project([{ path: 'app' }]),
      'config/project-scratch-def.json': JSON.stringify(definition),
    },
  });
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8', ALLOW_LOCAL_GIT: 'true', SERVICE_PACE: '0.03' } });
  worker = await startWorker(app, QUEUES);
});
beforeEach(async () => {
  count++;
  repositoryIdentifier = `acme/kept-${count}`;
  const project = { identifier: repositoryIdentifier, platform: 'host-a', remoteUrl: remote.path };
  await app.as(app.owner).post(201, '/api/projects', project);
  const newHub = async (name: string) => {
    const hub = await crm.addOrg({ name: `${name}-${count}`, kind: 'production', isDevHub: true });
    await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: hub.authUrl, isDevHub: true });
    return hub;
  };
  hubs = [await newHub('kept'), await newHub('other')];
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await crm.close();
  remote.remove();
});

const newPool = (settings: object = {}): Promise<Json> =>
  app.as(app.owner).post(201, '/api/review/pools', {
    repositoryIdentifier,
    tag: 'review',
    type: 'SCRATCH_ORG',
    minAvailable: 1,
    definition: { newOrgs: 'scratch', devHub: hubs[0].username, deploySource: false },
    ...settings,
  });
const runsOf = (pool: Json): Promise<Json[]> =>
  app.sql<Json>(`select id from flow_run where payload->>'poolId' = ? order by created_at`, [pool.id]);
const runOf = async (pool: Json): Promise<Json> =>
  (
    await eventually(
      () => runsOf(pool),
      (rows) => rows.length > 0,
    )
  )[0] ?? {};
const instances = async ({ id }: Json): Promise<Json[]> =>
  (await app.as(app.owner).get(200, `/api/review/pools/${id}/instances`)).items;
const acts = (hub: SimulatedOrg) => hub.scratch.ledger.map(({ act }) => act);
const isBegun = (run: Json) =>
  eventually(
    () => app.sql(`select 1 from org_step where run_id = ? and external_id is not null`, [run.id]),
    (rows) => rows.length > 0,
  );
const toOther = (pool: Json) =>
  app.as(app.owner).patch(200, `/api/review/pools/${pool.id}`, {
    definition: { newOrgs: 'scratch', devHub: hubs[1].username, deploySource: false },
  });

test('a run that has begun goes on in its dev hub, whatever the pool names meanwhile, and its pool stays till then', async () => {
  const [hub, other] = hubs;
  hub.scratch.polls = 1_000_000;
  const pool = await newPool();
  const run = await runOf(pool);
  await isBegun(run);
  await toOther(pool);
  await expect(app.as(app.owner).delete(409, `/api/review/pools/${pool.id}`)).resolves.toMatchObject({
    code: 'invalid_transition',
    detail: expect.stringContaining(`The run ${run.id} makes orgs for the pool: cancel it first`),
  });
  hub.scratch.finishAll();
  await expect(endedRun(app, run)).resolves.toMatchObject({ status: 'Completed', result: { devHub: hub.username } });
  expect([acts(hub), acts(other)]).toEqual([['create'], []]);
});

test('an org that cannot be handed over is deleted', async () => {
  const [hub] = hubs;
  const orgsMade: SimulatedOrg[] = [];
  hub.scratch.onMade = (made) => {
    made.deployments.polls = { pending: 1_000_000, components: 1, tests: 0, finalizing: 0 };
    orgsMade.push(made);
  };
  const pool = await newPool();
  const run = await runOf(pool);
  const [instance] = await eventually(
    () => instances(pool),
    (all) => all.length > 0,
  );
  const broken = { state: 'failed', reason: 'broken by hand' };
  await app.as(app.application).patch(200, `/api/review/pools/${pool.id}/instances/${instance?.id}`, broken);
  for (const made of orgsMade) made.deployments.polls = { pending: 0, components: 1, tests: 0, finalizing: 0 };
  const ended = await endedRun(app, run);
  expect(ended).toMatchObject({ status: 'Failed', result: { failed: [{ step: 'Org 1: Hand over to the pool' }] } });
  expect((ended.steps as Json[]).at(-1)).toMatchObject({ state: 'failed', detail: 'the scratch org was deleted' });
  expect(acts(hub)).toEqual(['create', 'delete']);
});

test('an org that is to be replaced and that the dev hub does not know is told, and not taken for deleted', async () => {
  const [hub, other] = hubs;
  const pool = await newPool({ onRelease: 'refresh', maxInstances: 1 });
  await endedRun(app, await runOf(pool));
  const [before] = await eventually(
    () => instances(pool),
    ([first]) => first?.state === 'available',
  );
  await toOther(pool);
  const lease = await app.as(app.application).post(201, '/api/review/assignments', {
    repositoryIdentifier,
    assignmentType: 'pr',
    assignmentId: '8',
    poolTag: 'review',
  });
  await app.as(app.owner).post(200, `/api/review/assignments/${lease.id}/release`, {});
  const [, second = {}] = await eventually(
    () => runsOf(pool),
    (rows) => rows.length > 1,
  );
  const error = `${before?.username}: this dev hub does not know it; delete it in the one that made it`;
  await expect(endedRun(app, second)).resolves.toMatchObject({
    status: 'Partial',
    success: { error: expect.stringContaining(error) },
  });
  expect([acts(hub), acts(other)]).toEqual([['create'], ['create']]);
  await expect(app.sql('select id from crm_org where username = ?', [before?.username])).resolves.toHaveLength(1);
});

test('a run that is cancelled while the dev hub is asked for an org waits for it, and deletes it', async () => {
  const [hub] = hubs;
  const release = hub.hold(SIGNUP);
  const run = await runOf(await newPool());
  await eventually(
    async () =>
      crm.requests.some(({ org, method, path }) => org === hub.name && method === 'POST' && SIGNUP.test(path)),
    (isAsked) => isAsked,
  );
  await app.as(app.owner).post(200, `/api/flows/runs/${run.id}/cancel`);
  await eventually(
    async () => crm.requests.filter(({ org, path }) => org === hub.name && path.includes('/query')).length,
    (length) => length > 1,
  );
  release();
  await expect(endedRun(app, run)).resolves.toMatchObject({ status: 'Cancelled' });
  expect(acts(hub)).toEqual(['create', 'delete']);
});

test('a run that is cancelled where the dev hub cannot tell what it has begun says so, and deletes nothing', async () => {
  const [hub] = hubs;
  const release = hub.hold(SIGNUP);
  const run = await runOf(await newPool());
  const [step] = await eventually(
    () => app.sql<Json>(`select intent->>'mark' as mark from org_step where run_id = ? and state = 'asked'`, [run.id]),
    (rows) => rows.length > 0,
  );
  const signup = {
    Description: step?.mark,
    ConnectedAppConsumerKey: 'PlatformCLI',
    ConnectedAppCallbackUrl: 'http://localhost:1717/OauthRedirect',
  };
  for (let copies = 0; copies < 2; copies++)
    hub.scratch.request('POST', '/sobjects/ScratchOrgInfo', JSON.stringify(signup));
  await app.as(app.owner).post(200, `/api/flows/runs/${run.id}/cancel`);
  await expect(endedRun(app, run)).resolves.toMatchObject({
    status: 'Cancelled',
    success: { error: expect.stringContaining('it is not known whether there is an org: look at ') },
    steps: expect.arrayContaining([expect.objectContaining({ state: 'unknown' })]),
  });
  release();
  expect(acts(hub)).not.toContain('delete');
});
