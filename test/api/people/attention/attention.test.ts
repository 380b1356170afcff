import { ATTENTION } from '../../../../domain/areas.ts';
import { ATTENTION_KINDS } from '../../../../domain/kernel/attention/attention-rules.ts';
import { json } from '../../../../domain/kernel/data/columns.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { breakingLimits } from '../../../../domain/orgs/org-limits/limit-attention.queries.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Bearer, Json } from '../../../support/client.ts';
import {
  insertApproval,
  insertDeliveries,
  insertLockTickets,
  insertRun,
  insertWebhook,
} from '../../../support/factories.ts';
import { idleEngine } from '../../../support/launch.ts';
import { recordedSession } from '../../../support/recorded-session.ts';

let app: TestApp;
const shop = 'acme/shop';
const other = 'acme/other';
/** The environment of the first project, and the ids of what needs attention by its kind. */
let environmentId: string;
let projectId: string;
const keys: Partial<Record<string, string>> = {};

const hoursFromNow = (hours: number) => new Date(Date.now() + hours * 3_600_000);
const failed = {
  status: 'failed',
  displayStatus: 'Failed',
  error: 'the pipeline failed',
  endedAt: hoursFromNow(-1),
} as const;
const owner = () => app.as(app.owner);
const list = (query = '', caller: Bearer = app.owner): Promise<Json> =>
  app.as(caller).get(200, `/api/attention${query}`);
const kindsOf = (page: Json): string[] => page.items.map(({ kind }: Json) => kind).toSorted();
const acknowledge = (status: number, id: string, caller: Bearer = app.owner, body?: unknown) =>
  app.as(caller).post(status, `/api/attention/${encodeURIComponent(id)}/acknowledge`, body);

beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
  for (const identifier of [shop, other]) {
    const project = await owner().post(201, '/api/projects', { identifier, platform: 'host-a' });
    projectId ??= project.id;
  }
  const environment = { repositoryIdentifier: shop, name: 'uat', category: 'release' };
  environmentId = (await owner().post(201, '/api/environments', environment)).id;
  const run = { repositoryIdentifier: shop, requestedBy: app.owner.email };
  keys.run_failed = await insertRun(app, { ...run, ...failed, releaseName: '2026.11' });
  const waiting = await insertRun(app, run);
  keys.approval_expiring = await insertApproval(app, {
    repositoryIdentifier: shop,
    runId: waiting,
    expiresAt: hoursFromNow(2),
  });
  keys.webhook_disabled = await insertWebhook(app, {
    status: 'failed',
    failureReason: 'The receiver answered 410 Gone',
  });
  keys.delivery_given_up = await insertWebhook(app, { name: 'given up' });
  await insertDeliveries(app, { id: keys.delivery_given_up, event: 'project.updated' }, 3, {
    status: 'failed',
    createdAt: hoursFromNow(-2),
  });
  const [, held] = await insertLockTickets(app, environmentId, [
    { state: 'released', heldAt: hoursFromNow(-30), endedAt: hoursFromNow(-29.5) },
    { state: 'held', heldAt: hoursFromNow(-2), expiresAt: hoursFromNow(1) },
    { state: 'queued' },
  ]);
  keys.lock_overdue = held as string;
  const token = await owner().post(201, '/api/application-tokens', { name: 'short', expiresIn: 10 });
  keys.token_expiring = token.id;
  await app.sql(`update application_token set expires_at = now() + interval '60 days' where id <> ?`, [token.id]);
  const orgId = newId();
  const { tenantId } = app.tenantKey;
  await app.db
    .insertInto('crm_org')
    .values({
      id: orgId,
      tenantId,
      username: 'admin@acme.example',
      kind: 'production',
      instanceUrl: 'https://acme.my.crm.example.com',
      platformOrgId: '00D000000000001EAA',
      organizationType: 'Enterprise Edition',
      metadata: '{}' as never,
      healthStatus: 'auth_failed',
      healthError: 'invalid_grant',
      refusedAt: hoursFromNow(-1),
    })
    .execute();
  keys.org_sign_in_failed = orgId;
  const forecast = { forecastAt: hoursFromNow(1).getTime(), breaksSince: hoursFromNow(-1).getTime() };
  const limit = { name: 'DailyApiRequests', max: 100, used: 90, level: 'critical', ...forecast };
  await app.db
    .insertInto('org_limit_state')
    .values({ tenantId, orgId, limits: json([limit] as never), polledAt: new Date() })
    .execute();
  keys.limit_forecast = orgId;
  await app.sql(`update project set remote_url = 'https://git.example.com/acme/shop.git' where id = ?`, [projectId]);
  await app.db
    .insertInto('git_mirror')
    .values({ tenantId, projectId, error: 'the host refuses the credential', completedAt: new Date(), failures: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['tenantId', 'projectId'])
        .doUpdateSet({ error: 'the host refuses the credential', failures: 1 }),
    )
    .execute();
  keys.mirror_stale = projectId;
  keys.schedule_refused = newId();
  await app.sql(
    `insert into flow_schedule (id, tenant_id, project_id, name, cron, timezone, payload, schedule_path, created_by, refused_at, refusal)
     values (?, ?, ?, 'nightly', '0 3 * * *', 'UTC', '{}', 'flows/nightly', ?, now(), 'The flow type analyze is not available')`,
    [keys.schedule_refused, tenantId, projectId, app.owner.email],
  );
  await recordedSession(app, { projectId });
  keys.browser_hosts_missing = tenantId;
});
afterAll(() => app.close());

