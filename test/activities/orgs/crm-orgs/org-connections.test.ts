import { pino } from 'pino';
import pg from 'pg';
import type { WorkerBackend } from '../../../../activities/backend.ts';
import { expiringOrgsSweep } from '../../../../activities/orgs/crm-orgs/expiring-orgs.sweep.ts';
import { runSweep } from '../../../../activities/kernel/system/run-sweep.ts';
import { createOrgConnections, type OrgConnections } from '../../../../domain/orgs/crm-orgs/tokens/org-connections.ts';
import type { MintingTimes } from '../../../../domain/orgs/crm-orgs/tokens/org-minting.ts';
import type { OrgKey } from '../../../../domain/orgs/crm-orgs/org-keys.ts';
import type { OrgTokenParts } from '../../../../domain/orgs/crm-orgs/tokens/org-tokens.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { authUrlParts, crmPlatform, failureOf, IMPATIENT, leaked, valueOf } from '../../../support/crm.ts';
import { countedFailures, databaseAway } from '../../../support/database-outage.ts';
import { eventually } from '../../../support/eventually.ts';
import { engineAway } from '../../../support/launch.ts';

let crm: CrmSimulator;
let app: TestApp;
let worker: WorkerBackend;
/** Two processes: neither knows what the other one does but by the rows. */
let processes: [OrgConnections, OrgConnections];
const platform = crmPlatform();
const impatient = crmPlatform({ timeouts: IMPATIENT });

const logs: string[] = [];
const log = pino({ level: 'trace' }, { write: (line: string) => void logs.push(line) });
const HOUR_MS = 3_600_000;
const register = '/api/auth/crm/register';

beforeAll(async () => {
  crm = await crmSimulator();
  app = await testApp({ launch: engineAway });
  worker = activityDeps(app);
  processes = [connect(), connect()];
});
afterAll(async () => {
  await Promise.all([platform.close(), impatient.close()]);
  await worker.close();
  await app.close();
  await crm.close();
});

const connect = (times: Partial<MintingTimes> = {}, parts: Partial<OrgTokenParts> = {}) =>
  createOrgConnections({ ...worker.deps, platform, log, times, ...parts });

let made = 0;
/** A registered production org of its own. */
async function registered(): Promise<{ org: ReturnType<CrmSimulator['org']>; orgKey: OrgKey }> {
  const org = await crm.addOrg({ name: `prod-${++made}`, kind: 'production' });
  await app.as(app.owner).post(201, register, { cliAuthUrl: org.authUrl });
  const [row] = await app.sql<{ id: string }>('select id from crm_org where username = ?', [org.username]);
  return { org, orgKey: { ...app.tenantKey, orgId: row?.id ?? '' } };
}
const once = (condition: () => boolean | Promise<boolean>) => eventually(async () => condition(), Boolean);
const refreshes = (name: string) =>
  crm.requests.filter(({ org, path }) => org === name && path === '/services/oauth2/token').length;
const isAsked =
  ({ name }: { name: string }, before: number) =>
  () =>
    refreshes(name) > before;
const actions = async (action: string, { orgId }: OrgKey) =>
  (await app.sql('select 1 from audit_entry where action = ? and entity_id = ?', [action, orgId])).length;
const health = async ({ orgId }: OrgKey) =>
  (await app.sql<{ health_status: string }>('select health_status from crm_org where id = ?', [orgId]))[0]
    ?.health_status;

test('many callers in two processes: one refresh, and all get its token', async () => {
  const { org, orgKey } = await registered();
  await app.sql('update crm_token set minted_at = null where org_id = ?', [orgKey.orgId]);
  const before = refreshes(org.name);
  const answer = org.hold();
  const asking = Array.from({ length: 40 }, (_, n) =>
    processes[n % 2 === 0 ? 0 : 1].tokenOf(orgKey, { maxAgeMs: HOUR_MS }),
  );
  await once(isAsked(org, before));
  answer();
  const answers = await Promise.all(asking);
  expect(new Set(answers.map((token) => valueOf(token).accessToken)).size).toBe(1);
  expect(refreshes(org.name)).toBe(before + 1);
});

test('a token that the org refuses is renewed once for all who were refused', async () => {
  const { org, orgKey } = await registered();
  const before = refreshes(org.name);
  org.endSessions();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => processes[n % 2 === 0 ? 0 : 1].callOrg(orgKey).limits()),
  );
  for (const answer of answers) expect(valueOf(answer).length).toBeGreaterThan(5);
  expect(refreshes(org.name)).toBe(before + 1);
});

