import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';

const repositoryIdentifier = 'acme/shop';
let app: TestApp;
beforeAll(async () => {
  app = await testApp();
  await app.as(app.owner).post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: {
      domains: ['core', 'ui', 'list', 'own', 'alike'],
      branches: ['release/*'],
      cascade: [{ from: 'develop', to: 'main' }],
      customReleaseStatuses: ['on_hold'],
    },
  });
});
afterAll(() => app.close());

let made = 0;
const body = (more: object = {}) => ({
  repositoryIdentifier,
  domain: 'core',
  releaseName: `r${++made}`,
  commitSha: 'ABCDEF1234567',
  value: { artifacts: { app: '1.0.0', lib: '2.0.0' }, notes: ['kept'] },
  ...more,
});
const create = (status: number, more: object = {}) =>
  app.as(app.member).post(status, '/api/release-candidates', body(more));
const list = (query: string) =>
  app.as(app.member).get(200, `/api/release-candidates?repositoryIdentifier=${repositoryIdentifier}&${query}`);
const move = (status: number, id: string, to: string) =>
  app.as(app.member).patch(status, `/api/release-candidates/${id}/status`, { status: to });

test('a candidate is created, and updated by the same call', async () => {
  const first = await create(201, { releaseName: 'same', branch: 'feature/x', tag: 'v1' });
  expect(first).toMatchObject({
    status: 'pending',
    version: 1,
    commitSha: 'abcdef1234567',
    createdBy: app.member.email,
    repositoryIdentifier,
    value: { notes: ['kept'] },
  });
  const second = await create(201, { releaseName: 'same', commitSha: '1111111', version: 1, value: { artifacts: {} } });
  expect(second).toMatchObject({
    id: first.id,
    version: 2,
    commitSha: '1111111',
    branch: 'feature/x',
    tag: 'v1',
    value: { artifacts: {} },
  });
  const problem = await create(409, { releaseName: 'same', version: 1 });
  expect(problem).toMatchObject({ code: 'version_conflict', currentVersion: 2 });
  await create(409, { version: 1 });
});

test('the same content again is no change', async () => {
  const candidate = body();
  const first = await app.as(app.member).post(201, '/api/release-candidates', candidate);
  const entries = async () => (await app.sql<{ n: string }>('select count(*) as n from audit_entry'))[0]?.n;
  const before = await entries();
  await expect(app.as(app.member).post(201, '/api/release-candidates', candidate)).resolves.toMatchObject({
    version: first.version,
  });
  await expect(entries()).resolves.toBe(before);
});

test('of twenty that create one name at once, all get the same candidate', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => create(201, { releaseName: 'race' })));
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
});

test('statuses move as the table says', async () => {
  const { id } = await create(201);
  await expect(move(200, id, 'on_hold')).resolves.toMatchObject({
    status: 'on_hold',
    statusChangedBy: app.member.email,
  });
  const moved = await move(200, id, 'in_progress');
  await expect(move(200, id, 'in_progress')).resolves.toEqual(moved);
  await move(400, id, 'unheard_of');
  await move(200, id, 'finalized');
  const problem = await move(409, id, 'pending');
  expect(problem).toMatchObject({
    code: 'invalid_transition',
    detail: expect.stringContaining('finalized to pending'),
  });
});

test('by name a candidate is found, moved and aborted; what is aborted stays so', async () => {
  const { id, releaseName } = await create(201);
  const name = { repositoryIdentifier, domain: 'core', releaseName };
  const member = app.as(app.member);
  await expect(member.post(200, '/api/release-candidates/find', name)).resolves.toMatchObject({ id });
  await expect(
    member.patch(200, '/api/release-candidates/status-by-name', { ...name, status: 'in_progress' }),
  ).resolves.toMatchObject({ status: 'in_progress' });
  const aborted = await member.post(200, '/api/release-candidates/abort', { ...name, reason: 'broken' });
  await expect(member.post(200, '/api/release-candidates/abort', name)).resolves.toEqual(aborted);
  await expect(member.post(409, '/api/release-candidates', body({ releaseName }))).resolves.toMatchObject({
    code: 'locked',
  });
  await member.post(404, '/api/release-candidates/find', { ...name, releaseName: 'none' });
  await member.post(400, '/api/release-candidates/find', { ...name, repositoryIdentifier: 'no/such' });
});

