import { type TestApp, testApp } from '../../../support/app.ts';
import { idleEngine } from '../../../support/launch.ts';
import { reviewStage } from '../../../support/review.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

const POOLS = '/api/review/pools';
const NONE = { provisioning: 0, available: 0, assigned: 0, refreshing: 0, expired: 0, failed: 0 };

test('a pool is made with defaults, read, changed and deleted', async () => {
  const { repositoryIdentifier, path, pool } = await reviewStage(app);
  const made = await pool();
  expect(made).toMatchObject({
    repositoryIdentifier,
    tag: 'review',
    type: 'SCRATCH_ORG',
    minAvailable: 0,
    maxInstances: 10,
    leaseHours: 24,
    maxLeaseHours: 720,
    onRelease: 'discard',
    definition: {},
    isActive: true,
    version: 1,
    instances: NONE,
  });
  const owner = app.as(app.owner);
  await owner.post(409, POOLS, { repositoryIdentifier, tag: 'review', type: 'SANDBOX' });
  const definition = { size: 3, nested: { a: [1] } };
  await expect(owner.patch(200, path, { minAvailable: 2, definition, version: 1 })).resolves.toMatchObject({
    minAvailable: 2,
    definition,
    version: 2,
  });
  await owner.patch(409, path, { minAvailable: 3, version: 1 });
  await expect(owner.patch(200, path, { definition: { only: 1 } })).resolves.toMatchObject({ definition: { only: 1 } });
  const query = new URLSearchParams({ repositoryIdentifier, tag: 'review', isActive: 'true' });
  await expect(app.as(app.member).get(200, `${POOLS}?${query}`)).resolves.toMatchObject({
    total: 1,
    items: [{ minAvailable: 2 }],
  });
  await app.as(app.member).patch(403, path, {});
  await owner.delete(204, path);
  await owner.get(404, path);
});

test('a pool that nothing builds orgs for says so when it is made and where it is listed', async () => {
  const { repositoryIdentifier, newPool } = await reviewStage(app);
  const made = await newPool('unbuilt', { minAvailable: 2 });
  expect(made).toMatchObject({
    builder: null,
    prepareError: null,
    warnings: [{ code: 'no_builder', pointer: '#/definition', message: expect.stringContaining('COMMANDS_FILE') }],
  });
  const path = `${POOLS}/${made.id}`;
  const listed = await app
    .as(app.member)
    .get(200, `${POOLS}?${new URLSearchParams({ repositoryIdentifier, tag: 'unbuilt' })}`);
  expect(listed.items).toMatchObject([{ builder: null }]);
  const owner = app.as(app.owner);
  expect(await owner.patch(200, path, { isActive: false })).toMatchObject({ builder: null, warnings: [] });
  const definition = { pipeline: { id: 'make-orgs.yml' } };
  expect(await owner.patch(200, path, { isActive: true, definition })).toMatchObject({ builder: 'cicd', warnings: [] });
});

test.each([
  [{ minAvailable: 51 }, 'minAvailable'],
  [{ minAvailable: -1 }, 'minAvailable'],
  [{ minAvailable: 5, maxInstances: 4 }, 'minAvailable'],
  [{ maxInstances: 201 }, 'maxInstances'],
  [{ maxInstances: 0 }, 'maxInstances'],
  [{ leaseHours: 0 }, 'leaseHours'],
  [{ leaseHours: 5, maxLeaseHours: 4 }, 'leaseHours'],
  [{ maxLeaseHours: 721 }, 'maxLeaseHours'],
  [{ type: 'OTHER' }, 'type'],
  [{ onRelease: 'other' }, 'onRelease'],
  [{ definition: { pipeline: { id: 1 } } }, 'definition/pipeline/id'],
  [{ unknown: 1 }, 'unknown'],
])('a pool with %j is refused', async (body, field) => {
  const { repositoryIdentifier } = await reviewStage(app);
  const { errors } = await app
    .as(app.owner)
    .post(400, POOLS, { repositoryIdentifier, tag: 'other', type: 'SANDBOX', ...body });
  expect(errors[0].pointer).toBe(`#/body/${field}`);
});

