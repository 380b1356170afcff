import { sql } from 'kysely';
import { createReviewActivities } from '../../../../activities/review/review-assignments/review-assignments.activities.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { idleEngine } from '../../../support/launch.ts';
import { reviewStage } from '../../../support/review.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

const PATH = '/api/review/assignments';
const release = (id: string, status = 200, caller = app.owner) => app.as(caller).post(status, `${PATH}/${id}/release`);
const extend = (id: string, hours: number, status = 200, caller = app.owner): Promise<Json> =>
  app.as(caller).post(status, `${PATH}/${id}/extend`, { hours });
const read = (id: string): Promise<Json> => app.as(app.member).get(200, `${PATH}/${id}`);
const hoursOf = ({ expiresAt, assignedAt }: Json) => (Date.parse(expiresAt) - Date.parse(assignedAt)) / 3_600_000;

test('a key gets an org, keeps it, and others wait in the order of their requests', async () => {
  const { repositoryIdentifier, assign, orgs, pool } = await reviewStage(app, { onRelease: 'reuse' });
  const [username] = await orgs(1);
  const first = await assign({ assignmentId: '118', branch: 'feature/a', domains: ['sales'] });
  expect(first).toMatchObject({
    repositoryIdentifier,
    assignmentType: 'pr',
    assignmentId: '118',
    branch: 'feature/a',
    domains: ['sales'],
    poolTag: 'review',
    environmentName: null,
    ruleId: null,
    state: 'active',
    position: null,
    instance: {
      username,
      orgUrl: `http://quayside.test/api/auth/crm/frontdoor?target=${encodeURIComponent(username ?? '')}`,
    },
    requestedBy: 'app:ci',
  });
  expect(hoursOf(first)).toBe(24);
  await expect(assign({ assignmentId: '118' }, 200)).resolves.toEqual(first);
  await expect(assign({ assignmentId: '118', wait: false }, 200)).resolves.toEqual(first);
  // Another type is another key.
  const second = await assign({ assignmentId: '118', assignmentType: 'issue' }, 202);
  const third = await assign({ assignmentId: '120' }, 202);
  expect([second, third].map(({ state, position, instance }) => [state, position, instance])).toEqual([
    ['pending', 1, null],
    ['pending', 2, null],
  ]);
  await expect(assign({ assignmentId: '120' }, 202)).resolves.toEqual(third);
  await expect(assign({ assignmentId: '121', wait: false }, 409)).resolves.toMatchObject({ code: 'pool_exhausted' });
  await expect(assign({ assignmentId: '120', wait: false }, 409)).resolves.toMatchObject({ code: 'pool_exhausted' });
  await expect(release(first.id)).resolves.toMatchObject({ state: 'released', endedAt: expect.any(String) });
  const released = await read(first.id);
  await expect(release(first.id)).resolves.toEqual(released);
  await expect(read(second.id)).resolves.toMatchObject({ state: 'active', instance: { username } });
  await expect(read(third.id)).resolves.toMatchObject({ state: 'pending', position: 1 });
  await release(third.id);
  await release(second.id);
  await expect(pool()).resolves.toMatchObject({ instances: { available: 1, assigned: 0 } });
  const query = new URLSearchParams({ repositoryIdentifier, assignmentType: 'pr', state: 'released' });
  const { items, total } = await app.as(app.member).get(200, `${PATH}?${query}`);
  expect([total, items.map(({ id }: Json) => id)]).toEqual([2, [third.id, first.id]]);
  const actions = await app.sql('select action, source from audit_entry where entity_id = ? order by sequence', [
    first.id,
  ]);
  expect(actions).toEqual(
    ['assigned', 'released'].map((action) => ({ action: `review_assignment.${action}`, source: 'environment' })),
  );
});

