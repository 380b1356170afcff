import { orgLimitsContract, orgsDueSignal } from '../../../../workflows/orgs/org-limits/org-limits.contract.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { leaked } from '../../../support/crm.ts';
import { historiesOf } from '../../../support/histories.ts';
import { loseHeartbeats } from '../../../support/lost-heartbeats.ts';
import { allDue, registeredOrgs, samplesByOrg } from '../../../support/polled-orgs.ts';
import { eventually, startWorker, startWorkerProcess, type TestWorker } from '../../../support/worker.ts';

const QUEUES = ['crm-v1', 'system-v1'];

let crm: CrmSimulator;
let app: TestApp;
let worker: TestWorker;

beforeAll(async () => {
  // Orgs that hang are waited for that long; the others answer at once.
  app = await testApp({ env: { SERVICE_PACE: '0.1', CRM_CALL_SECONDS: '5' } });
});
beforeEach(async () => {
  crm = await crmSimulator([]);
});
afterEach(async () => {
  await worker.stop();
  await app.sql('delete from crm_org');
  await crm.close();
});
afterAll(() => app.close());

interface Summary {
  orgUsername: string;
  status: string;
}
const statuses = async (): Promise<Record<string, string>> => {
  const orgs: Summary[] = await app.as(app.owner).get(200, '/api/observability/limits/summary');
  return Object.fromEntries(orgs.map(({ orgUsername, status }) => [orgUsername, status]));
};
const wake = () => app.launch.signalWithStart(orgLimitsContract, app.tenantKey, orgsDueSignal);
const requestsOf = (name: string) => crm.requests.filter(({ org }) => org === name).length;
const trailOf = async (action: string) =>
  (await app.sql<{ total: number }>('select count(*)::int as total from audit_entry where action = ?', [action]))[0]
    ?.total ?? 0;

test('orgs that fail in every way are bounded and harm no other; the others are polled without being asked for', async () => {
  const kinds = ['hang', 'drip', 'html', 'html-503', 'redirect', 'endless', 'unauthorized', 'used-up'] as const;
  const broken = await registeredOrgs(crm, app, kinds);
  const fine = await registeredOrgs(crm, app, ['fine-1', 'fine-2', 'fine-3']);
  for (const [index, kind] of kinds.entries()) broken[index]?.fail(kind, { times: 1_000, path: /limits$/ });
  const before = new Map(kinds.map((kind) => [kind, requestsOf(kind)]));
  worker = await startWorker(app, QUEUES);
  const samples = await eventually(
    () => samplesByOrg(app),
    (found) => fine.every(({ username }) => found[username] === 1),
  );
  expect(Object.values(samples).filter((count) => count > 0)).toHaveLength(3);
  const attempted = () => app.sql('select 1 from org_limit_state where attempted_at is not null');
  await eventually(attempted, (rows) => rows.length === kinds.length + fine.length);
  const shown = await statuses();
  for (const [index, kind] of kinds.entries())
    expect([kind, shown[broken[index]?.username ?? '']]).toEqual([
      kind,
      kind === 'unauthorized' ? 'auth_failed' : 'unreachable',
    ]);
  // Version, limits and, after a 401, one refresh and one repeat.
  for (const kind of kinds) expect(requestsOf(kind) - (before.get(kind) ?? 0)).toBeLessThanOrEqual(5);
  expect(await trailOf('org.auth_failed')).toBe(1);

  // The calls of a day are given back: the next poll goes on.
  for (const org of broken) org.heal();
  await allDue(app);
  await wake();
  const usedUp = broken.at(-1)?.username ?? '';
  await eventually(statuses, (found) => found[usedUp] === 'ok');
  expect((await statuses())[broken[6]?.username ?? '']).toBe('auth_failed');
});

test('a refresh token that dies is announced once; a new auth URL brings the org back before its turn', async () => {
  const before = await trailOf('org.auth_failed');
  const [dying, fine] = await registeredOrgs(crm, app, ['dying', 'fine']);
  if (!dying || !fine) throw new Error('two orgs were registered');
  worker = await startWorker(app, QUEUES);
  await wake();
  await eventually(
    () => samplesByOrg(app),
    (found) => found[dying.username] === 1 && found[fine.username] === 1,
  );
  dying.revokeApprovals();
  await allDue(app);
  await wake();
  await eventually(statuses, (found) => found[dying.username] === 'auth_failed');
  await eventually(
    () => samplesByOrg(app),
    (found) => found[fine.username] === 2,
  );
  await allDue(app);
  const asked = requestsOf('dying');
  await wake();
  await eventually(
    () => samplesByOrg(app),
    (found) => found[fine.username] === 3,
  );
  expect(requestsOf('dying')).toBe(asked);
  expect(await trailOf('org.auth_failed')).toBe(before + 1);

  const cliAuthUrl = dying.authUrlOf(dying.approve());
  await app
    .as(app.owner)
    .patch(200, `/api/auth/crm/org?${new URLSearchParams({ username: dying.username })}`, { cliAuthUrl });
  await app.sql(`update org_limit_state set due_at = now() + interval '6 hours'`);
  await eventually(
    () => samplesByOrg(app),
    (found) => found[dying.username] === 2,
  );
  const histories = await historiesOf(app, 'crm-v1');
  expect(histories.join('\n')).toContain(app.tenant.id);
  expect(leaked(histories, crm.secrets)).toEqual([]);
  expect((await statuses())[dying.username]).toBe('ok');
});

test('a worker that is killed while it polls leaves no sample twice and none out', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `org-${index}`);
  const orgs = await registeredOrgs(crm, app, names);
  const open = orgs.slice(0, 8);
  for (const org of open) org.fail('hang', { times: 1_000 });
  await app.sql(`insert into org_limit_state (tenant_id, org_id) select tenant_id, id from crm_org`);
  const dying = await startWorkerProcess({ ...app, env: { ...app.env, CRM_CALL_SECONDS: '60' } }, QUEUES);
  await wake();
  await eventually(
    () => samplesByOrg(app),
    (found) => Object.values(found).filter((count) => count > 0).length >= 5,
  );
  await dying.kill('SIGKILL');
  const before = await samplesByOrg(app);
  expect(open.map(({ username }) => before[username])).toEqual(open.map(() => 0));
  for (const org of open) org.heal();
  worker = await startWorker(app, QUEUES);
  await loseHeartbeats(app, app.launch.idOf(orgLimitsContract, app.tenantKey), 1);
  const samples = await eventually(
    () => samplesByOrg(app),
    (found) => Object.values(found).every((count) => count > 0),
  );
  expect(new Set(Object.values(samples))).toEqual(new Set([1]));
  const leased = await app.sql<{ leased: number }>(
    'select count(*)::int as leased from org_limit_state where lease_until is not null',
  );
  expect(leased).toEqual([{ leased: 0 }]);
});