test('a refresh token in a reply replaces the one that was used', async () => {
  const { org, orgKey } = await registered();
  org.rotatesTokens = true;
  for (const _ of [1, 2, 3]) {
    org.endSessions();
    valueOf(await processes[0].callOrg(orgKey).limits());
  }
  expect(await health(orgKey)).toBe('ok');
});

test('a refresh token that dies is asked for once; the mark holds in all processes until people renew it', async () => {
  const { org, orgKey } = await registered();
  org.revokeApprovals();
  const before = crm.requests.length;
  const failures = await Promise.all(
    Array.from({ length: 10 }, (_, n) => processes[n % 2 === 0 ? 0 : 1].callOrg(orgKey).limits()),
  );
  for (const answer of failures) expect(failureOf(answer).kind).toBe('auth_failed');
  expect(refreshes(org.name)).toBeGreaterThan(0);
  const asked = crm.requests.length;
  expect(asked).toBeLessThan(before + 25);
  for (const process of processes) expect(failureOf(await process.callOrg(orgKey).limits()).kind).toBe('auth_failed');
  expect(crm.requests.length).toBe(asked);
  expect([await health(orgKey), await actions('org.auth_failed', orgKey)]).toEqual(['auth_failed', 1]);
  await app.as(app.owner).post(200, register, { cliAuthUrl: org.authUrlOf(org.approve()) });
  valueOf(await processes[1].callOrg(orgKey).limits());
  expect([await health(orgKey), await actions('org.auth_recovered', orgKey)]).toEqual(['ok', 1]);
});

test('401 for ever: one refresh, one repeat, and the org is marked', async () => {
  const { org, orgKey } = await registered();
  org.fail('unauthorized', { times: 1_000, path: /limits/ });
  const before = crm.requests.length;
  expect(failureOf(await processes[0].callOrg(orgKey).limits()).kind).toBe('auth_failed');
  expect(crm.requests.length - before).toBeLessThanOrEqual(4);
  expect(await health(orgKey)).toBe('auth_failed');
  expect(await actions('org.auth_failed', orgKey)).toBe(1);
  const asked = crm.requests.length;
  expect(failureOf(await processes[1].callOrg(orgKey).limits()).kind).toBe('auth_failed');
  expect(failureOf(await processes[1].tokenOf(orgKey, { maxAgeMs: HOUR_MS })).kind).toBe('auth_failed');
  expect(crm.requests.length).toBe(asked);
});

test('a refresh token that was rotated is kept although the lease ended first, and lifts the mark of who tried the old one', async () => {
  const { org, orgKey } = await registered();
  org.rotatesTokens = true;
  const answer = org.hold();
  const before = refreshes(org.name);
  const asking = processes[0].tokenOf(orgKey, { maxAgeMs: 1 });
  await once(isAsked(org, before));
  await app.sql('update crm_token set lease_id = gen_random_uuid(), access_token = null where org_id = ?', [
    orgKey.orgId,
  ]);
  await app.sql(`update crm_org set health_status = 'auth_failed' where id = ?`, [orgKey.orgId]);
  answer();
  valueOf(await asking);
  expect([await health(orgKey), await actions('org.auth_recovered', orgKey)]).toEqual(['ok', 1]);
  org.endSessions();
  valueOf(await processes[1].callOrg(orgKey).limits());
});

test('the dead refresh token of a sandbox is tried once, also while its production org gives no code', async () => {
  const { org, orgKey: production } = await registered();
  const sandbox = await crm.addOrg({ name: `${org.name}-box`, kind: 'sandbox', parent: org.name, sandboxName: 'box' });
  const orgKey = { ...production, sandboxName: 'box' };
  valueOf(await processes[0].tokenOf(orgKey, { maxAgeMs: HOUR_MS }));
  sandbox.revokeApprovals();
  org.fail('html-503', { times: 100 });
  const before = refreshes(sandbox.name);
  for (const process of processes) failureOf(await process.tokenOf(orgKey, { maxAgeMs: 1 }));
  expect(refreshes(sandbox.name)).toBe(before + 1);
  org.heal();
  valueOf(await processes[0].tokenOf(orgKey, { maxAgeMs: 1 }));
});

