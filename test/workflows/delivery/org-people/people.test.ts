import type { Json } from '../../../support/client.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { OrgPeople } from '../../../simulators/crm-org/people.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { endedRun } from '../../../support/ended-run.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const repositoryIdentifier = 'acme/people';
const QUEUES = ['flows-v1', 'crm-v1', 'approvals-v1', 'system-v1'];

let app: TestApp;
let crm: CrmSimulator;
let worker: TestWorker;
let org: SimulatedOrg;
let people: OrgPeople;
let made = 0;
beforeAll(async () => {
  crm = await crmSimulator([]);
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8' } });
  worker = await startWorker(app, QUEUES);
  await app.as(app.owner).post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { approvalPolicy: { skipApproval: true } },
  });
});
beforeEach(async () => {
  org = await crm.addOrg({ name: `org-${++made}`, kind: 'production' });
  ({ people } = org);
  await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await crm.close();
});

const start = (id: string, payload: object, status = 202): Promise<Json> =>
  app.as(app.owner).post(status, '/api/flows/run', {
    payload: { id, repositoryIdentifier, orgUsername: org.username, ...payload },
  });
const shown = ({ id }: Json): Promise<Json> => app.as(app.owner).get(200, `/api/flows/runs/${id}`);
const ended = (run: Json): Promise<Json> => endedRun(app, run);
const ran = async (id: string, payload: object): Promise<Json> => ended(await start(id, payload));
const frozen = (): string[] =>
  [...people.users.values()].filter(({ login }) => login.isFrozen).map(({ username }) => username);

describe('freezing people', () => {
  test('freezes those who are named, each with the outcome, and unfreezes them', async () => {
    for (const name of ['ada@x.example', 'bob@x.example', 'eve@x.example']) people.addUser(name);
    people.user('bob@x.example').login.isFrozen = true;
    const run = await ran('request-freeze-users', {
      usernames: ['ADA@x.example', 'bob@x.example', 'nobody@x.example'],
    });
    expect(run).toMatchObject({
      status: 'Partial',
      result: {
        orgUsername: org.username,
        counts: { frozen: 1, was_frozen: 1, not_found: 1 },
        people: expect.arrayContaining([
          { username: 'ada@x.example', outcome: 'frozen' },
          { username: 'bob@x.example', outcome: 'was_frozen' },
          { username: 'nobody@x.example', outcome: 'not_found', reason: 'the org has no user of this name' },
        ]),
      },
    });
    expect(frozen().toSorted()).toEqual(['ada@x.example', 'bob@x.example']);
    const { text } = await app.as(app.owner).request(200, 'GET', `/api/flows/runs/${run.id}/output`);
    expect(text).toContain('not found: nobody@x.example');
    await expect(
      ran('request-unfreeze-users', { usernames: ['ada@x.example', 'bob@x.example'] }),
    ).resolves.toMatchObject({
      status: 'Completed',
      result: { counts: { unfrozen: 2 } },
    });
    expect(frozen()).toEqual([]);
  });

  test('freezes by profile and permission set, and all but some; never the last who could undo it', async () => {
    const nurses = people.addSet('Nurse');
    people.assign(people.addUser('ada@x.example'), nurses);
    people.addUser('bob@x.example', { profile: 'Sales' });
    people.addUser('gone@x.example', { profile: 'Sales', isActive: false });
    people.addUser('admin@x.example', { profile: 'System Administrator' });
    people.addUser('robot@x.example', { licence: 'Salesforce Integration' });
    people.addUser('auto@x.example', { userType: 'AutomatedProcess' });
    await expect(
      ran('request-freeze-users', { profiles: ['Sales'], permissionSets: ['Nurse'] }),
    ).resolves.toMatchObject({
      status: 'Completed',
      result: { counts: { frozen: 2 } },
    });
    expect(frozen().toSorted()).toEqual(['ada@x.example', 'bob@x.example']);
    const run = await ran('request-freeze-users', { allExcept: ['ada@x.example'] });
    expect(run).toMatchObject({ status: 'Completed', result: { counts: { refused: 3, was_frozen: 1 } } });
    const refused = (run.result.people as Json[]).filter(({ outcome }) => outcome === 'refused');
    expect(Object.fromEntries(refused.map(({ username, reason }) => [username, reason]))).toEqual({
      'admin@x.example': 'no administrator would be left who can sign in',
      'robot@x.example': 'programs sign in as this user: name it by its username to freeze it',
      [org.username]: 'the service signs in to the org as this user, and could not undo it',
    });
    expect(frozen().toSorted()).toEqual(['ada@x.example', 'bob@x.example']);
  });

  test('ends open sessions where that is asked for', async () => {
    const ada = people.addUser('ada@x.example');
    people.sessions.set('0Ak000000000001', ada.id);
    await expect(ran('request-freeze-users', { usernames: [ada.username], endSessions: true })).resolves.toMatchObject({
      result: { sessionsEnded: 1 },
    });
    expect(people.sessions.size).toBe(0);
  });

  test('goes on where an answer was lost, and says what it froze itself', async () => {
    people.addUser('ada@x.example');
    people.addUser('bob@x.example').login.isFrozen = true;
    const release = org.hold(/composite\/sobjects/);
    const run = await start('request-freeze-users', { usernames: ['ada@x.example', 'bob@x.example'] });
    await eventually(
      async () => crm.requests.some(({ org: name, path }) => name === org.name && path.includes('composite')),
      Boolean,
    );
    // What it did before the answer was lost.
    const { login } = people.user('ada@x.example');
    Object.assign(login, { isFrozen: true, changedBy: org.userId, changedAt: new Date() });
    org.fail('drop', { path: /composite\/sobjects/ });
    org.endSessions();
    release();
    await expect(ended(run)).resolves.toMatchObject({
      status: 'Completed',
      result: { counts: { frozen: 1, was_frozen: 1 } },
    });
  });
});

