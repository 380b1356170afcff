import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '../../../support/client.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { endedRun } from '../../../support/ended-run.ts';
import { newRepository, type TestRepository } from '../../../support/repository.ts';
import { sourceOf } from '../../../support/source-builds.ts';
import { eventually, startWorker, startWorkerProcess, type TestWorker } from '../../../support/worker.ts';

const QUEUES = ['environment-locks-v1', 'flows-v1', 'crm-v1', 'git-v1', 'system-v1'];
const SIGNUP = /\/sobjects\/ScratchOrgInfo$/;
const PACKAGE = '04t5g0000000001AAA';
const DEFINITION = {
  orgName: 'Shop review',
  edition: 'Developer',
  features: ['EnableSetPasswordInApi', 'Communities'],
  settings: {
    mobileSettings: { enableS1EncryptedStoragePref2: false },
    communitiesSettings: { enableNetworksEnabled: true },
  },
};

let app: TestApp;
let crm: CrmSimulator;
let worker: TestWorker;
let remote: TestRepository;
let hub: SimulatedOrg;
let repositoryIdentifier: string;
let orgsMade: SimulatedOrg[];
let count = 0;

beforeAll(async () => {
  crm = await crmSimulator([]);
  remote = newRepository();
  remote.commit({
    files: {
      ...sourceOf.project([{ path: 'app' }]),
      ...sourceOf.apexClass('app', 'Invoice'),
      'config/project-scratch-def.json': JSON.stringify(DEFINITION),
      'config/broken.json': JSON.stringify({ username: 'one@x.example' }),
    },
  });
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8', ALLOW_LOCAL_GIT: 'true', SERVICE_PACE: '0.01' } });
  worker = await startWorker(app, QUEUES);
});
beforeEach(async () => {
  count++;
  repositoryIdentifier = `acme/pools-${count}`;
  // Pools of earlier tests go on making orgs, each in its own hub.
  const own: SimulatedOrg[] = [];
  orgsMade = own;
  await app.as(app.owner).post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    remoteUrl: remote.path,
  });
  hub = await crm.addOrg({ name: `hub-${count}`, kind: 'production', isDevHub: true });
  hub.scratch.onMade = (made) => {
    own.push(made);
    made.packages.offer('Base', { id: PACKAGE } as object);
    made.people.addSet('Reviewer');
    made.deployments.polls = { pending: 0, components: 1, tests: 0, finalizing: 0 };
  };
  await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: hub.authUrl, isDevHub: true });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await crm.close();
  remote.remove();
});

const newPool = (minAvailable: number, definition: object = {}, settings: object = {}): Promise<Json> =>
  app.as(app.owner).post(201, '/api/review/pools', {
    repositoryIdentifier,
    tag: 'review',
    type: 'SCRATCH_ORG',
    minAvailable,
    definition: { newOrgs: 'scratch', devHub: hub.username, ...definition },
    ...settings,
  });
const shownPool = ({ id }: Json): Promise<Json> => app.as(app.owner).get(200, `/api/review/pools/${id}`);
const instances = async ({ id }: Json): Promise<Json[]> =>
  (await app.as(app.owner).get(200, `/api/review/pools/${id}/instances`)).items;
const runOf = async (pool: Json): Promise<Json> => {
  const [run = {}] = await eventually(
    () => app.sql<Json>(`select id from flow_run where payload->>'poolId' = ? order by created_at`, [pool.id]),
    (rows) => rows.length > 0,
  );
  return run;
};
const endOf = async (pool: Json): Promise<Json> => endedRun(app, await runOf(pool));
const acts = () => hub.scratch.ledger.map(({ act }) => act);
const stepStates = ({ steps }: Json) =>
  (steps as Json[]).map(({ name, state }) => [String(name).replace(/^Org /, ''), state as string]);
const registered = (username: string) => app.sql('select id from crm_org where username = ?', [username]);
const everything = async () =>
  JSON.stringify([
    await app.sql('select * from org_step'),
    await app.sql('select * from flow_run'),
    await app.sql('select * from audit_entry'),
    await app.sql('select * from review_instance'),
    await app.sql('select * from crm_org'),
  ]);

