import type { WorkerBackend } from '../../../../activities/backend.ts';
import { createPollPump } from '../../../../activities/orgs/org-limits/poll-pump.ts';
import { createOrgPolls } from '../../../../domain/orgs/org-limits/org-polls.ts';
import { createPollClaims, type PollClaims } from '../../../../domain/orgs/org-limits/poll-claims.queries.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { countedFailures, databaseAway } from '../../../support/database-outage.ts';
import { eventually } from '../../../support/eventually.ts';
import { engineAway } from '../../../support/launch.ts';
import { allDue, registeredOrgs, samplesByOrg } from '../../../support/polled-orgs.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';

let crm: CrmSimulator;
let app: TestApp;
let worker: WorkerBackend;
let store: PollClaims;
beforeAll(async () => {
  crm = await crmSimulator([]);
  app = await testApp({ launch: engineAway });
  worker = activityDeps(app);
  store = createPollClaims(worker.deps.system);
});
afterAll(async () => {
  await worker.close();
  await app.close();
  await crm.close();
});
beforeEach(() => app.sql('delete from crm_org'));

let made = 0;
const registered = (count: number) =>
  registeredOrgs(
    crm,
    app,
    Array.from({ length: count }, () => `polled-${++made}`),
  );
const idOf = async ({ username }: SimulatedOrg): Promise<string> => {
  const [row] = await app.sql<{ id: string }>('select id from crm_org where username = ?', [username]);
  return row?.id ?? '';
};
const pump = (polls = worker.deps.orgPolls) =>
  createPollPump({ store, polls })(app.tenantKey, new AbortController().signal);
const pollNow = (orgId: string) => worker.deps.orgPolls.pollNow(app.tenantKey, orgId);
const stateOf = async (orgId: string) =>
  (
    await app.sql<{ failures: number; isLater: boolean; isLeased: boolean; message: string | null; health: string }>(
      `select s.failures, s.due_at > now() as "isLater", s.lease_until is not null as "isLeased",
         s.failure->>'message' as message, o.health_status as health
       from org_limit_state s join crm_org o on o.id = s.org_id where s.org_id = ?`,
      [orgId],
    )
  )[0];
const leased = (orgId: string) =>
  eventually(
    () => stateOf(orgId),
    (state) => state?.isLeased === true,
  );
const callsOf = ({ name }: SimulatedOrg) =>
  crm.requests.filter(({ org, path }) => org === name && path.endsWith('limits')).length;
/** The database refuses what an org of this usage answered. */
const withRejectedSamples = async (used: number, work: () => Promise<unknown>) => {
  await app.sql(`alter table org_limit_sample add constraint refused check (used[1] <> ${used}) not valid`);
  await work().finally(() => app.sql('alter table org_limit_sample drop constraint refused'));
};

test('an org that cannot be asked has failed and is asked later; the pump ends', async () => {
  const [broken, fine] = await registered(2);
  if (!broken || !fine) throw new Error('two were registered');
  await app.sql(`update crm_token set access_token = 'sealed with a key that was taken away' where org_id = ?`, [
    await idOf(broken),
  ]);
  await store.addMissing();
  expect(await pump()).toEqual({ polled: 1, failed: 1, isMoreDue: false });
  expect(await stateOf(await idOf(broken))).toEqual({
    failures: 1,
    isLater: true,
    isLeased: false,
    message: 'The service could not ask the org: its log says why.',
    health: 'ok',
  });
  expect(await samplesByOrg(app)).toMatchObject({ [fine.username]: 1, [broken.username]: 0 });
});

test('an answer that cannot be stored has failed, and keeps no other from being stored', async () => {
  const orgs = await registered(3);
  const [odd, ...fine] = orgs;
  if (!odd) throw new Error('three were registered');
  odd.limits = { A: { max: 1_000, used: 666 } };
  await store.addMissing();
  await withRejectedSamples(666, pump);
  expect(await stateOf(await idOf(odd))).toMatchObject({ failures: 1, isLater: true, isLeased: false, health: 'ok' });
  for (const { username } of fine) expect((await samplesByOrg(app))[username]).toBe(1);
  expect(callsOf(odd)).toBe(1);
});

