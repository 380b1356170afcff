import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const project = (identifier: string, more: object = {}) => ({ identifier, platform: 'host-a', ...more });

test('a project is registered, read, changed by merging, and removed', async () => {
  const owner = app.as(app.owner);
  const configuration = {
    domains: ['core', { name: 'ui', packages: ['a'] }],
    workItems: { provider: 'host-a', boards: ['b'] },
  };
  const created = await owner.post(201, '/api/projects', project('acme/shop', { configuration }));
  expect(created).toMatchObject({ identifier: 'acme/shop', defaultBranch: 'main', version: 1, configuration });
  await expect(app.as(app.member).get(200, '/api/projects/acme%2Fshop')).resolves.toEqual(created);

  const changed = await owner.patch(200, '/api/projects/acme%2Fshop', {
    configuration: { displayName: 'Shop', domains: null, workItems: { boards: ['c'] } },
    version: 1,
  });
  expect(changed).toMatchObject({
    version: 2,
    configuration: { displayName: 'Shop', workItems: { provider: 'host-a', boards: ['c'] } },
  });
  expect(changed.configuration).not.toHaveProperty('domains');

  await owner.delete(204, '/api/projects/acme%2Fshop');
  await owner.get(404, '/api/projects/acme%2Fshop');
});

test('a stale version is a conflict that tells the current one', async () => {
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', project('acme/stale'));
  await owner.patch(200, '/api/projects/acme%2Fstale', { defaultBranch: 'trunk' });
  const problem = await owner.patch(409, '/api/projects/acme%2Fstale', { defaultBranch: 'other', version: 1 });
  expect(problem).toMatchObject({ code: 'version_conflict', currentVersion: 2 });
});

test('of ten that register the same repository at once, one does', async () => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => app.as(app.owner).send('POST', '/api/projects', { body: project('acme/race') })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(409)]);
});

test('the list has pages with links', async () => {
  for (const name of ['c', 'a', 'b']) await app.as(app.stranger).post(201, '/api/projects', project(`other/${name}`));
  const first = await app.as(app.stranger).request(200, 'GET', '/api/projects?limit=2');
  expect(first.body).toMatchObject({ total: 3, items: [{ identifier: 'other/a' }, { identifier: 'other/b' }] });
  expect(first.headers.get('link')).toBe('</api/projects?limit=2&offset=2>; rel="next"');
  const last = await app.as(app.stranger).request(200, 'GET', '/api/projects?limit=2&offset=2');
  expect(last.body.items).toHaveLength(1);
  expect(last.headers.get('link')).toBe('</api/projects?limit=2&offset=0>; rel="prev"');
});

test('two tenants may register the same repository', async () => {
  await app.as(app.owner).post(201, '/api/projects', project('same/name'));
  await app.as(app.stranger).post(201, '/api/projects', project('same/name'));
});

test('each change stands in the audit trail with what was before and after', async () => {
  await app.as(app.owner).post(201, '/api/projects', project('acme/audited'));
  await app.as(app.owner).patch(200, '/api/projects/acme%2Faudited', { defaultBranch: 'trunk' });
  const rows = await app.sql<{ action: string; before: unknown; after: unknown }>(
    `select action, before, after from audit_entry where repository_identifier = 'acme/audited' order by sequence`,
  );
  expect(rows).toMatchObject([
    { action: 'project.created', before: null, after: { defaultBranch: 'main' } },
    { action: 'project.updated', before: { defaultBranch: 'main' }, after: { defaultBranch: 'trunk' } },
  ]);
});
