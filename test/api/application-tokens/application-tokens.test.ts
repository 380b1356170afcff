import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
  for (const identifier of ['acme/one', 'acme/two']) {
    await app.as(app.owner).post(201, '/api/projects', { identifier, platform: 'host-a' });
  }
});
afterAll(() => app.close());

const create = (status: number, body: object) => app.as(app.owner).post(status, '/api/application-tokens', body);

test('a token acts as its application until it is revoked', async () => {
  const { id, token, expiresAt } = await create(201, { name: 'pipeline', expiresIn: 1 });
  expect(token).toMatch(/^qs_app_[0-9A-Za-z]{43}$/);
  expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(86_400_000);
  await expect(app.as({ token }).get(200, '/api/users/me')).resolves.toMatchObject({ email: 'app:pipeline', role: 'application' });
  await app.as(app.owner).delete(204, `/api/application-tokens/${id}`);
  await app.as({ token }).get(401, '/api/users/me');
  await app.as(app.owner).delete(404, `/api/application-tokens/${id}`);
});

test('the text of a token is in no list and not in the database', async () => {
  const { token } = await create(201, { name: 'hidden' });
  const list = await app.as(app.owner).get(200, '/api/application-tokens');
  expect(JSON.stringify(list)).not.toContain(token);
  const rows = await app.sql('select * from application_token');
  expect(JSON.stringify(rows)).not.toContain(token);
  const trail = await app.sql('select * from audit_entry');
  expect(JSON.stringify(trail)).not.toContain(token);
});

test('use is noted', async () => {
  const { id, token } = await create(201, { name: 'used' });
  await app.as({ token }).get(200, '/api/users/me');
  await expect(lastUse(id)).resolves.not.toBeNull();
});

async function lastUse(id: string): Promise<string | null> {
  for (let look = 0; look < 50; look++) {
    const list = await app.as(app.owner).get(200, '/api/application-tokens');
    const { lastUsedAt } = list.find((entry: { id: string }) => entry.id === id);
    if (lastUsedAt !== null) return lastUsedAt;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return null;
}

test('an expired token is refused and gives up its name', async () => {
  const { id, token } = await create(201, { name: 'old' });
  await create(409, { name: 'old' });
  await app.sql(`update application_token set expires_at = now() - interval '1 second' where id = ?`, [id]);
  await app.as({ token }).get(401, '/api/users/me');
  await create(201, { name: 'old' });
});

test('a scoped token sees its project and nothing of the others', async () => {
  const { token, projects } = await create(201, { name: 'scoped', projects: ['acme/one'] });
  expect(projects).toEqual(['acme/one']);
  const scoped = app.as({ token });
  await expect(scoped.get(200, '/api/projects')).resolves.toMatchObject({ total: 1, items: [{ identifier: 'acme/one' }] });
  await scoped.get(200, '/api/projects/acme%2Fone');
  await scoped.get(404, '/api/projects/acme%2Ftwo');
  await scoped.get(400, '/api/environments?repositoryIdentifier=acme/two');
});

test.each([
  [{ name: '' }, '#/body/name'],
  [{ name: 'a b' }, '#/body/name'],
  [{ name: 'a', expiresIn: 366 }, '#/body/expiresIn'],
  [{ name: 'a', expiresIn: 0.5 }, '#/body/expiresIn'],
  [{ name: 'a', projects: ['no/such'] }, '#/body/repositoryIdentifier'],
])('%j is refused', async (body, pointer) => {
  const problem = await create(400, body);
  expect(problem.errors[0].pointer).toBe(pointer);
});