test('a forced poll that fails within the service says so and gives its claim back', async () => {
  const [org] = await registered(1);
  if (!org) throw new Error('one was registered');
  org.limits = { A: { max: 1_000, used: 666 } };
  const orgId = await idOf(org);
  await withRejectedSamples(666, async () => {
    expect(await pollNow(orgId)).toMatchObject({ message: expect.stringMatching(/could not be stored/) });
  });
  expect(await stateOf(orgId)).toMatchObject({ failures: 1, isLeased: false });

  // Neither what the org answered nor that it could not be stored is taken: the next poll need not wait.
  await app.sql(`update org_limit_state set forced_at = null`);
  await app.sql(`alter table org_limit_state add constraint refused check (failures <> 2)`);
  await withRejectedSamples(666, async () => {
    await expect(pollNow(orgId)).rejects.toThrow('refused');
  });
  await app.sql('alter table org_limit_state drop constraint refused');
  expect(await stateOf(orgId)).toMatchObject({ failures: 1, isLeased: false });
  expect(await pollNow(orgId)).toBeUndefined();
  expect(await stateOf(orgId)).toMatchObject({ failures: 0 });
});

test('a pump that begins anew voids its own claims, not those of forced polls', async () => {
  const [org, held] = await registered(2);
  if (!org || !held) throw new Error('two were registered');
  await store.addMissing();
  await app.sql(`update org_limit_state set due_at = now() + interval '1 day' where org_id = ?`, [await idOf(org)]);
  expect(await store.claim(app.tenantKey, 10)).toHaveLength(1);
  const orgId = await idOf(org);
  const answer = org.hold(/limits/);
  const forced = pollNow(orgId);
  await leased(orgId);
  await store.releaseAll(app.tenantKey);
  expect((await stateOf(await idOf(held)))?.isLeased).toBe(false);
  expect((await stateOf(orgId))?.isLeased).toBe(true);
  answer();
  expect(await forced).toBeUndefined();
  expect((await samplesByOrg(app))[org.username]).toBe(1);
});

test('a poll whose claim was lost says so; one that is recorded again counts once', async () => {
  const [org] = await registered(1);
  if (!org) throw new Error('one was registered');
  const orgId = await idOf(org);
  await store.addMissing();
  const [claimed] = await store.claim(app.tenantKey, 1);
  const poll = claimed && (await worker.deps.orgPolls.ask(app.tenantKey, claimed));
  if (!poll || poll === 'cut off') throw new Error('it was polled');
  expect(await worker.deps.orgPolls.record(app.tenantKey, [poll])).toEqual([poll]);
  expect(await worker.deps.orgPolls.record(app.tenantKey, [poll])).toEqual([]);

  const answer = org.hold(/limits/);
  const forced = pollNow(orgId);
  await leased(orgId);
  await app.sql('update org_limit_state set claims = claims + 1');
  answer();
  expect(await forced).toMatchObject({ message: expect.stringMatching(/took over/) });
});

test('at most 16 orgs of a tenant are polled on request at a time', async () => {
  const orgs = await registered(18);
  const ids = await Promise.all(orgs.map(idOf));
  const held = orgs.map((org) => org.hold(/limits/));
  let limited = 0;
  const polls = ids.map(async (orgId) => {
    const answer = await pollNow(orgId);
    if (answer?.kind === 'limited') limited++;
    return answer;
  });
  await eventually(
    async () => ({ limited, asked: orgs.filter((org) => callsOf(org) > 0).length }),
    (found) => found.limited === 2 && found.asked === 16,
  );
  for (const answer of held) answer();
  const answers = await Promise.all(polls);
  expect(answers.filter((answer) => answer?.kind === 'limited')).toHaveLength(2);
  expect(answers.filter((answer) => answer === undefined)).toHaveLength(16);
  expect(await pollNow(ids[17] ?? '')).toBeUndefined();
});

test('the database goes away between the answer of an org and its row: it is stored when it is back', async () => {
  const [org] = await registered(1);
  if (!org) throw new Error('one was registered');
  await store.addMissing();
  await allDue(app);
  const units = countedFailures(worker.deps.actingAs);
  const {
    orgPolls,
    crm: { connections },
    ...deps
  } = worker.deps;
  const answer = org.hold(/limits/);
  // The pump itself may fail as it looks for others; then it is tried again.
  const pumping = pump(
    createOrgPolls({ ...deps, connections, everyMs: orgPolls.everyMs, actingAs: units.actingAs }),
  ).catch(() => undefined);
  await eventually(async () => callsOf(org), Boolean);
  const back = await databaseAway(app);
  const before = units.failures;
  answer();
  await eventually(
    async () => units.failures,
    (failures) => failures > before,
  );
  await back();
  await pumping;
  expect(callsOf(org)).toBe(1);
  expect((await samplesByOrg(app))[org.username]).toBe(1);
});