test('a pool gets its orgs from the dev hub, with settings, packages, source and permission sets, and allocates them', async () => {
  const pool = await newPool(2, { packages: { Base: PACKAGE }, permissionSets: ['Reviewer'], durationDays: 3 });
  const run = await endOf(pool);
  expect(run).toMatchObject({
    status: 'Completed',
    result: {
      asked: 2,
      failed: [],
      devHub: hub.username,
      poolTag: 'review',
      made: [expect.any(String), expect.any(String)],
    },
  });
  const parts = [
    'Create a scratch org',
    'Sign in and register',
    'Deploy settings',
    'Install packages',
    'Deploy source',
    'Assign permission sets',
    'Hand over to the pool',
  ];
  expect(stepStates(run)).toEqual(['1', '2'].flatMap((org) => parts.map((part) => [`${org}: ${part}`, 'succeeded'])));
  expect(acts()).toEqual(['create', 'create']);
  expect(hub.scratch.ledger[0]?.fields).toMatchObject({
    OrgName: 'Shop review',
    Edition: 'Developer',
    Features: 'EnableSetPasswordInApi;Communities',
    DurationDays: 3,
    Description: `Quayside run ${run.id}, org 1`,
  });
  expect(orgsMade).toHaveLength(2);
  for (const made of orgsMade) {
    expect(made.packages.ledger.map(({ versionId }) => versionId)).toEqual([PACKAGE]);
    const [settings, source] = made.deployments.ledger;
    expect(settings?.components.map(String).toSorted().join()).toMatch(/Communities.*Mobile/);
    expect(JSON.stringify(source?.components)).toContain('Invoice');
    expect(made.people.setsOf(made.username)).toEqual(['Reviewer']);
  }
  const usernames = orgsMade.map(({ username }) => username).toSorted();
  const pooled = await instances(pool);
  expect(pooled.map(({ username, state }) => [username, state]).toSorted()).toEqual(
    usernames.map((each) => [each, 'available']),
  );
  for (const { expiresAt, username } of pooled) {
    const made = orgsMade.find((org) => org.username === username);
    expect(Date.parse(expiresAt as string)).toBe(made?.expiresAt?.getTime());
  }
  await expect(shownPool(pool)).resolves.toMatchObject({ builder: 'activity', prepareFailures: 0, prepareError: null });
  const lease = await app.as(app.application).post(201, '/api/review/assignments', {
    repositoryIdentifier,
    assignmentType: 'pr',
    assignmentId: '7',
    poolTag: 'review',
  });
  const active = await eventually(
    () => app.as(app.owner).get(200, `/api/review/assignments/${lease.id}`),
    ({ state }) => state === 'active',
  );
  expect(usernames).toContain(active.instance.username);
  const kept = await everything();
  for (const secret of crm.secrets) expect(kept).not.toContain(secret);
});

test('an org whose part fails is deleted, and the run ends with that part', async () => {
  const own = orgsMade;
  hub.scratch.onMade = (made) => {
    own.push(made);
    made.packages.offer('Base', { id: PACKAGE } as object);
    made.packages.failures.push(['Apex class A does not compile']);
  };
  const pool = await newPool(1, { packages: { Base: PACKAGE }, permissionSets: ['Reviewer'] });
  const run = await endOf(pool);
  expect(run).toMatchObject({
    status: 'Failed',
    success: { error: expect.stringMatching(/^Org 1: Install packages: .*Apex class A does not compile/) },
    result: { made: [], failed: [{ step: 'Org 1: Install packages' }] },
  });
  expect(stepStates(run).slice(3)).toEqual([
    ['1: Install packages', 'failed'],
    ['1: Deploy source', 'cancelled'],
    ['1: Assign permission sets', 'cancelled'],
    ['1: Hand over to the pool', 'cancelled'],
  ]);
  expect((run.steps as Json[]).at(-1)?.detail).toBe('the scratch org was deleted');
  expect(acts()).toEqual(['create', 'delete']);
  const [made] = orgsMade;
  await expect(registered(made?.username ?? '')).resolves.toEqual([]);
  await expect(instances(pool)).resolves.toMatchObject([
    { state: 'failed', reason: expect.stringContaining('packages') },
  ]);
  const failed = await eventually(
    () => shownPool(pool),
    ({ prepareFailures }) => prepareFailures === 1,
  );
  expect(failed.prepareError).toContain('Apex class A');
});

test('an answer that is lost leads to no second scratch org', async () => {
  hub.fail('lost', { path: SIGNUP });
  const run = await endOf(await newPool(1, { deploySource: false }));
  expect(run).toMatchObject({ status: 'Completed' });
  expect(acts()).toEqual(['create']);
});