test.each(['hang', 'drip', 'endless', 'html', 'html-503', 'drop', 'error'] as const)(
  'the token endpoint answers with %s: a failure in bounded time, no mark, and the next try works',
  async (fault) => {
    const { org, orgKey } = await registered();
    org.fail(fault, { times: 1_000, path: /oauth2/ });
    const isSilent = fault === 'hang' || fault === 'drip';
    const asking = isSilent ? [1, 2].map(() => connect({}, { platform: impatient })) : processes;
    const answers = await Promise.all(asking.map((process) => process.tokenOf(orgKey, { maxAgeMs: 1 })));
    for (const answer of answers) expect(['timeout', 'unreachable', 'malformed']).toContain(failureOf(answer).kind);
    expect(await health(orgKey)).toBe(fault === 'html' || fault === 'endless' ? 'ok' : 'unreachable');
    org.heal();
    valueOf(await processes[0].tokenOf(orgKey, { maxAgeMs: 1 }));
    valueOf(await processes[0].callOrg(orgKey).limits());
    expect(await health(orgKey)).toBe('ok');
  },
);

test('the health of an org follows what calls learn, but a refused credential stays so', async () => {
  const { org, orgKey } = await registered();
  const after = async (fault?: 'html-503' | 'used-up') => {
    if (fault) org.fail(fault, { path: /limits/ });
    await processes[0].callOrg(orgKey).limits();
    return health(orgKey);
  };
  expect(await after('html-503')).toBe('unreachable');
  expect(await after()).toBe('ok');
  expect(await after('used-up')).toBe('limited');
  expect(failureOf(await processes[1].callOrg(orgKey).query('SELECT Id FROM Nothing')).code).toBe('INVALID_TYPE');
  expect(await health(orgKey)).toBe('limited');
  const answer = org.hold(/limits/);
  const asking = processes[1].callOrg(orgKey).limits();
  await once(() => crm.requests.at(-1)?.org === org.name && crm.requests.at(-1)?.path.endsWith('limits') === true);
  await app.sql(`update crm_org set health_status = 'auth_failed' where id = ?`, [orgKey.orgId]);
  answer();
  valueOf(await asking);
  expect(await health(orgKey)).toBe('auth_failed');
});

test('an exchange that takes longer than the lease is not repeated by another process, and no lease is long', async () => {
  const { org, orgKey: production } = await registered();
  const sandbox = await crm.addOrg({ name: `${org.name}-box`, kind: 'sandbox', parent: org.name, sandboxName: 'box' });
  const orgKey = { ...production, sandboxName: 'box' };
  const approvals = sandbox.approvals.length;
  const lease = async () => {
    const [row] = await app.sql<{ until: string; isShort: boolean }>(
      `select lease_until::text as until, lease_until <= now() + interval '30 seconds' as "isShort"
       from crm_token where org_id = ? and reached_name = 'box' and lease_id is not null`,
      [orgKey.orgId],
    );
    return row;
  };
  const answer = sandbox.hold();
  // Renewed each second and a half.
  const times = { leaseMs: 4_500 };
  const both = [connect(times), connect(times)].map((each) => each.tokenOf(orgKey, { maxAgeMs: HOUR_MS }));
  const first = await eventually(lease, (row) => row !== undefined);
  await eventually(lease, (row) => row !== undefined && row.until !== first?.until);
  answer();
  for (const token of await Promise.all(both)) valueOf(token);
  expect(sandbox.approvals.length).toBe(approvals + 1);
  sandbox.revokeApprovals();
  const answerAgain = sandbox.hold();
  const asking = processes[0].tokenOf(orgKey, { maxAgeMs: 1 });
  expect(await eventually(lease, (row) => row !== undefined)).toMatchObject({ isShort: true });
  answerAgain();
  valueOf(await asking);
});

test('a code that came too late does not mark a sandbox: the next one is exchanged', async () => {
  const { org, orgKey: production } = await registered();
  const sandbox = await crm.addOrg({ name: `${org.name}-box`, kind: 'sandbox', parent: org.name, sandboxName: 'box' });
  await app.as(app.owner).post(201, '/api/auth/crm/register-sandbox-by-name', {
    sandboxName: 'box',
    productionUsername: org.username,
  });
  const [row] = await app.sql<{ id: string }>('select id from crm_org where username = ?', [sandbox.username]);
  const orgKey = { ...production, orgId: row?.id ?? '' };
  const body = { error: 'invalid_grant', error_description: 'expired authorization code' };
  sandbox.fail({ kind: 'reply', status: 400, body }, { times: 2, path: /oauth2/ });
  expect(failureOf(await processes[0].tokenOf(orgKey, { maxAgeMs: 1 })).kind).toBe('auth_failed');
  expect(await health(orgKey)).toBe('ok');
  valueOf(await processes[1].tokenOf(orgKey, { maxAgeMs: 1 }));
});