test('every kind has one rule', () => {
  expect(ATTENTION.map(({ kind }) => kind).toSorted()).toEqual(ATTENTION_KINDS);
});

test('each thing is listed once, with its reason, since when, and what to do', async () => {
  const page = await list();
  expect(kindsOf(page)).toEqual(ATTENTION_KINDS);
  expect(page).toMatchObject({ total: ATTENTION_KINDS.length, incompleteKinds: [] });
  for (const item of page.items) {
    expect(item.id).toBe(`${item.kind}:${keys[item.kind]}`);
    expect(item).toMatchObject({ acknowledged: null, action: { isAllowed: true } });
    expect(Date.parse(item.since)).toBeLessThanOrEqual(Date.now());
  }
  const itemOf = (kind: string) => page.items.find((item: Json) => item.kind === kind);
  expect(itemOf('run_failed')).toMatchObject({
    title: 'execute-release of 2026.11',
    reason: 'The run failed: the pipeline failed',
    repositoryIdentifier: shop,
    action: { operation: 'rerunFlowRun', method: 'POST', path: `/api/flows/runs/${keys.run_failed}/rerun` },
  });
  expect(itemOf('delivery_given_up').reason).toBe('Deliveries that were given up within 7 days: 3');
  expect(itemOf('lock_overdue')).toMatchObject({
    reason: expect.stringMatching(/longer than the 30 minutes .* others wait: 1$/),
    action: { method: 'DELETE', path: `/api/environments/${environmentId}/locks/${keys.lock_overdue}` },
  });
  expect(itemOf('org_sign_in_failed').action.path).toBe('/api/auth/crm/org?username=admin%40acme.example');
  expect(itemOf('mirror_stale').action.path).toBe('/api/projects/acme%2Fshop/mirror/fetch');
  const since = page.items.map((item: Json) => item.since);
  expect(since).toEqual(since.toSorted().toReversed());
});

test('kinds, repository and pages narrow the list', async () => {
  expect(kindsOf(await list('?kinds=run_failed,mirror_stale'))).toEqual(['mirror_stale', 'run_failed']);
  const ofShop = await list('?repositoryIdentifier=acme%2Fshop');
  expect(kindsOf(ofShop)).toEqual([
    'approval_expiring',
    'lock_overdue',
    'mirror_stale',
    'run_failed',
    'schedule_refused',
  ]);
  expect((await list('?repositoryIdentifier=acme%2Fother')).items).toEqual([]);
  const all = await list();
  const pages = [await list('?limit=6'), await list('?limit=6&offset=6')];
  expect(pages.flatMap(({ items }) => items)).toEqual(all.items);
  await owner().get(400, '/api/attention?kinds=nothing');
  await owner().get(400, '/api/attention?repositoryIdentifier=acme%2Fnever');
});

