import { type TestApp, testApp } from '../../../support/app.ts';

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

test.each([
  ['https://ghp_token@github.com/acme/shop.git', /token/],
  ['https://dana:secret@git.example.com/shop.git', /password/],
  ['https://good.example\\@evil.example/shop.git', /backslash/],
  ['https://good.example/shop.git?token=x', /query/],
  ['https://good.example/shop.git#x', /fragment/],
  ['https://a@b@good.example/shop.git', /more than one @/],
  ['https://2130706433/shop.git', /several ways/],
  ['https://10.0.0.1/shop.git', /10\.0\.0\.1 is not at a public address/],
  ['ssh://git@169.254.169.254/shop.git', /not at a public address/],
  ['git@10.0.0.1:shop.git', /not at a public address/],
  ['ssh://-oProxyCommand=x/shop.git', /not a name/],
  ['http://git.example.com/shop.git', /neither https nor ssh/],
  ['ext::git-upload-pack@x', /ssh/],
  ['/srv/git/shop.git', /not allowed/],
  ['file:///srv/git/shop.git', /not allowed/],
])('the remote %j is refused with the reason', async (remoteUrl, reason) => {
  const owner = app.as(app.owner);
  const identifier = 'acme/with-remote';
  const expected = [{ pointer: '#/body/remoteUrl', detail: expect.stringMatching(reason) }];
  expect((await owner.post(400, '/api/projects', project(identifier, { remoteUrl }))).errors).toEqual(expected);
  await owner.get(404, `/api/projects/${encodeURIComponent(identifier)}`);
  await owner.send('POST', '/api/projects', { body: project('acme/kept', { remoteUrl: 'git@git.example.com:a' }) });
  expect((await owner.patch(400, '/api/projects/acme%2Fkept', { remoteUrl })).errors).toEqual(expected);
  expect(await owner.get(200, '/api/projects/acme%2Fkept')).toMatchObject({ remoteUrl: 'git@git.example.com:a' });
});

test('a remote of an earlier version in a form that is refused now is never shown, and can be replaced', async () => {
  const owner = app.as(app.owner);
  const { id } = await owner.post(201, '/api/projects', project('acme/earlier'));
  await app.sql('update project set remote_url = ? where id = ?', ['https://git.example.com/a?private_token=hush', id]);
  const at = '/api/projects/acme%2Fearlier';
  const shown = [
    await owner.get(200, at),
    await owner.get(200, '/api/projects?limit=200'),
    await owner.patch(200, at, { defaultBranch: 'trunk' }),
    await owner.patch(200, at, { remoteUrl: 'https://git.example.com/a' }),
    await app.sql('select before, after from audit_entry where entity_id = ?', [id]),
  ];
  expect(shown[0]).toMatchObject({ remoteUrl: null });
  expect(shown[3]).toMatchObject({ remoteUrl: 'https://git.example.com/a' });
  expect(JSON.stringify(shown)).not.toContain('hush');
});