test('a finalized candidate cannot be aborted', async () => {
  const { releaseName } = await create(201, { status: 'finalized' });
  const problem = await app
    .as(app.member)
    .post(409, '/api/release-candidates/abort', { repositoryIdentifier, domain: 'core', releaseName });
  expect(problem.code).toBe('invalid_transition');
});

test('packages are taken out and overridden, but not of a locked candidate and not unknown ones', async () => {
  const { id, releaseName } = await create(201);
  const change = (status: number, more: object) =>
    app.as(app.member).patch(status, '/api/release-candidates/update-packages', {
      repositoryIdentifier,
      domain: 'core',
      releaseName,
      ...more,
    });
  const changed = await change(200, { excludePackages: ['lib'], versionOverrides: { app: '1.0.1' } });
  expect(changed).toMatchObject({ version: 2, value: { artifacts: { app: '1.0.1' }, notes: ['kept'] } });
  expect(changed.value.artifacts).not.toHaveProperty('lib');
  await expect(change(400, { excludePackages: ['lib'] })).resolves.toMatchObject({
    errors: [{ pointer: '#/body/excludePackages' }],
  });
  await expect(change(400, { versionOverrides: { x: '1' } })).resolves.toMatchObject({
    errors: [{ pointer: '#/body/versionOverrides' }],
  });
  await move(200, id, 'aborted');
  await expect(change(409, { versionOverrides: { app: '2' } })).resolves.toMatchObject({ code: 'locked' });
});

test('the list pages through exactly what the filter names, and counts it', async () => {
  for (let index = 0; index < 7; index++) await create(201, { domain: 'list', branch: index < 3 ? 'dev/a' : null });
  const { items } = await list('domain=list&limit=200');
  for (const { id } of items.slice(0, 2)) await move(200, id, 'finalized');
  await move(200, items[2].id, 'aborted');

  await expect(list('domain=list')).resolves.toMatchObject({ total: 5, limit: 50, offset: 0 });
  await expect(list('domain=list&includeFinalized=true')).resolves.toMatchObject({ total: 7 });
  await expect(list('domain=list&status=aborted')).resolves.toMatchObject({ total: 1, items: [{ status: 'aborted' }] });
  await expect(list('domain=list&status=pending,finalized')).resolves.toMatchObject({ total: 6 });
  await expect(list('domain=list&branch=dev/a')).resolves.toMatchObject({ total: 3 });
  await expect(list('domain=list&branch=main&includeFinalized=true')).resolves.toMatchObject({ total: 4 });
  const pages = [];
  for (const offset of [0, 3, 6])
    pages.push(...(await list(`domain=list&includeFinalized=true&limit=3&offset=${offset}`)).items);
  expect(pages.map(({ id }) => id)).toEqual(items.map(({ id }: { id: string }) => id));
  await expect(list('domain=list&offset=100')).resolves.toMatchObject({ total: 5, items: [] });
  await app
    .as(app.member)
    .get(400, `/api/release-candidates?repositoryIdentifier=${repositoryIdentifier}&status=unheard_of`);
});

test('a candidate in a list is what it is by its id', async () => {
  const value = {
    artifacts: { app: '1.0.0', 'päckage "quoted" \\ \u2028': '2.0.0-7' },
    artifactTypes: { app: 'unlocked' },
    packageDependencies: { app: '04t000000000001AAA' },
    metadata: [null, true, 1.5, 1e21, -0.001, '<b>&\n', { deep: { deeper: [[], {}] } }],
    deployments: [{ environmentName: 'uat', deployedAt: '2026-03-02T09:30:00.000Z' }],
    approvals: { uat: { approvedBy: ['dana@example.com'], comment: null } },
    unknown: { total: 12_345_678_901, ratio: 0.1, none: null },
  };
  await create(201, { domain: 'alike', value: {} });
  await create(201, { domain: 'alike', branch: null, tag: null, value });
  const full = await create(201, { domain: 'alike', branch: 'release/alike', tag: 'v"1"', value });
  const final = await create(201, { domain: 'alike', value });
  await move(200, full.id, 'in_progress');
  await move(200, final.id, 'finalized');

  const query = 'domain=alike&includeFinalized=true';
  const { items, total } = await list(query);
  expect(total).toBe(4);
  for (const item of items)
    expect({ ...item, warnings: [] }).toStrictEqual(
      await app.as(app.member).get(200, `/api/release-candidates/${item.id}`),
    );
  // Pages behind the first are read by another statement.
  await expect(list(`${query}&offset=1`)).resolves.toMatchObject({ items: items.slice(1) });
});

