import type { WorkerBackend } from '../../../../activities/backend.ts';
import type { PlatformLimit } from '../../../../domain/orgs/crm/crm-platform.port.ts';
import { failure } from '../../../../domain/orgs/crm/platform-error-rules.ts';
import { purgeSamples } from '../../../../domain/orgs/org-limits/limit-samples.queries.ts';
import {
  type ClaimedOrg,
  createPollClaims,
  type PollClaims,
} from '../../../../domain/orgs/org-limits/poll-claims.queries.ts';
import type { TenantKey } from '../../../../domain/kernel/shared/actor.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { engineAway } from '../../../support/launch.ts';

let app: TestApp;
let worker: WorkerBackend;
let store: PollClaims;
let tenant: TenantKey;
let other: TenantKey;

beforeAll(async () => {
  app = await testApp({ launch: engineAway });
  worker = activityDeps(app);
  store = createPollClaims(worker.deps.system);
  tenant = app.tenantKey;
  const [row] = await app.sql<{ id: string }>(`select id from tenant where slug = 'other'`);
  other = { tenantId: row?.id ?? '', tenantSlug: 'other' };
});
afterAll(async () => {
  await worker.close();
  await app.close();
});
beforeEach(() => app.sql('delete from crm_org'));

async function addOrg(
  { tenantId }: TenantKey = tenant,
  more: { healthStatus?: 'auth_failed' | 'ok' } = {},
): Promise<string> {
  const id = newId();
  await app.db
    .insertInto('crm_org')
    .values({
      id,
      tenantId,
      username: `${id}@acme.example`,
      kind: 'production',
      instanceUrl: 'https://acme.my.crm.example.com',
      platformOrgId: '00D000000000001EAA',
      organizationType: 'Enterprise Edition',
      metadata: '{}' as never,
      ...more,
    })
    .execute();
  return id;
}
const addOrgs = async (count: number, of = tenant): Promise<string[]> => {
  const ids = await Promise.all(Array.from({ length: count }, () => addOrg(of)));
  await store.addMissing();
  await app.sql(`update org_limit_state set due_at = now() - interval '1 second'`);
  return ids;
};
const idsOf = (claimed: readonly ClaimedOrg[]) => claimed.map(({ orgId }) => orgId).toSorted();
const answered = (
  org: ClaimedOrg,
  limits: PlatformLimit[] = [{ name: 'A', max: 100, remaining: 40 }],
  at = new Date(),
) => ({
  ...org,
  at,
  answer: { isOk: true as const, value: limits },
});
const record = (...polls: ReturnType<typeof answered>[]) => worker.deps.orgPolls.record(tenant, polls);
const samples = async () => (await app.sql<{ orgId: string }>('select org_id from org_limit_sample')).length;

test('orgs are claimed once, of one tenant, and those that failed last', async () => {
  const [failing, ...fine] = await addOrgs(5);
  await addOrgs(2, other);
  await app.sql(`update org_limit_state set failures = 3, due_at = now() - interval '1 hour' where org_id = ?`, [
    failing,
  ]);
  expect(await store.dueTenants(10)).toHaveLength(2);
  const [first, second] = await Promise.all([store.claim(tenant, 2), store.claim(tenant, 2)]);
  expect(idsOf([...first, ...second])).toEqual(fine.toSorted());
  expect(idsOf(await store.claim(tenant, 10))).toEqual([failing]);
  expect(await store.claim(tenant, 10)).toEqual([]);
  expect(await store.dueTenants(10)).toEqual([other]);
});

test('an org of a refused credential is claimed once it was found to work again, whenever it is due', async () => {
  const id = await addOrg(tenant, { healthStatus: 'auth_failed' });
  await store.addMissing();
  expect(await store.claim(tenant, 10)).toEqual([]);
  await app.sql(
    `update org_limit_state set failures = 1, attempted_at = now() - interval '1 minute', due_at = now() + interval '6 hours'`,
  );
  expect(await store.dueTenants(10)).toEqual([]);
  await app.sql(`update crm_org set health_status = 'ok', health_checked_at = now()`);
  expect(await store.dueTenants(10)).toEqual([tenant]);
  expect(idsOf(await store.claim(tenant, 10))).toEqual([id]);
});