test('a signup that the hub refuses or that fails is told with its code, and no other one is begun', async () => {
  hub.scratch.failing.push('S-1017');
  const run = await endOf(await newPool(2, { deploySource: false }));
  expect(run).toMatchObject({
    success: { error: expect.stringContaining('(S-1017): the namespace is not registered') },
  });
  expect(run.status === 'Failed' || run.status === 'Partial').toBe(true);
});

describe('the limits of the dev hub', () => {
  test('are looked at before anything is created', async () => {
    hub.limits.DailyScratchOrgs = { max: 6, used: 6 };
    const run = await endOf(await newPool(1));
    expect(run).toMatchObject({
      status: 'Failed',
      success: { error: `the dev hub ${hub.username} has 0 of 6 left of its limit DailyScratchOrgs` },
    });
    expect(acts()).toEqual([]);
  });

  test('let a run make fewer orgs, and say so', async () => {
    hub.limits.ActiveScratchOrgs = { max: 3, used: 2 };
    const pool = await newPool(2, { deploySource: false });
    const run = await endOf(pool);
    expect(run).toMatchObject({
      status: 'Partial',
      success: { error: expect.stringMatching(/^1 of 2 orgs could be made: .* 1 of 3 left/) },
      result: { asked: 2, made: [expect.any(String)] },
    });
    expect(acts()).toEqual(['create']);
    await expect(instances(pool)).resolves.toMatchObject([{ state: 'available' }]);
  });
});

test.each([
  [{ definitionFile: 'config/nothing.json' }, 'has no config/nothing.json at'],
  [{ definitionFile: 'config/broken.json' }, 'username cannot be that of several orgs'],
  [{ branch: 'gone' }, 'no branch gone'],
  [{ command: { data: 'small' } }, 'have the operator add pool-command'],
])('nothing is created by the definition %j', async (definition, why) => {
  const run = await endOf(await newPool(1, definition));
  expect(run).toMatchObject({ status: 'Failed', success: { error: expect.stringContaining(why) } });
  expect(acts()).toEqual([]);
});

test('a pool whose hub is not registered has no run, and says why', async () => {
  const pool = await newPool(1, { devHub: 'nobody@x.example' });
  const shown = await eventually(
    () => shownPool(pool),
    ({ prepareError }) => prepareError !== null,
  );
  expect(shown.prepareError).toContain('nobody@x.example is not registered as a dev hub');
  await expect(
    app.as(app.owner).post(400, '/api/review/pools', {
      repositoryIdentifier,
      tag: 'wrong',
      type: 'SCRATCH_ORG',
      definition: { newOrgs: 'scratch', durationDays: 31 },
    }),
  ).resolves.toMatchObject({ code: 'invalid_request' });
  const payload = { id: 'pool-prepare', repositoryIdentifier, poolId: pool.id, executor: 'service' };
  await expect(app.as(app.owner).post(409, '/api/flows/run', { payload })).resolves.toMatchObject({
    code: 'flow_unavailable',
  });
  const part = { id: 'pool-packages', repositoryIdentifier, orgUsername: hub.username };
  await expect(app.as(app.owner).post(400, '/api/flows/run', { payload: part })).resolves.toMatchObject({
    code: 'invalid_request',
  });
});