test('a role is told of what it may read, a limited token of its projects, another tenant of nothing', async () => {
  const ofOwners = new Set<string>(['delivery_given_up', 'token_expiring', 'webhook_disabled']);
  const rest = ATTENTION_KINDS.filter((kind) => !ofOwners.has(kind));
  const ofMember = await list('', app.member);
  expect(kindsOf(ofMember)).toEqual(rest);
  expect(kindsOf(await list('', app.application))).toEqual(rest);
  const allowed = (page: Json, kind: string) => page.items.find((item: Json) => item.kind === kind).action.isAllowed;
  expect(allowed(ofMember, 'approval_expiring')).toBe(true);
  expect(allowed(ofMember, 'org_sign_in_failed')).toBe(false);
  const limitedTo = (name: string, project: string) =>
    owner().post(201, '/api/application-tokens', { name, projects: [project], expiresIn: 30 });
  const elsewhere = await limitedTo('elsewhere', other);
  expect((await list('', elsewhere)).items.map((item: Json) => item.repositoryIdentifier)).toEqual([]);
  const own = await limitedTo('own', shop);
  expect(kindsOf(await list('?repositoryIdentifier=acme%2Fshop', own))).toContain('run_failed');
  expect((await list('', app.stranger)).items).toEqual([]);
  await acknowledge(403, `run_failed:${keys.run_failed}`, own);
  await acknowledge(404, `run_failed:${keys.run_failed}`, app.stranger);
  await acknowledge(404, `token_expiring:${keys.token_expiring}`, app.member);
});

test('what was acknowledged is hidden for the tenant until it says something else', async () => {
  const id = `mirror_stale:${keys.mirror_stale}`;
  const seen = await acknowledge(200, id, app.member, { comment: 'the host is asked' });
  expect(seen).toMatchObject({ id, acknowledged: { by: app.member.email, comment: 'the host is asked' } });
  expect(await acknowledge(200, id)).toEqual(seen);
  const ids = async (query = '') => (await list(query)).items.map((item: Json) => item.id);
  expect(await ids()).not.toContain(id);
  const shown = (await list('?includeAcknowledged=true')).items.find((item: Json) => item.id === id);
  expect(shown.acknowledged).toEqual(seen.acknowledged);
  await app.sql(`update git_mirror set error = 'the host is away' where project_id = ?`, [projectId]);
  expect(await ids()).toContain(id);
  const [entry] = await app.sql<{ count: string }>(
    `select count(*) as count from audit_entry where action = 'attention.acknowledged' and entity_id = ?`,
    [id],
  );
  expect(Number(entry?.count)).toBe(1);

  const ofDeliveries = `delivery_given_up:${keys.delivery_given_up}`;
  await acknowledge(200, ofDeliveries);
  expect(await ids()).not.toContain(ofDeliveries);
  const given = { status: 'failed', createdAt: hoursFromNow(-1) } as const;
  await insertDeliveries(app, { id: keys.delivery_given_up as string, event: 'project.updated' }, 1, given);
  expect(await ids()).toContain(ofDeliveries);
});

test.each([
  ['mirror_stale', `update git_mirror set fetched_at = now() where error is not null`],
  ['org_sign_in_failed', `update crm_org set refused_at = now()`],
  ['limit_forecast', `update org_limit_state set limits = jsonb_set(limits, '{0,breaksSince}', '1')`],
  ['delivery_given_up', `update webhook_delivery set completed_at = now() where status = 'failed'`],
])('%s that ended and came again with the same words is listed again', async (kind, again) => {
  await acknowledge(200, `${kind}:${keys[kind]}`);
  expect((await list(`?kinds=${kind}`)).items).toEqual([]);
  await app.sql(again);
  expect(kindsOf(await list(`?kinds=${kind}`))).toEqual([kind]);
});

test('what was done is listed no longer, and cannot be acknowledged', async () => {
  const run = { repositoryIdentifier: shop, requestedBy: app.owner.email };
  const id = await insertRun(app, { ...run, ...failed });
  const ids = async () => (await list('?kinds=run_failed')).items.map((item: Json) => item.id);
  expect(await ids()).toContain(`run_failed:${id}`);
  await insertRun(app, { ...run, rerunOfId: id });
  expect(await ids()).not.toContain(`run_failed:${id}`);
  await acknowledge(404, `run_failed:${id}`);
  for (const unknown of ['run_failed:1', `nothing:${newId()}`, newId()]) await acknowledge(404, unknown);
});

test('only limits that are not ignored and run out within a day count', () => {
  const limit = { name: 'a', max: 10, used: 1, level: 'ok', forecastAt: 1_000, breaksSince: 10 } as never as Json;
  const limits = [
    limit,
    { ...limit, breaksSince: undefined },
    { ...limit, isIgnored: true },
    { ...limit, max: null },
    { ...limit, forecastAt: null },
  ];
  expect(breakingLimits(limits)).toEqual([{ name: 'a', forecastAt: 1_000, breaksSince: 10 }]);
});