test('rules choose the pool or the environment; without a match the request is refused', async () => {
  const { repositoryIdentifier, assign, orgs, rule, newPool } = await reviewStage(app);
  await orgs(2);
  await app.as(app.owner).post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'dedicated',
    category: 'test',
    orgUsername: 'dedicated@acme.example.com',
  });
  const toPool = await rule({ targetType: 'pool', poolTag: 'review', branchPattern: 'feature/*' });
  const toOwn = await rule({
    targetType: 'environment',
    environmentName: 'dedicated',
    branchPattern: 'feature/*',
    domainPattern: 'sales',
  });
  await expect(assign({ poolTag: undefined, branch: 'feature/a' })).resolves.toMatchObject({
    poolTag: 'review',
    ruleId: toPool.id,
  });
  const own = { poolTag: undefined, branch: 'feature/a', domains: ['web', 'sales'] };
  for (const _ of ['first', 'second'])
    await expect(assign(own)).resolves.toMatchObject({
      poolTag: null,
      environmentName: 'dedicated',
      ruleId: toOwn.id,
      state: 'active',
      instance: { username: 'dedicated@acme.example.com' },
    });
  await expect(assign({ poolTag: undefined, branch: 'main' }, 400)).resolves.toMatchObject({ code: 'invalid_request' });
  await assign({ poolTag: undefined }, 400);
  await assign({ environmentName: 'dedicated' }, 400);
  await assign({ poolTag: undefined, environmentName: 'unknown' }, 400);
  await assign({ poolTag: 'unknown' }, 400);
  const { id } = await newPool('off', { isActive: false });
  await assign({ poolTag: 'off' }, 400);
  await app.as(app.owner).delete(204, `/api/review/pools/${id}`);
});

test('leases: hours of the request, those of the pool, none, and those of the org', async () => {
  const { assign, orgs } = await reviewStage(app, { leaseHours: 5, maxLeaseHours: 10 });
  const soon = new Date(Date.now() + 2 * 3_600_000).toISOString();
  await orgs(3);
  expect(hoursOf(await assign({}))).toBe(5);
  expect(hoursOf(await assign({ expirationHours: 10 }))).toBe(10);
  for (const body of [{ expirationHours: 11 }, { expirationHours: 0 }, { expirationHours: 721 }]) {
    const { errors } = await assign(body, 400);
    expect(errors[0].pointer).toBe('#/body/expirationHours');
  }
  await assign({ isImmortal: true }, 403);
  await assign({ isImmortal: true, expirationHours: 5 }, 400, app.owner);
  const immortal = await assign({ isImmortal: true }, 201, app.owner);
  expect([immortal.expiresAt, immortal.isImmortal]).toEqual([null, true]);
  await extend(immortal.id, 5, 409);
  await orgs(1, { expiresAt: soon });
  const brief = await assign({});
  expect(brief.expiresAt).toBe(soon);
  await expect(extend(brief.id, 8)).resolves.toMatchObject({
    expiresAt: soon,
    warnings: [expect.stringContaining('not for 8 hours')],
  });
  // When several orgs are free, the one that lives long enough and ends first is assigned.
  const late = new Date(Date.now() + 8 * 3_600_000).toISOString();
  await orgs(1, { expiresAt: soon });
  const [fitting] = await orgs(1, { expiresAt: late });
  await orgs(1);
  await expect(assign({})).resolves.toMatchObject({ instance: { username: fitting } });
});