test('a claim that was lost records nothing; the one that holds records once', async () => {
  await addOrgs(1);
  const [lost] = await store.claim(tenant, 1);
  await store.releaseAll(tenant);
  const [held] = await store.claim(tenant, 1);
  if (!lost || !held) throw new Error('it was claimed twice');
  await record(answered(lost));
  expect(await samples()).toBe(0);
  await record(answered(held));
  await store.release(tenant, [lost]);
  expect(await samples()).toBe(1);
  expect(await store.claim(tenant, 1)).toEqual([]);
  const [state] = await app.sql('select failures, lease_until, due_at > now() as "isLater" from org_limit_state');
  expect(state).toEqual({ failures: 0, lease_until: null, isLater: true });
});

test('an org that is removed while it is polled leaves nothing', async () => {
  await addOrgs(2);
  const [gone, stays] = await store.claim(tenant, 2);
  if (!gone || !stays) throw new Error('both were claimed');
  await app.sql('delete from crm_org where id = ?', [gone.orgId]);
  await record(answered(gone), answered(stays));
  expect(await app.sql('select org_id from org_limit_sample')).toEqual([{ org_id: stays.orgId }]);
});

test('an org that answers with odd texts does not keep others from being recorded', async () => {
  await addOrgs(2);
  const [odd, fine] = await store.claim(tenant, 2);
  if (!odd || !fine) throw new Error('both were claimed');
  const message = `${'x'.repeat(299)}\u{1f600} \u0000`;
  await worker.deps.orgPolls.record(tenant, [
    { ...odd, at: new Date(), answer: failure('unreachable', null, message, 'Try again later.') },
    answered(fine),
  ]);
  expect(await app.sql('select org_id from org_limit_sample')).toEqual([{ org_id: fine.orgId }]);
  expect(await app.sql('select health_status, health_hint from crm_org where id = ?', [odd.orgId])).toEqual([
    { health_status: 'unreachable', health_hint: 'Try again later.' },
  ]);
});

test('the hour keeps the highest usage of each limit, by its place', async () => {
  const [orgId] = await addOrgs(1);
  const at = new Date('2026-03-02T09:05:00Z');
  const polls: Record<string, [number, number]>[] = [
    { A: [100, 60] },
    { A: [100, 90], B: [200, 100] },
    { B: [200, 150] },
  ];
  for (const [index, limits] of polls.entries()) {
    await app.sql(`update org_limit_state set due_at = now() - interval '1 second'`);
    const [held] = await store.claim(tenant, 1);
    if (!held) throw new Error('it was not claimed');
    const list = Object.entries(limits).map(([name, [max, remaining]]) => ({ name, max, remaining }));
    await record(answered(held, list, new Date(at.getTime() + index * 60_000)));
  }
  expect(await app.sql('select peaks, hour from org_limit_hour where org_id = ?', [orgId])).toEqual([
    { peaks: [4_000, 5_000], hour: '2026-03-02 09:00:00+00' },
  ]);
  const kept = await app.sql('select used, max from org_limit_sample order by sampled_at');
  expect(JSON.parse(JSON.stringify(kept))).toEqual([
    { used: ['40'], max: ['100'] },
    { used: ['10', '100'], max: ['100', '200'] },
    { used: [null, '50'], max: [null, '200'] },
  ]);
});

test('samples of more than 8 days and hours of more than 400 go', async () => {
  const [orgId] = await addOrgs(1);
  await app.sql(
    `insert into org_limit_sample (tenant_id, org_id, sampled_at, used, max)
     select ?, ?, now() - make_interval(days => d, hours => 1), '{1}', '{2}' from unnest(array[1, 7, 8, 30]) d`,
    [tenant.tenantId, orgId],
  );
  await app.sql(
    `insert into org_limit_hour (tenant_id, org_id, hour, peaks)
     select ?, ?, now() - make_interval(days => d, hours => 1), '{1}' from unnest(array[1, 399, 400]) d`,
    [tenant.tenantId, orgId],
  );
  expect(await purgeSamples(worker.deps.system)).toBe(3);
  expect(await purgeSamples(worker.deps.system)).toBe(0);
  expect(await samples()).toBe(2);
});