test('builders register orgs once, and bring them up to date; no reply has the auth URL', async () => {
  const { path, pool, newPool } = await reviewStage(app, { maxInstances: 2 });
  const builder = app.as(app.application);
  const instances = `${path}/instances`;
  const cliAuthUrl = 'force://PlatformCLI::secretRefreshToken@login.example.com';
  const given = { username: 'One@Acme.example.com', cliAuthUrl, instanceUrl: 'https://one.example.com' };
  const made = await builder.post(201, instances, { ...given, state: 'provisioning', metadata: { a: 1 } });
  expect(made).toMatchObject({ state: 'provisioning', username: given.username, metadata: { a: 1 } });
  const again = await builder.post(200, instances, {
    username: 'one@acme.example.com',
    expiresAt: '2030-01-01T00:00:00Z',
  });
  expect(again).toMatchObject({
    id: made.id,
    state: 'available',
    expiresAt: '2030-01-01T00:00:00.000Z',
    metadata: { a: 1 },
    instanceUrl: given.instanceUrl,
  });
  expect(JSON.stringify([made, again])).not.toContain('secretRefreshToken');
  const [stored] = await app.sql<{ cli_auth_url: string }>('select cli_auth_url from review_instance where id = ?', [
    made.id,
  ]);
  expect(stored?.cli_auth_url).not.toContain('secretRefreshToken');
  const trail = await app.sql('select before, after from audit_entry where entity_id = ?', [made.id]);
  expect(JSON.stringify(trail)).not.toContain('secretRefreshToken');
  await builder.post(201, instances, { username: 'two@acme.example.com' });
  await expect(builder.post(409, instances, { username: 'three@acme.example.com' })).resolves.toMatchObject({
    code: 'invalid_transition',
  });
  const other = await newPool('other');
  await expect(
    builder.post(409, `${POOLS}/${other.id}/instances`, { username: 'ONE@acme.example.com' }),
  ).resolves.toMatchObject({ code: 'already_exists' });
  await expect(pool()).resolves.toMatchObject({ instances: { ...NONE, available: 2 } });
  await app.as(app.member).post(403, instances, { username: 'x' });
  await builder.post(400, instances, { username: 'x', cliAuthUrl: 'force://' });
  await builder.post(400, instances, { username: 'x', instanceUrl: 'javascript:alert(1)' });
});

test('an org moves by the table; one that has ended is registered anew', async () => {
  const { path, orgs, instances } = await reviewStage(app, { maxInstances: 1 });
  const [username] = await orgs(1);
  const [instance] = await instances();
  const builder = app.as(app.application);
  const move = (state: string, status = 200) => builder.patch(status, `${path}/instances/${instance.id}`, { state });
  await expect(move('refreshing')).resolves.toMatchObject({ state: 'refreshing' });
  await expect(move('refreshing')).resolves.toMatchObject({ state: 'refreshing' });
  await move('assigned', 400);
  await move('available');
  await expect(
    builder.patch(200, `${path}/instances/${instance.id}`, { state: 'failed', reason: 'broken' }),
  ).resolves.toMatchObject({ state: 'failed', reason: 'broken' });
  await expect(move('available', 409)).resolves.toMatchObject({ code: 'invalid_transition' });
  const anew = await builder.post(201, `${path}/instances`, { username });
  expect(anew.id).not.toBe(instance.id);
  await expect(instances('?state=failed')).resolves.toMatchObject([{ id: instance.id }]);
  await builder.delete(204, `${path}/instances/${anew.id}`);
  await builder.delete(404, `${path}/instances/${anew.id}`);
});

test('another tenant, another pool and a token of another project find nothing', async () => {
  const { path, orgs, instances, newPool } = await reviewStage(app);
  await orgs(1);
  const [instance] = await instances();
  const other = await newPool('other');
  const [own, wrongPool] = [`${path}/instances/${instance.id}`, `${POOLS}/${other.id}/instances/${instance.id}`];
  await app.as(app.application).patch(404, wrongPool, { state: 'failed' });
  await app.as(app.owner).delete(404, wrongPool);
  const stranger = app.as(app.stranger);
  for (const at of [path, `${path}/instances`]) await stranger.get(404, at);
  await stranger.patch(404, path, { minAvailable: 1 });
  await stranger.delete(404, path);
  await stranger.post(404, `${path}/instances`, { username: 'x' });
  await stranger.patch(404, own, { state: 'failed' });
  const elsewhere = await reviewStage(app);
  const limited = app.as(
    await app.as(app.owner).post(201, '/api/application-tokens', {
      name: 'limited',
      projects: [elsewhere.repositoryIdentifier],
    }),
  );
  await limited.get(404, path);
  await limited.post(404, `${path}/instances`, { username: 'x' });
  const { items } = await limited.get(200, POOLS);
  expect(items.map(({ id }: { id: string }) => id)).toEqual([elsewhere.poolId]);
});