test('counts stay right through creation, moves, updates and deletion', async () => {
  const { id } = await create(201, { branch: 'x' });
  await move(200, id, 'in_progress');
  await app.as(app.member).delete(204, `/api/release-candidates/${id}`);
  await app.as(app.member).get(404, `/api/release-candidates/${id}`);
  const [wrong] = await app.sql<{ n: string }>(
    `select count(*) as n from release_candidate_count c full join (
       select tenant_id, project_id, domain, coalesce(branch, '') as branch, status, count(*) as candidates
       from release_candidate group by 1, 2, 3, 4, 5) r using (tenant_id, project_id, domain, branch, status)
     where coalesce(c.candidates, 0) <> coalesce(r.candidates, 0)`,
  );
  expect(Number(wrong?.n)).toBe(0);
});

test('branches, domains, the latest and those of a commit', async () => {
  const member = app.as(app.member);
  const query = `repositoryIdentifier=${repositoryIdentifier}`;
  const old = await create(201, { domain: 'own', branch: 'b1', commitSha: 'feedbeef01' });
  const young = await create(201, { domain: 'own', branch: 'b2', commitSha: 'feedbeef02' });
  await expect(member.get(200, `/api/release-candidates/domains?${query}`)).resolves.toEqual([
    'alike',
    'core',
    'list',
    'own',
    'ui',
  ]);
  await expect(member.get(200, `/api/release-candidates/branches?${query}`)).resolves.toEqual(
    expect.arrayContaining(['b1', 'b2', 'main']),
  );
  await expect(member.get(200, `/api/release-candidates/latest?${query}&domain=own`)).resolves.toMatchObject({
    id: young.id,
  });
  await expect(member.get(200, `/api/release-candidates/latest?${query}&domain=own&branch=b1`)).resolves.toMatchObject({
    id: old.id,
  });
  await member.get(404, `/api/release-candidates/latest?${query}&domain=ui`);
  await expect(member.get(200, `/api/release-candidates/by-commit/FEEDBEEF?${query}`)).resolves.toMatchObject({
    own: [{ id: young.id }, { id: old.id }],
  });
  await expect(member.get(200, `/api/release-candidates/by-commit/0000000?${query}`)).resolves.toEqual({});
  await member.get(404, `/api/release-candidates/by-commit/xyz?${query}`);
});

test('the candidates of a branch are deleted, but not those of a branch that the project lives on', async () => {
  await create(201, { branch: 'feature/gone' });
  await create(201, { branch: 'feature/gone', domain: 'ui' });
  const drop = (status: number, branch: string) =>
    app
      .as(app.member)
      .delete(
        status,
        `/api/release-candidates/by-branch/${encodeURIComponent(branch)}?repositoryIdentifier=${repositoryIdentifier}`,
      );
  await expect(drop(200, 'feature/gone')).resolves.toMatchObject({ branch: 'feature/gone', deletedCount: 2 });
  await expect(drop(200, 'feature/gone')).resolves.toEqual({
    branch: 'feature/gone',
    deletedCandidates: [],
    deletedCount: 0,
  });
  for (const branch of ['main', 'develop', 'release/9'])
    await expect(drop(409, branch)).resolves.toMatchObject({ code: 'protected_branch' });
});

