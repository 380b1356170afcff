import { eventually } from '../../../support/worker.ts';
import { type TestApp, testApp } from '../../../support/app.ts';

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
  expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.now() + 86_400_000);
  await expect(app.as({ token }).get(200, '/api/users/me')).resolves.toMatchObject({
    email: 'app:pipeline',
    role: 'application',
  });
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

const lastUse = (id: string): Promise<string | null> =>
  eventually(
    async () => {
      const list = await app.as(app.owner).get(200, '/api/application-tokens');
      return list.find((entry: { id: string }) => entry.id === id).lastUsedAt;
    },
    (lastUsedAt) => lastUsedAt !== null,
  );

test('use is noted at most once a minute', async () => {
  const { id, token } = await create(201, { name: 'busy' });
  await app.as({ token }).get(200, '/api/users/me');
  await lastUse(id);
  const useBefore = (seconds: number) =>
    app.sql(
      `update application_token set last_used_at = date_trunc('second', now()) - make_interval(secs => ?) where id = ?`,
      [seconds, id],
    );
  const noted = async () =>
    (await app.sql<{ at: string }>('select last_used_at::text as at from application_token where id = ?', [id]))[0]?.at;
  await useBefore(40);
  const recent = await noted();
  for (let use = 0; use < 5; use++) await app.as({ token }).get(200, '/api/users/me');
  await expect(noted()).resolves.toBe(recent);
  await useBefore(61);
  const old = await noted();
  await app.as({ token }).get(200, '/api/users/me');
  await expect(eventually(noted, (at) => at !== old)).resolves.not.toBe(old);
});

test('a rotated secret works beside the new one for the time of the overlap', async () => {
  const { id, token: first, name } = await create(201, { name: 'replaced', projects: ['acme/one'] });
  const rotate = (status: number, body?: object) =>
    app.as(app.owner).post(status, `/api/application-tokens/${id}/rotate`, body);
  const before = Date.now();
  const { token: second, ...shown } = await rotate(200, { expiresIn: 60 });
  expect(shown).toMatchObject({ id, name, projects: ['acme/one'] });
  expect(Date.parse(shown.expiresAt)).toBeGreaterThan(before + 59 * 86_400_000);
  for (const token of [first, second]) await app.as({ token }).get(404, '/api/projects/acme%2Ftwo');
  await app.sql(`update application_token set previous_until = now() - interval '1 second' where id = ?`, [id]);
  await app.as({ token: first }).get(401, '/api/users/me');
  const { token: third } = await rotate(200, { overlapHours: 0 });
  await app.as({ token: second }).get(401, '/api/users/me');
  await app.as({ token: third }).get(200, '/api/users/me');
  await app.as(app.owner).delete(204, `/api/application-tokens/${id}`);
  await app.as({ token: third }).get(401, '/api/users/me');
  await rotate(404);
});

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
  await expect(scoped.get(200, '/api/projects')).resolves.toMatchObject({
    total: 1,
    items: [{ identifier: 'acme/one' }],
  });
  await scoped.get(200, '/api/projects/acme%2Fone');
  await scoped.get(404, '/api/projects/acme%2Ftwo');
  await scoped.get(400, '/api/environments?repositoryIdentifier=acme/two');
});

test.each([
  [{ name: '' }, '#/body/name'],
  [{ name: 'a b' }, '#/body/name'],
  [{ name: 'a', expiresIn: 366 }, '#/body/expiresIn'],
  [{ name: 'a', expiresIn: 0.5 }, '#/body/expiresIn'],
  [{ name: 'a', projects: ['acme/one', 'no/such'] }, '#/body/projects/1'],
])('%j is refused', async (body, pointer) => {
  const problem = await create(400, body);
  expect(problem.errors[0].pointer).toBe(pointer);
});
