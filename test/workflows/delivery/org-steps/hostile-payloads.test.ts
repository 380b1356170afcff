import type { Bearer, Json } from '../../../support/client.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { endedRun } from '../../../support/ended-run.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const repositoryIdentifier = 'acme/hostile';
/** A project of the same tenant that names no org. */
const limitedTo = 'acme/limited';
const theirs = 'other/theirs';

let app: TestApp;
let crm: CrmSimulator;
let worker: TestWorker;
let own: SimulatedOrg;
let foreign: SimulatedOrg;
let limited: Bearer;
let foreignEnvironmentId: string;
beforeAll(async () => {
  crm = await crmSimulator([
    { name: 'own', kind: 'production' },
    { name: 'foreign', kind: 'production' },
  ]);
  [own, foreign] = [crm.org('own'), crm.org('foreign')];
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8' } });
  worker = await startWorker(app, ['flows-v1', 'crm-v1', 'approvals-v1']);
  const [owner, stranger] = [app.as(app.owner), app.as(app.stranger)];
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  await owner.post(201, '/api/projects', { identifier: limitedTo, platform: 'host-a' });
  await stranger.post(201, '/api/projects', { identifier: theirs, platform: 'host-a' });
  await owner.post(201, '/api/auth/crm/register', { cliAuthUrl: own.authUrl });
  await stranger.post(201, '/api/auth/crm/register', { cliAuthUrl: foreign.authUrl });
  limited = await owner.post(201, '/api/application-tokens', { name: 'limited', projects: [limitedTo] });
  const environment = { repositoryIdentifier: theirs, name: 'theirs', category: 'test' };
  const { id } = await stranger.post(201, '/api/environments', { ...environment, orgUsername: foreign.username });
  foreignEnvironmentId = id;
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await crm.close();
});

const sandbox = ({ username }: SimulatedOrg) => ({ productionUsername: username, sandboxName: 'qa' });
const inOrg = ({ username }: SimulatedOrg) => ({ orgUsername: username });
const people = { usernames: ['ada@x.example'] };
const TYPES: [string, (org: SimulatedOrg) => object][] = [
  ['request-freeze-users', (org) => ({ ...inOrg(org), ...people })],
  ['request-unfreeze-users', (org) => ({ ...inOrg(org), ...people })],
  ['request-elevated-privileges', (org) => ({ ...inOrg(org), ...people, permissionSets: ['Admin'] })],
  ['request-sandbox-create', (org) => ({ ...sandbox(org), licenseType: 'Developer', activationGroup: 'Testers' })],
  ['request-sandbox-refresh', sandbox],
  ['request-sandbox-activate', sandbox],
  ['request-sandbox-delete', sandbox],
  ['install-artifacts', (org) => ({ ...inOrg(org), commitId: 'abcdef1' })],
  ['run-apex-tests', inOrg],
  ['install-packages', (org) => ({ ...inOrg(org), packages: { Base: '04t000000000001AAA' } })],
  ['uninstall-packages', (org) => ({ ...inOrg(org), packages: ['Base'] })],
];

const callsOf = ({ name }: SimulatedOrg): number => crm.requests.filter(({ org }) => org === name).length;
const answer = (caller: Bearer, payload: object) =>
  app.as(caller).send('POST', '/api/flows/run', { body: { payload } });

test.each(TYPES)('%s reaches no org of another tenant, and none beyond the projects of a token', async (id, of) => {
  const before = [callsOf(own), callsOf(foreign)];
  const { body } = await answer(app.owner, { id, repositoryIdentifier, ...of(foreign) });
  expect(body).toMatchObject({ status: 409, detail: expect.stringContaining('is not registered') });
  const elsewhere = { environmentId: foreignEnvironmentId };
  const statuses = [
    (await answer(app.owner, { id, repositoryIdentifier, ...of(own), ...elsewhere })).status,
    (await answer(app.owner, { id, repositoryIdentifier: theirs, ...of(foreign) })).status,
    (await answer(limited, { id, repositoryIdentifier: limitedTo, ...of(own) })).status,
    (await answer(limited, { id, repositoryIdentifier, ...of(own) })).status,
  ];
  expect(statuses).toEqual([400, 400, 409, 400]);
  expect([callsOf(own), callsOf(foreign)]).toEqual(before);
});

test('a member gets no privileges of an org without others, and none for longer than was approved', async () => {
  own.people.addSet('Admin');
  own.people.addUser(app.member.email);
  const member = app.as(app.member);
  const payload = {
    id: 'request-elevated-privileges',
    repositoryIdentifier,
    orgUsername: own.username,
    usernames: [app.member.email],
    permissionSets: ['Admin'],
    durationMinutes: 30,
    // A payload decides nothing about approvals.
    approvalPolicy: { skipApproval: true, allowSelfApproval: true },
    skipApproval: true,
  };
  await member.post(400, '/api/flows/run', { payload: { ...payload, durationMinutes: 43_201 } });
  const run = await member.post(202, '/api/flows/run', { payload });
  const { id: approvalId } = await eventually(
    async () => {
      const { items } = await member.get(200, '/api/flows/approvals');
      return (items as Json[]).find(({ executionId }) => executionId === run.id);
    },
    (found) => found !== undefined,
  );
  await member.post(403, `/api/flows/approvals/${approvalId}/approve`, {});
  await member.request(403, 'PATCH', `/api/projects/${encodeURIComponent(repositoryIdentifier)}`, {
    body: { configuration: { approvalPolicy: { skipApproval: true } } },
  });
  expect(own.people.assignments.size).toBe(0);
  const approvedAt = Date.now();
  await app.as(app.owner).post(200, `/api/flows/approvals/${approvalId}/approve`, {});
  await eventually(
    async () => own.people.assignments.size,
    (given) => given === 1,
  );
  const [given] = [...own.people.assignments.values()];
  const minutes = (Date.parse(given?.expiresAt ?? '') - approvedAt) / 60_000;
  expect(minutes).toBeGreaterThan(0);
  expect(minutes).toBeLessThan(32);
  await member.post(200, `/api/flows/runs/${run.id}/cancel`);
  await expect(endedRun(app, run)).resolves.toMatchObject({ status: 'Cancelled' });
  expect(own.people.assignments.size).toBe(0);
});