test('a comparison with packages', async () => {
  const { id } = await create(201);
  const compared = await app
    .as(app.member)
    .post(200, `/api/release-candidates/${id}/compare-to-packages`, { packages: { app: '0.9.0' }, baseLabel: 'prod' });
  expect(compared).toMatchObject({
    baseLabel: 'prod',
    releaseCandidate: { id },
    comparison: {
      packagesToInstall: [{ name: 'lib' }],
      packagesToUpdate: [{ name: 'app', versions: { from: '0.9.0', to: '1.0.0' } }],
      totalChanges: 2,
    },
  });
});

test.each([
  [{ domain: 'unlisted' }, '#/body/domain'],
  [{ commitSha: 'HEAD' }, '#/body/commitSha'],
  [{ value: { artifacts: { app: 1 } } }, '#/body/value/artifacts/app'],
  [{ value: 'x' }, '#/body/value'],
  [{ status: 'unheard_of' }, '#/body/status'],
  [{ version: 0 }, '#/body/version'],
  [{ repositoryIdentifier: 'no/such' }, '#/body/repositoryIdentifier'],
])('%j is refused', async (more, pointer) => {
  expect((await create(400, more)).errors[0].pointer).toBe(pointer);
});

test('candidates of all projects are found by a part of their name, by commit and by time, in any order', async () => {
  const elsewhere = 'acme/elsewhere';
  await app.as(app.owner).post(201, '/api/projects', { identifier: elsewhere, platform: 'host-a' });
  const names = ['Spring-A', 'spring-b', 'SPRING-C', 'spring-d', 'spring-e'];
  for (const [at, releaseName] of names.entries())
    await create(201, { releaseName, commitSha: `fade0${at}1`, ...(at % 2 && { repositoryIdentifier: elsewhere }) });
  const found = async (query: string) => {
    const { items } = await app.as(app.member).get(200, `/api/release-candidates?${query}`);
    return items.map(({ releaseName }: Json) => releaseName);
  };
  expect(await found('q=spring')).toEqual(names.toReversed());
  expect(await found('q=SPRING&sort=createdAt&limit=2&offset=1')).toEqual(names.slice(1, 3));
  expect(await found(`q=spring&repositoryIdentifier=${elsewhere}`)).toEqual(['spring-d', 'spring-b']);
  expect(await found('q=fade031')).toEqual(['spring-d']);
  expect(await found('q=%25')).toEqual([]);
  expect(await found('q=spring&createdTo=2020-01-01T00:00:00Z')).toEqual([]);
  expect(await found('q=spring&createdFrom=2020-01-01T00:00:00Z&status=pending')).toHaveLength(5);
  expect(await app.as(app.stranger).get(200, '/api/release-candidates')).toMatchObject({ items: [], total: 0 });
});

test.each(['createdAt', '-createdAt', 'releaseName', '-releaseName', 'updatedAt', ''])(
  'pages by cursor, sorted by %j, have each candidate once, also when one is added meanwhile',
  async (sort) => {
    const query = `repositoryIdentifier=${repositoryIdentifier}&includeFinalized=true&limit=3${sort && `&sort=${sort}`}`;
    const seen: string[] = [];
    let { items, nextCursor, total } = await app.as(app.member).get(200, `/api/release-candidates?${query}`);
    seen.push(...items.map(({ id }: Json) => id));
    const { id: added } = await create(201);
    while (nextCursor !== null) {
      const path = `/api/release-candidates?${query}&cursor=${nextCursor}`;
      ({ items, nextCursor } = await app.as(app.member).get(200, path));
      seen.push(...items.map(({ id }: Json) => id));
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => id !== added)).toHaveLength(total);
  },
);

test('a cursor of another order, or of none, is refused', async () => {
  const { nextCursor } = await list('limit=1');
  const crafted = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
  const id = '0198c5a0-7b3e-7000-8000-000000000001';
  for (const query of [
    `cursor=${nextCursor}&sort=releaseName`,
    'cursor=x',
    'sort=colour',
    `cursor=${crafted('-createdAt', '1', id)}`,
    `cursor=${crafted('releaseName', 'a\u0000', id)}`,
  ])
    await app.as(app.member).get(400, `/api/release-candidates?${query}`);
});