test('a cancelled run deletes what it has made, also what the hub is still making', async () => {
  hub.scratch.polls = 1_000_000;
  const pool = await newPool(1, { deploySource: false });
  const run = await runOf(pool);
  await eventually(
    async () => acts().length,
    (length) => length === 1,
  );
  await eventually(
    () => app.sql(`select 1 from org_step where run_id = ? and external_id is not null`, [run.id]),
    (rows) => rows.length > 0,
  );
  await app.as(app.owner).post(200, `/api/flows/runs/${run.id}/cancel`);
  hub.scratch.finishAll();
  const ended = await endedRun(app, run);
  expect(ended).toMatchObject({ status: 'Cancelled' });
  expect(acts()).toEqual(['create', 'delete']);
  expect(stepStates(ended).map(([, state]) => state)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled']);
});

test('a worker that is killed in the midst leaves the rest to the next one, which does nothing twice', async () => {
  await worker.stop();
  const release = hub.hold(SIGNUP);
  try {
    const first = await startWorkerProcess(app, QUEUES);
    await newPool(2, { packages: { Base: PACKAGE }, deploySource: false });
    await eventually(
      async () =>
        crm.requests.some(({ org, method, path }) => org === hub.name && method === 'POST' && SIGNUP.test(path)),
      (isAsked) => isAsked,
    );
    await first.kill('SIGKILL');
    release();
    await eventually(
      async () => acts().length,
      (length) => length === 1,
    );
  } finally {
    worker = await startWorker(app, QUEUES);
  }
  const [run = {}] = await app.sql<Json>(
    `select r.id from flow_run r join project p on p.id = r.project_id where p.identifier = ? and r.task_type = 'pool-prepare'`,
    [repositoryIdentifier],
  );
  const ended = await endedRun(app, run);
  expect(ended).toMatchObject({ status: 'Completed', result: { asked: 2 } });
  expect(acts()).toEqual(['create', 'create']);
  for (const made of orgsMade) expect(made.packages.ledger).toHaveLength(1);
});

test('an org that is to be refreshed is deleted, and a new one takes its place', async () => {
  const pool = await newPool(1, { deploySource: false }, { onRelease: 'refresh' });
  await endOf(pool);
  const [before] = await eventually(
    () => instances(pool),
    ([first]) => first?.state === 'available',
  );
  const lease = await app.as(app.application).post(201, '/api/review/assignments', {
    repositoryIdentifier,
    assignmentType: 'pr',
    assignmentId: '8',
    poolTag: 'review',
  });
  await app.as(app.owner).post(200, `/api/review/assignments/${lease.id}/release`, {});
  await eventually(
    () => instances(pool),
    (all) =>
      all.some(({ id, state }) => id !== before?.id && state === 'available') &&
      all.some(({ state }) => state === 'expired'),
  );
  expect(acts().filter((act) => act === 'delete')).toHaveLength(1);
  await expect(registered(String(before?.username))).resolves.toEqual([]);
});

test("the operator's command runs for each org, with what the pool says, before the pool has it", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-pool-command-'));
  const commandsFile = join(folder, 'commands.json');
  const args = ['-e', 'console.log(process.argv.slice(1).join(" "))', '{payload.orgUsername}', '{payload.data}'];
  writeFileSync(commandsFile, JSON.stringify({ 'pool-command': { program: process.execPath, args } }));
  await worker.stop();
  app.env.COMMANDS_FILE = commandsFile;
  app.env.INTERNAL_URL = app.url;
  worker = await startWorker(app, [...QUEUES, 'commands-v1']);
  const pool = await newPool(1, { deploySource: false, command: { data: 'small' } });
  const run = await endOf(pool);
  expect(run).toMatchObject({ status: 'Completed' });
  expect(stepStates(run)).toContainEqual(["1: Run the operator's command", 'succeeded']);
  const [child] = await app.sql<Json>(
    `select output_tail as output, parent_id as parent, is_internal from flow_run where task_type = 'pool-command' and parent_id = ?`,
    [run.id],
  );
  expect(child?.output).toContain(`${orgsMade[0]?.username} small`);
  rmSync(folder, { recursive: true });
});

test('a pool of sandboxes gets them from production, furnished alike', async () => {
  hub.copies.addGroup('Reviewers');
  const makeOrg = hub.copies.makeOrg;
  hub.copies.makeOrg = async (name) => {
    const made = await makeOrg(name);
    made.people.addSet('Reviewer');
    return made;
  };
  const sandbox = { licenseType: 'DEVELOPER', activationGroup: 'Reviewers', productionUsername: hub.username };
  const pool = await newPool(
    1,
    { newOrgs: 'sandbox', sandbox, deploySource: false, permissionSets: ['Reviewer'] },
    { type: 'SANDBOX' },
  );
  const name = await eventually(
    async () => hub.copies.ledger[0]?.name,
    (each) => each !== undefined,
  );
  await hub.copies.finish(String(name));
  const run = await endOf(pool);
  expect(run).toMatchObject({ status: 'Completed', result: { made: [`${hub.username}.${name}`] } });
  expect(hub.copies.ledger.map(({ act }) => act)).toEqual(['create']);
  expect(acts()).toEqual([]);
  await expect(instances(pool)).resolves.toMatchObject([{ state: 'available', username: `${hub.username}.${name}` }]);
});