describe('what can be known before is refused before', () => {
  test.each([
    ['request-freeze-users', {}, 'names nobody'],
    ['request-elevated-privileges', { usernames: ['a@x.example'] }, 'nothing to give'],
    ['request-freeze-users', { orgUsername: 'other@y.example', usernames: ['a@x.example'] }, 'is not registered'],
  ])('%s with %j: %s', async (id, payload, detail) => {
    await expect(start(id, payload, 409)).resolves.toMatchObject({
      code: 'flow_unavailable',
      detail: expect.stringContaining(detail),
    });
  });

  test('an org that a token with projects does not reach', async () => {
    people.addUser('ada@x.example');
    const limited = app.as(
      await app
        .as(app.owner)
        .post(201, '/api/application-tokens', { name: `limited-${made}`, projects: [repositoryIdentifier] }),
    );
    const asked = { id: 'request-unfreeze-users', repositoryIdentifier, usernames: ['ada@x.example'] };
    const payload = { ...asked, orgUsername: org.username };
    await expect(limited.post(409, '/api/flows/run', { payload })).resolves.toMatchObject({
      detail: expect.stringContaining('is not registered'),
    });
  });

  test('an org whose credential is refused', async () => {
    people.addUser('ada@x.example');
    org.revokeApprovals();
    const run = await ran('request-freeze-users', { usernames: ['ada@x.example'] });
    expect(run).toMatchObject({ status: 'Failed', success: { error: expect.stringContaining(org.username) } });
    await expect(start('request-freeze-users', { usernames: ['ada@x.example'] }, 409)).resolves.toMatchObject({
      detail: expect.stringContaining('refuses its credential'),
    });
  });
});

