import { activityDeps } from '../../../support/activities.ts';
import { runSweep } from '../../../../activities/kernel/system/run-sweep.ts';
import { SWEEPS } from '../../../../activities/sweeps.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Bearer } from '../../../support/client.ts';
import { idleEngine } from '../../../support/launch.ts';
import { reviewStage } from '../../../support/review.ts';

let crm: CrmSimulator;
let app: TestApp;
beforeAll(async () => {
  crm = await crmSimulator();
  app = await testApp({ launch: idleEngine });
});
afterAll(async () => {
  await app.close();
  await crm.close();
});

const door = (status: number, target: string, caller: Bearer = app.member) =>
  app
    .as(caller)
    .request(status, 'GET', `/api/auth/crm/frontdoor?${new URLSearchParams({ target, redirect: 'false' })}`);

/** A scratch org of a pool that no dev hub is registered for. */
async function pooledOrg(name: string, kind: 'scratch' | 'production' = 'scratch') {
  const org = await crm.addOrg({ name, kind, ...(kind === 'scratch' && { parent: 'acme' }) });
  const stage = await reviewStage(app, { onRelease: 'reuse' });
  const register = (more: object = {}, status = 201) =>
    app.as(app.application).post(status, `${stage.path}/instances`, { username: org.username, ...more });
  return { ...stage, org, register };
}
const doorsOf = (org: SimulatedOrg) => crm.requests.filter((r) => r.org === org.name && /singleaccess/.test(r.path));

test('an org of a pool that is not registered is opened with the auth URL of its builder, while it is assigned', async () => {
  const { org, register, assign } = await pooledOrg('pooled');
  org.rotatesTokens = true;
  await register({ cliAuthUrl: org.authUrl });
  await door(404, org.username);
  const { id } = await assign({});
  for (const username of [org.username, org.username.toUpperCase(), org.username]) {
    const { body, headers } = await door(200, username);
    expect(body.url).toContain(org.url);
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  }
  expect(doorsOf(org)).toHaveLength(3);
  await door(404, org.username, app.stranger);
  const trail = await app.sql<{ text: string }>(
    `select row_to_json(e)::text as text from audit_entry e where action = 'org.front_door_opened'`,
  );
  expect(trail).toHaveLength(3);
  for (const secret of crm.secrets) expect(JSON.stringify(trail)).not.toContain(secret);
  await app.as(app.owner).post(200, `/api/review/assignments/${id}/release`);
  await door(404, org.username);
});

test('a credential that is refused, or is that of another org, opens nothing and says so', async () => {
  const { org, register, assign } = await pooledOrg('broken');
  await register({ cliAuthUrl: org.authUrl });
  await assign({});
  org.refresh();
  expect((await door(502, org.username)).body.detail).toContain(org.username);
  await register({ cliAuthUrl: crm.org('globex').authUrl }, 200);
  expect((await door(502, org.username)).body.detail).toMatch(/auth URL is that of/);
  await register({ cliAuthUrl: null }, 200);
  await door(404, org.username);
});

test('a production org in a pool is not for members', async () => {
  const { org, register, assign } = await pooledOrg('pooled-prod', 'production');
  await register({ cliAuthUrl: org.authUrl });
  await assign({});
  await door(403, org.username);
  await door(200, org.username, app.owner);
});

test('assignments, orgs and pull requests that ended long ago are removed, and nothing else is', async () => {
  const { org, register, assign, poolId, projectId, instances } = await pooledOrg('old');
  await register();
  const { id } = await assign({});
  await app.as(app.owner).post(200, `/api/review/assignments/${id}/release`);
  const open = await assign({});
  await register({}, 200);
  await app.as(app.application).post(201, `/api/review/pools/${poolId}/instances`, { username: `x-${org.username}` });
  const ended = (await instances('?state=available'))[0];
  await app.as(app.owner).patch(200, `/api/review/pools/${poolId}/instances/${ended.id}`, { state: 'failed' });
  await app.sql(
    `insert into pull_request (tenant_id, project_id, number, title, state, is_draft, branch, base_branch, labels, requested,
       reviews, is_in_review, awaited, opened_at, ended_at, host_time, is_from_list, changed_at)
     select ?, ?, n, 'x', s, false, 'a', 'b', '[]', '{"users": [], "teams": []}', '{}', false, '{}', t, e, t, true, t
     from (values (1, 'open', now() - interval '91 days', null), (2, 'merged', now() - interval '91 days', null),
       (3, 'closed', now() - interval '99 days', now() - interval '89 days'),
       (4, 'closed', now() - interval '99 days', now() - interval '91 days')) v (n, s, t, e)`,
    [app.tenantKey.tenantId, projectId],
  );
  const kept = async () => ({
    assignments: (await app.sql<{ id: string }>('select id from review_assignment where pool_id = ?', [poolId])).length,
    orgs: (await instances()).length,
    pullRequests: (
      await app.sql<{ number: number }>('select number from pull_request where project_id = ? order by 1', [projectId])
    ).map(({ number }) => number),
  });
  const activities = activityDeps(app);
  const purge = async () => {
    for (const name of ['ended-reviews', 'ended-pull-requests']) {
      const chore = SWEEPS.find((sweep) => sweep.name === name);
      if (chore) await runSweep(activities.deps, chore);
    }
    return kept();
  };
  try {
    expect(await purge()).toEqual({ assignments: 2, orgs: 2, pullRequests: [1, 3] });
    await app.sql(
      `update review_assignment set ended_at = now() - interval '91 days' where ended_at is not null and pool_id = ?`,
      [poolId],
    );
    await app.sql(`update review_instance set state_changed_at = now() - interval '91 days' where pool_id = ?`, [
      poolId,
    ]);
    expect(await purge()).toEqual({ assignments: 1, orgs: 1, pullRequests: [1, 3] });
    await app.as(app.owner).get(200, `/api/review/assignments/${open.id}`);
  } finally {
    await activities.close();
  }
});