test('a lease follows its org whose end builders change', async () => {
  const { assign, orgs, path } = await reviewStage(app, { leaseHours: 24 });
  const [username] = await orgs(1);
  const { id, expiresAt } = await assign({});
  const soon = new Date(Date.now() + 3 * 3_600_000).toISOString();
  const ends = (end: string | null) =>
    app.as(app.application).post(200, `${path}/instances`, { username, expiresAt: end });
  await ends(soon);
  await expect(read(id)).resolves.toMatchObject({ expiresAt: soon });
  await ends(new Date(Date.now() + 100 * 3_600_000).toISOString());
  await expect(read(id)).resolves.toMatchObject({ expiresAt });
  const extended = await extend(id, 48);
  expect(hoursOf(extended)).toBeGreaterThan(47);
  await app.as(app.application).post(200, `${path}/instances`, { username });
  const { warnings, ...lease } = extended;
  expect(warnings).toEqual([]);
  await expect(read(id)).resolves.toEqual(lease);
  const changes = await app.sql(
    `select action from audit_entry where entity_id = ? and action = 'review_assignment.adjusted'`,
    [id],
  );
  expect(changes).toHaveLength(2);
});

test('an environment replaced five times at once: each assignment ends once, and every caller gets their own', async () => {
  const { repositoryIdentifier, assign } = await reviewStage(app);
  await app.as(app.owner).post(201, '/api/environments', { repositoryIdentifier, name: 'own', category: 'test' });
  const wanted = { assignmentId: 'same', poolTag: undefined, environmentName: 'own', override: true };
  const made = [await assign(wanted)];
  made.push(...(await Promise.all(Array.from({ length: 5 }, () => assign(wanted)))));
  expect(new Set(made.map(({ id }) => id)).size).toBe(6);
  const ends = await app.sql(
    `select entity_id, count(*)::int as count from audit_entry
     where action = 'review_assignment.released' and repository_identifier = ? group by 1`,
    [repositoryIdentifier],
  );
  expect(ends.map(({ count }) => count)).toEqual([1, 1, 1, 1, 1]);
});

test('an extension counts from now, up to the most of the pool', async () => {
  const { assign, orgs } = await reviewStage(app, { leaseHours: 2, maxLeaseHours: 6 });
  await orgs(2);
  const made = await assign({});
  const before = Date.now();
  const extended = await extend(made.id, 4);
  expect(Date.parse(extended.expiresAt)).toBeGreaterThan(before + 3.9 * 3_600_000);
  await expect(extend(made.id, 1)).resolves.toMatchObject({ expiresAt: extended.expiresAt });
  await expect(extend(made.id, 7, 409)).resolves.toMatchObject({ code: 'invalid_transition' });
  for (const hours of [0, 721, 1.5]) await extend(made.id, hours, 400);
  await app.sql(`update review_assignment set expires_at = now() - interval '1 second' where id = ?`, [made.id]);
  await expect(extend(made.id, 1, 409)).resolves.toMatchObject({ code: 'invalid_transition' });
  // The lease is over: the same key gets another org.
  const again = await assign({ assignmentId: made.assignmentId });
  expect(again.id).not.toBe(made.id);
  await expect(read(made.id)).resolves.toMatchObject({ state: 'expired' });
  await release(again.id);
  await extend(again.id, 1, 409);
});

test('a replacement takes another org, and only who may change the old one may replace it', async () => {
  const { assign, orgs } = await reviewStage(app);
  const [first, second] = await orgs(2);
  const made = await assign({ assignmentId: '7' }, 201, app.owner);
  expect(made.instance.username).toBe(first);
  await assign({ assignmentId: '7', override: true }, 403, app.member);
  const anew = await assign({ assignmentId: '7', override: true });
  expect(anew).toMatchObject({ state: 'active', instance: { username: second } });
  await expect(read(made.id)).resolves.toMatchObject({ state: 'released', reason: 'replaced by another assignment' });
  // Nothing is free: the old one stays.
  await assign({ assignmentId: '7', override: true, wait: false }, 409);
  await expect(read(anew.id)).resolves.toMatchObject({ state: 'active' });
});