describe('privileges for a time', () => {
  const give = (payload: object = {}) =>
    start('request-elevated-privileges', {
      usernames: ['ada@x.example', 'bob@x.example'],
      permissionSets: ['Deploy_Admin', 'Night_Shift'],
      durationMinutes: 30,
      ...payload,
    });
  const held = async (run: Json): Promise<void> => {
    await eventually(
      async () =>
        app.sql(`select 1 from privilege_grant where run_id = ? and state in ('granted', 'refused')`, [run.id]),
      (rows) => rows.length > 0,
    );
    await eventually(
      async () => (await app.sql(`select 1 from flow_run where id = ? and output_tail is not null`, [run.id])).length,
      Boolean,
    );
  };
  const grants = (run: Json) =>
    app.sql<{ username: string; permission_set: string; state: string }>(
      'select username, permission_set, state from privilege_grant where run_id = ? order by username, permission_set',
      [run.id],
    );
  beforeEach(() => {
    const admin = people.addSet('Deploy_Admin');
    people.addSet('Night_Shift', { isGroup: true });
    people.assign(people.addUser('ada@x.example'), admin);
    people.addUser('bob@x.example');
  });

  test('are given, the org told when they end, and taken back when the run is cancelled; what people had stays', async () => {
    const run = await give();
    await held(run);
    expect(people.setsOf('bob@x.example')).toEqual(['Deploy_Admin', 'Night_Shift']);
    expect(people.setsOf('ada@x.example')).toEqual(['Deploy_Admin', 'Night_Shift']);
    const [{ expires_at: expiresAt } = { expires_at: new Date(0) }] = await app.sql<{ expires_at: Date }>(
      'select expires_at from privilege_grant where run_id = ?',
      [run.id],
    );
    const dates = [...people.assignments.values()].map((assignment) => assignment.expiresAt);
    expect(dates.filter((date) => date === new Date(expiresAt).toISOString())).toHaveLength(3);
    expect(await shown(run)).toMatchObject({ status: 'Running' });
    await app.as(app.owner).post(200, `/api/flows/runs/${run.id}/cancel`);
    await expect(ended(run)).resolves.toMatchObject({
      status: 'Cancelled',
      result: { hadBefore: 1, takenBackAt: expect.any(String) },
    });
    expect(people.setsOf('bob@x.example')).toEqual([]);
    expect(people.setsOf('ada@x.example')).toEqual(['Deploy_Admin']);
    expect((await grants(run)).map(({ state }) => state)).toEqual(['taken_back', 'taken_back', 'taken_back']);
    const { items } = await app.as(app.owner).get(200, `/api/audit?entityId=${run.id}`);
    expect((items as Json[]).map(({ action }) => action)).toEqual(
      expect.arrayContaining(['flow.privileges_granted', 'flow.privileges_taken_back']),
    );
  });

  test('are taken back by a sweep where the workflow of the run was lost', async () => {
    const run = await give();
    await held(run);
    await app.sql(`update privilege_grant set expires_at = now() - interval '6 minutes' where run_id = ?`, [run.id]);
    await eventually(
      () => grants(run),
      (rows) => rows.every(({ state }) => state === 'taken_back'),
    );
    expect(people.setsOf('bob@x.example')).toEqual([]);
    await app.as(app.owner).post(200, `/api/flows/runs/${run.id}/cancel`);
    await ended(run);
  });

  test('an org that is away at the time is asked until it holds, and that is announced', async () => {
    await app.as(app.owner).post(201, '/api/webhooks', {
      name: 'alarm',
      event: 'privileges.expired',
      config: { url: 'http://127.0.0.1:9/hook' },
    });
    const run = await give();
    await held(run);
    org.fail('html-503', { times: 2, path: /query/ });
    await app.as(app.owner).post(200, `/api/flows/runs/${run.id}/cancel`);
    await expect(ended(run)).resolves.toMatchObject({ status: 'Cancelled' });
    expect(people.setsOf('bob@x.example')).toEqual([]);
    const announced = await app.sql<{ data: Json }>(
      `select payload as data from webhook_delivery where event = 'privileges.expired' order by created_at`,
    );
    expect(announced.map(({ data }) => [data.isTakenBack, data.error === null])).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  test('nothing is given where a name is unknown; a refusal of the org is said of each', async () => {
    await expect(ended(await give({ permissionSets: ['Deploy_Admin', 'Typo'] }))).resolves.toMatchObject({
      status: 'Failed',
      success: { error: 'The org has no permission set or group Typo' },
    });
    expect(people.ledger).toEqual([]);
    people.seats = people.assignments.size;
    await expect(ended(await give())).resolves.toMatchObject({
      status: 'Failed',
      success: { error: expect.stringContaining('LICENSE_LIMIT_EXCEEDED') },
    });
  });

  test('what was asked for and not answered is neither given twice nor forgotten', async () => {
    const release = org.hold(/composite\/sobjects/);
    const run = await give();
    await eventually(
      () => grants(run),
      (rows) => rows.length === 3,
    );
    await eventually(
      async () => crm.requests.some(({ org: name, path }) => name === org.name && path.includes('composite')),
      Boolean,
    );
    // The org did it, and its answer is lost.
    const bob = people.user('bob@x.example');
    const given = [...people.sets.values()].map((set) => people.assign(bob, set));
    org.fail('drop', { path: /composite\/sobjects/ });
    org.endSessions();
    release();
    await held(run);
    await eventually(
      () => grants(run),
      (rows) => rows.every(({ state }) => state === 'granted'),
    );
    expect(people.ledger.filter(({ act }) => act === 'create')).toHaveLength(1);
    await app.as(app.owner).post(200, `/api/flows/runs/${run.id}/cancel`);
    await ended(run);
    expect(given.some(({ id }) => people.assignments.has(id))).toBe(false);
    expect(people.setsOf('ada@x.example')).toEqual(['Deploy_Admin']);
  });
});