test('what a production org refuses for its sandbox is the answer for a minute', async () => {
  const { org, orgKey: production } = await registered();
  await crm.addOrg({ name: `${org.name}-box`, kind: 'sandbox', parent: org.name, sandboxName: 'box' });
  for (const row of org.sandboxes) row.isOwn = false;
  const orgKey = { ...production, sandboxName: 'box' };
  const asked = () =>
    crm.requests.filter(({ org: name, path }) => name === org.name && /sandboxAuth/.test(path)).length;
  for (const process of [...processes, ...processes])
    expect(failureOf(await process.tokenOf(orgKey, { maxAgeMs: HOUR_MS })).code).toBe('INSUFFICIENT_ACCESS');
  expect(asked()).toBe(1);
  for (const row of org.sandboxes) row.isOwn = true;
  await app.sql(
    `update crm_token set updated_at = now() - interval '61 seconds' where reached_name = 'box' and org_id = ?`,
    [orgKey.orgId],
  );
  valueOf(await processes[0].tokenOf(orgKey, { maxAgeMs: HOUR_MS }));
});

test('a scratch org without a record: one refresh for all callers, and a rotated refresh token is kept', async () => {
  const { org, orgKey: hub } = await registered();
  const scratch = await crm.addOrg({ name: `${org.name}-scratch`, kind: 'scratch', parent: org.name });
  scratch.rotatesTokens = true;
  const answer = scratch.hold();
  const access = { username: scratch.username, platformOrgId: scratch.orgId, authUrl: authUrlParts(scratch.authUrl) };
  const orgKey = { ...hub, scratch: access };
  const asking = Array.from({ length: 20 }, (_, n) =>
    processes[n % 2 === 0 ? 0 : 1].tokenOf(orgKey, { maxAgeMs: HOUR_MS }),
  );
  await once(isAsked(scratch, 0));
  answer();
  const tokens = (await Promise.all(asking)).map((token) => valueOf(token).accessToken);
  expect(new Set(tokens).size).toBe(1);
  expect(refreshes(scratch.name)).toBe(1);
  scratch.endSessions();
  for (const process of processes) valueOf(await process.callOrg(orgKey).limits());
  expect(refreshes(scratch.name)).toBe(2);
  // The dev hub stores another auth URL now: that of another org is no good, a new one is taken.
  const given = { ...access, authUrl: authUrlParts(org.authUrl) };
  expect(failureOf(await processes[0].tokenOf({ ...hub, scratch: given }, { maxAgeMs: HOUR_MS })).code).toBe(
    'OTHER_ORG',
  );
  const renewed = { ...access, authUrl: authUrlParts(scratch.authUrlOf(scratch.approve())) };
  valueOf(await processes[1].tokenOf({ ...hub, scratch: renewed }, { maxAgeMs: HOUR_MS }));
  expect(await health(hub)).toBe('ok');
});