test('persons are known by their e-mail; members have what is theirs, and change no other', async () => {
  const { assign, orgs } = await reviewStage(app);
  await orgs(3);
  const email = app.member.email.toUpperCase();
  await assign({ assignmentType: 'user', assignmentId: 'other@acme.example' }, 403, app.member);
  const own = await assign({ assignmentType: 'user', assignmentId: email }, 201, app.owner);
  expect(own.assignmentId).toBe(app.member.email);
  for (const type of ['&assignmentType=user', '']) {
    const query = `?assignmentId=${encodeURIComponent(email)}${type}`;
    await expect(app.as(app.owner).get(200, `${PATH}${query}`)).resolves.toMatchObject({ items: [{ id: own.id }] });
  }
  await expect(
    assign({ assignmentType: 'user', assignmentId: app.member.email }, 200, app.member),
  ).resolves.toMatchObject({ id: own.id });
  await extend(own.id, 30, 200, app.member);
  const foreign = await assign({}, 201, app.owner);
  await extend(foreign.id, 30, 403, app.member);
  await release(foreign.id, 403, app.member);
  const requested = await assign({ assignmentType: 'custom', assignmentId: 'load test' }, 201, app.member);
  await release(requested.id, 200, app.member);
  await app.as(app.application).post(200, `${PATH}/${foreign.id}/release`);
});

test.each([
  ['discard', 'expired'],
  ['reuse', 'available'],
  ['refresh', 'refreshing'],
])('after a release of a pool that does %s the org is %s', async (onRelease, state) => {
  const { assign, orgs, instances } = await reviewStage(app, { onRelease });
  await orgs(1);
  const { id } = await assign({});
  await release(id);
  await expect(instances()).resolves.toMatchObject([{ state }]);
});

test('an org that fails while it is assigned ends the assignment; one that is assigned stays in its pool', async () => {
  const { assign, orgs, instances, path } = await reviewStage(app);
  await orgs(1);
  const made = await assign({});
  const waiting = await assign({}, 202);
  const [instance] = await instances();
  const at = `${path}/instances/${instance.id}`;
  const builder = app.as(app.application);
  await builder.delete(409, at);
  await builder.patch(409, at, { state: 'available' });
  await app.as(app.owner).delete(409, path);
  // Its registration is repeated: it stays assigned.
  await expect(builder.post(200, `${path}/instances`, { username: instance.username })).resolves.toMatchObject({
    state: 'assigned',
  });
  await builder.patch(200, at, { state: 'failed', reason: 'broken' });
  await expect(read(made.id)).resolves.toMatchObject({ state: 'failed', reason: 'broken' });
  // Who waits gets the next org at once.
  const [username] = await orgs(1);
  await expect(read(waiting.id)).resolves.toMatchObject({ state: 'active', instance: { username } });
});

test('an org that has ended or failed leaves no credential behind', async () => {
  const { assign, orgs, instances, path } = await reviewStage(app, { onRelease: 'discard' });
  const cliAuthUrl = 'force://PlatformCLI::5Aep861secret@acme.my.salesforce.com';
  await orgs(2, { cliAuthUrl });
  const kept = async () => {
    const rows = await app.sql<{ state: string; isKept: boolean }>(
      `select state, cli_auth_url is not null as "isKept" from review_instance where pool_id = ? order by state`,
      [path.split('/').at(-1)],
    );
    return rows.map(({ state, isKept }) => `${state} ${isKept}`);
  };
  const { id } = await assign({});
  await expect(kept()).resolves.toEqual(['assigned true', 'available true']);
  await release(id);
  const free = (await instances('?state=available'))[0];
  await app.as(app.application).patch(200, `${path}/instances/${free?.id}`, { state: 'failed' });
  await expect(kept()).resolves.toEqual(['expired false', 'failed false']);
});

