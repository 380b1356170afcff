import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
  await app.as(app.owner).post(201, '/api/projects', { identifier: 'acme/shop', platform: 'host-a' });
});
afterAll(() => app.close());

const environment = (name: string, more: object = {}) => ({
  repositoryIdentifier: 'acme/shop',
  name,
  category: 'release',
  ...more,
});
const create = (status: number, body: object) => app.as(app.owner).post(status, '/api/environments', body);

test('an environment is added, read, changed and removed', async () => {
  const approvalPolicy = { approvers: ['leads'], minApprovals: 2, expiresAfter: 'P3D' };
  const created = await create(
    201,
    environment('uat', { orchestrationOrder: 3, tags: ['eu'], metadata: { a: { b: 1 } }, approvalPolicy }),
  );
  expect(created).toMatchObject({
    name: 'uat',
    branch: '**',
    isActive: true,
    orgUsername: null,
    approvalPolicy,
    version: 1,
  });
  const path = `/api/environments/${created.id}`;
  await expect(app.as(app.member).get(200, path)).resolves.toEqual(created);
  const changed = await app.as(app.owner).patch(200, path, { metadata: { c: 2 }, approvalPolicy: null, version: 1 });
  expect(changed).toMatchObject({ metadata: { c: 2 }, approvalPolicy: null, tags: ['eu'], version: 2 });
  await app.as(app.owner).delete(204, path);
  await app.as(app.owner).get(404, path);
});

test('the list is in the order of travel and can be narrowed to a category', async () => {
  await create(201, environment('prod', { orchestrationOrder: 9 }));
  await create(201, environment('dev', { orchestrationOrder: 1, category: 'dev' }));
  const list = (query = '') => app.as(app.member).get(200, `/api/environments?repositoryIdentifier=acme/shop${query}`);
  expect((await list()).map(({ name }: { name: string }) => name)).toEqual(['dev', 'prod']);
  expect((await list('&category=release')).map(({ name }: { name: string }) => name)).toEqual(['prod']);
});

test('environments of all projects are one list, and can be narrowed to those that are locked', async () => {
  await app.as(app.owner).post(201, '/api/projects', { identifier: 'acme/early', platform: 'host-a' });
  const { id } = await create(201, environment('locked', { repositoryIdentifier: 'acme/early' }));
  await create(201, environment('open', { repositoryIdentifier: 'acme/early' }));
  await app.sql(
    `insert into environment_lock_ticket (id, tenant_id, project_id, environment_id, holder, holder_key, lease_minutes, state, held_at, expires_at)
     select gen_random_uuid(), tenant_id, project_id, id, '{"email": "ada@acme.example"}', 'ada', 30, 'held', now(), now() + interval '1 hour'
     from environment where id = ?`,
    [id],
  );
  const list = (query: string) => app.as(app.member).request(200, 'GET', `/api/environments?${query}`);
  const { body: all } = await list('');
  const places = all.map(({ repositoryIdentifier }: Json) => repositoryIdentifier);
  expect(places).toEqual(places.toSorted());
  expect(new Set(places)).toEqual(new Set(['acme/early', 'acme/shop']));
  expect((await list('isLocked=true')).body).toMatchObject([{ name: 'locked', lockStatus: { isLocked: true } }]);
  expect((await list('isLocked=false')).body).toHaveLength(all.length - 1);
  const page = await list('limit=1&offset=1');
  expect(page.body).toEqual([all[1]]);
  expect(page.headers.get('link')).toContain('rel="next"');
  expect((await app.as(app.stranger).get(200, '/api/environments')) as unknown).toEqual([]);
});

test('a name is taken once in a project', async () => {
  await create(201, environment('taken'));
  await create(409, environment('taken'));
  const { id } = await create(201, environment('free'));
  await app.as(app.owner).patch(409, `/api/environments/${id}`, { name: 'taken' });
  await app.as(app.owner).patch(200, `/api/environments/${id}`, { name: 'free' });
});

test('a stale version is a conflict that tells the current one', async () => {
  const { id } = await create(201, environment('versioned'));
  await app.as(app.owner).patch(200, `/api/environments/${id}`, { description: 'x' });
  await expect(app.as(app.owner).patch(409, `/api/environments/${id}`, { version: 1 })).resolves.toMatchObject({
    currentVersion: 2,
  });
});

test.each([
  [environment('x', { category: 'prod' }), '#/body/category'],
  [environment('x', { repositoryIdentifier: 'no/such' }), '#/body/repositoryIdentifier'],
  [environment('x', { approvalPolicy: { expiresAfter: 'soon' } }), '#/body/approvalPolicy/expiresAfter'],
  [environment('x', { approvalPolicy: { minApprovals: 0 } }), '#/body/approvalPolicy/minApprovals'],
  [environment(' '), '#/body/name'],
])('%j is refused', async (body, pointer) => {
  expect((await create(400, body)).errors[0].pointer).toBe(pointer);
});