test('an attempt that ends while its org is registered anew, changed or removed waits for it', async () => {
  const { org, orgKey } = await registered();
  const other = new pg.Client(app.databaseUrl);
  await other.connect();
  const begin = async (minting: () => Promise<unknown>) => {
    // As a registration does: the org first, then its token.
    await other.query('begin');
    await other.query('select from crm_org where id = $1 for update', [orgKey.orgId]);
    const ended = minting();
    await once(
      async () =>
        (
          await app.sql(
            `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
        ).length > 0,
    );
    await other.query('select from crm_token where org_id = $1 for update nowait', [orgKey.orgId]);
    await other.query('commit');
    await ended;
  };
  org.claimedUrl = org.url.replace('127.0.0.1', 'localhost');
  await begin(() => processes[0].tokenOf(orgKey, { maxAgeMs: 1 }).then(valueOf));
  org.revokeApprovals();
  await begin(() => processes[0].tokenOf(orgKey, { maxAgeMs: 1 }).then(failureOf));
  await other.end();
  expect(await health(orgKey)).toBe('auth_failed');
});

test('whoever has the lease and dies is followed by another when it expires', async () => {
  const { org, orgKey } = await registered();
  await app.sql(
    `update crm_token set minted_at = null, lease_id = gen_random_uuid(), lease_until = now() + interval '1 hour' where org_id = ?`,
    [orgKey.orgId],
  );
  let looks = 0;
  const { reads } = worker.deps;
  const as: typeof reads.as = (actor) => {
    looks++;
    return reads.as(actor);
  };
  const asking = connect({}, { reads: { ...reads, as } }).tokenOf(orgKey, { maxAgeMs: HOUR_MS });
  await once(() => looks >= 3);
  expect(refreshes(org.name)).toBe(1);
  await app.sql('update crm_token set lease_until = now() where org_id = ?', [orgKey.orgId]);
  valueOf(await asking);
  expect(refreshes(org.name)).toBe(2);
});

test('the database goes away between the platform and the row: the token that replaced the old one is not lost', async () => {
  const { org, orgKey } = await registered();
  org.rotatesTokens = true;
  const before = refreshes(org.name);
  const units = countedFailures(worker.deps.actingAs);
  const answer = org.hold();
  const asking = connect({}, { actingAs: units.actingAs }).tokenOf(orgKey, { maxAgeMs: 1 });
  await once(isAsked(org, before));
  const back = await databaseAway(app);
  answer();
  await once(() => units.failures > 0);
  await back();
  valueOf(await asking);
  org.endSessions();
  valueOf(await processes[1].callOrg(orgKey).limits());
  expect(await health(orgKey)).toBe('ok');
});

test('nor is it when the database comes back after callers have given up', async () => {
  const { org, orgKey } = await registered();
  org.rotatesTokens = true;
  const before = refreshes(org.name);
  const answer = org.hold();
  const times = { storePausesMs: [10], rescuePausesMs: Array<number>(2_000).fill(50) };
  const asking = connect(times).tokenOf(orgKey, { maxAgeMs: 1 });
  await once(isAsked(org, before));
  const back = await databaseAway(app);
  answer();
  await expect(asking).rejects.toThrow();
  await back();
  await once(
    async () =>
      (await app.sql('select 1 from crm_token where org_id = ? and generation >= 2', [orgKey.orgId])).length > 0,
  );
  org.endSessions();
  valueOf(await processes[1].callOrg(orgKey).limits());
  expect(await health(orgKey)).toBe('ok');
});

test('without a new refresh token the next try heals what the database did not take', async () => {
  const { org, orgKey } = await registered();
  const before = refreshes(org.name);
  const answer = org.hold();
  const asking = connect({ storePausesMs: [10] }).tokenOf(orgKey, { maxAgeMs: 1 });
  await once(isAsked(org, before));
  const back = await databaseAway(app);
  answer();
  await expect(asking).rejects.toThrow();
  await back();
  await app.sql('update crm_token set lease_until = now() where org_id = ?', [orgKey.orgId]);
  valueOf(await processes[1].tokenOf(orgKey, { maxAgeMs: 1 }));
  expect(await health(orgKey)).toBe('ok');
});

test('background work gives way when nearly all calls of the day are used up; people do not', async () => {
  const { org, orgKey } = await registered();
  org.limits.DailyApiRequests = { max: 1_000, used: 970 };
  valueOf(await processes[0].callOrg(orgKey).limits());
  await once(
    async () =>
      (await app.sql('select from crm_token where org_id = ? and api_calls_used > 950', [orgKey.orgId])).length > 0,
  );
  expect(failureOf(await processes[1].callOrg(orgKey, { isBackground: true }).limits()).code).toBe(
    'DAILY_CALLS_RESERVED',
  );
  valueOf(await processes[1].callOrg(orgKey).limits());
});

test('a scratch org that expires soon is announced once', async () => {
  const { orgId } = (await registered()).orgKey;
  await app.sql(`update crm_org set expires_at = now() + interval '2 days' where id = ?`, [orgId]);
  await app.as(app.owner).post(201, '/api/webhooks', {
    name: 'expiry',
    event: 'org.expiring',
    config: { url: 'http://127.0.0.1:9/' },
  });
  for (const _ of [1, 2]) await runSweep(worker.deps, expiringOrgsSweep);
  expect((await app.sql(`select 1 from webhook_delivery where event = 'org.expiring'`)).length).toBe(1);
});

test('an outage is logged, and no line of the log shows a secret', () => {
  expect(logs.some((line) => line.includes('is not stored yet'))).toBe(true);
  expect(leaked(logs, crm.secrets)).toEqual([]);
});