test('two for the last org: one gets it, the other waits', async () => {
  const { repositoryIdentifier, orgs } = await reviewStage(app);
  for (let round = 0; round < 5; round++) {
    await orgs(1);
    const answers = await Promise.all(
      ['a', 'b'].map((name) =>
        app.as(app.application).send('POST', PATH, {
          body: { repositoryIdentifier, assignmentType: 'pr', assignmentId: `${round}-${name}`, poolTag: 'review' },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 202]);
    for (const { body, status } of answers) if (status === 202) await release(body.id);
  }
});

test('100 at once for 10 orgs: 10 have one each, 90 wait in line', async () => {
  const { repositoryIdentifier, orgs } = await reviewStage(app, { maxInstances: 10 });
  await orgs(10);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      app.as(app.application).send('POST', PATH, {
        body: { repositoryIdentifier, assignmentType: 'pr', assignmentId: `${n}`, poolTag: 'review' },
      }),
    ),
  );
  const withStatus = (wanted: number) =>
    answers.filter(({ status }) => status === wanted).map(({ body }): Json => body);
  expect([withStatus(201).length, withStatus(202).length]).toEqual([10, 90]);
  expect(new Set(withStatus(201).map(({ instance }) => instance.username)).size).toBe(10);
  expect(
    withStatus(202)
      .map(({ position }) => position)
      .toSorted((a, b) => a - b),
  ).toEqual(Array.from({ length: 90 }, (_, n) => n + 1));
});

test('one key ten times at once has one org', async () => {
  const { repositoryIdentifier, orgs } = await reviewStage(app);
  await orgs(5);
  const body = { repositoryIdentifier, assignmentType: 'pr', assignmentId: 'same', poolTag: 'review' };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => app.as(app.application).send('POST', PATH, { body })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array.from({ length: 9 }, () => 200), 201]);
  expect(new Set(answers.map(({ body: { id } }) => id)).size).toBe(1);
});

test('another tenant and a token of another project find nothing', async () => {
  const { repositoryIdentifier, assign, orgs } = await reviewStage(app);
  await orgs(1);
  const { id } = await assign({});
  const elsewhere = await reviewStage(app);
  const limited = await app.as(app.owner).post(201, '/api/application-tokens', {
    name: 'limited-assignments',
    projects: [elsewhere.repositoryIdentifier],
  });
  for (const caller of [app.stranger, limited]) {
    await app.as(caller).get(404, `${PATH}/${id}`);
    await app.as(caller).post(404, `${PATH}/${id}/extend`, { hours: 1 });
    await app.as(caller).post(404, `${PATH}/${id}/release`);
    await app.as(caller).post(400, PATH, { repositoryIdentifier, assignmentType: 'pr', assignmentId: '1' });
    await expect(app.as(caller).get(200, PATH)).resolves.toMatchObject({ total: 0 });
  }
});

test('links to an org lead to its active assignment', async () => {
  const { repositoryIdentifier, assign, orgs } = await reviewStage(app, { onRelease: 'reuse' });
  const [username] = await orgs(1);
  const link = (target = username) =>
    `/api/auth/continue?${new URLSearchParams({ action: 'frontDoorUrl', params: `targetOrg:${target},repository:${repositoryIdentifier}` })}`;
  const leads = async (caller = app.member) =>
    (await app.as(caller).request(302, 'GET', link())).headers.get('location');
  await expect(leads()).resolves.toMatch(/^\/api\/auth\/crm\/frontdoor\?/);
  const { id } = await assign({});
  await expect(leads()).resolves.toBe(`/review-env/${id}`);
  await expect(leads(app.stranger)).resolves.toMatch(/^\/api\/auth\/crm\/frontdoor\?/);
  await release(id);
  await expect(leads()).resolves.toMatch(/^\/api\/auth\/crm\/frontdoor\?/);
});

test('replacements between two pools, crosswise and at once, wait for nobody who waits for them', async () => {
  const { assign, orgs, path, newPool } = await reviewStage(app, { onRelease: 'reuse' });
  await orgs(6);
  const other = await newPool('other', { onRelease: 'reuse' });
  for (const n of [1, 2, 3, 4, 5, 6])
    await app.as(app.application).post(201, `${path.replace(/[^/]+$/, other.id)}/instances`, {
      username: `cross-${n}-${other.id}@acme.example.com`,
    });
  const tags = ['review', 'other'];
  for (let round = 0; round < 6; round++) {
    const made = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((assignmentId, key) =>
        assign({ assignmentId, poolTag: tags[(round + key) % 2], override: true }, 201),
      ),
    );
    expect(made.map(({ state, poolTag }) => `${state} ${poolTag}`)).toEqual(
      made.map((_, key) => `active ${tags[(round + key) % 2]}`),
    );
  }
});

test('U+0000 and halves of surrogate pairs are refused, or stored as what they are', async () => {
  const { repositoryIdentifier, assign } = await reviewStage(app);
  for (const field of ['assignmentId', 'branch'])
    expect((await assign({ [field]: 'a\u0000b' }, 400)).errors[0].pointer).toBe(`#/body/${field}`);
  await assign({ domains: ['a\u0000'] }, 400);
  const raw = (text: string) =>
    app.as(app.application).send('POST', PATH, {
      headers: { 'content-type': 'application/json' },
      rawBody: `{"repositoryIdentifier": "${repositoryIdentifier}", "assignmentType": "custom", "poolTag": "review", ${text}}`,
    });
  for (const text of [
    '"assignmentId": "a\\ud800"',
    '"assignmentId": "b", "branch": "\\udc00x"',
    '"assignmentId": "c", "domains": ["\\ud800"]',
  ])
    expect([400, 202]).toContain((await raw(text)).status);
  await app.as(app.member).get(200, `${PATH}?${new URLSearchParams({ assignmentId: 'a\ufffd' })}`);
  await app.as(app.member).get(400, `${PATH}?assignmentId=a%00`);
});

test('a project or pool that is removed takes its assignments along, and their workflows find nothing', async () => {
  const { repositoryIdentifier, assign, poolId } = await reviewStage(app);
  const { id: assignmentId } = await assign({}, 202);
  const empty = await reviewStage(app);
  await app.as(app.owner).delete(409, `/api/review/pools/${poolId}`);
  await app.as(app.owner).delete(204, empty.path);
  await app.as(app.owner).delete(204, `/api/projects/${encodeURIComponent(repositoryIdentifier)}`);
  const activities = activityDeps(app);
  try {
    const { reevaluatePool, reevaluateAssignment, extendAssignment } = createReviewActivities(activities.deps);
    for (const id of [poolId, empty.poolId])
      await expect(reevaluatePool({ ...app.tenantKey, poolId: id })).resolves.toBeNull();
    await expect(reevaluateAssignment({ ...app.tenantKey, assignmentId })).resolves.toBeNull();
    const by = { type: 'system', id: 'test', role: 'owner', email: 'system:test', ...app.tenantKey } as const;
    const change = { ...app.tenantKey, assignmentId, hours: 1, by, requestId: 'r', traceparent: undefined };
    await expect(extendAssignment(change)).resolves.toMatchObject({ code: 'not_found' });
  } finally {
    await activities.close();
  }
  await app.as(app.member).get(404, `${PATH}/${assignmentId}`);
});

test('thirty requests that wait for one pool are all answered, and keep nobody else from the database', async () => {
  const { assign, poolId } = await reviewStage(app);
  const waiting = await app.db.transaction().execute(async (tx) => {
    await sql`select from review_pool where id = ${poolId} for update`.execute(tx);
    const requests = Array.from({ length: 30 }, (_, index) => assign({ assignmentId: `${index + 1}` }, 202));
    // They have all been sent when one that was sent after them is answered.
    await app.as(app.owner).get(200, '/api/users/me');
    for (const identifier of ['their/first', 'their/second'])
      await app.as(app.stranger).post(201, '/api/projects', { identifier, platform: 'host-a' });
    return requests;
  });
  const positions = (await Promise.all(waiting)).map(({ position }) => position);
  expect(positions.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
});
