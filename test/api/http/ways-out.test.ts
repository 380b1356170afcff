import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', {
    identifier: 'acme/shop',
    platform: 'host-a',
    configuration: { domains: ['sales', 'service'], customReleaseStatuses: ['on_hold'] },
  });
  for (const name of ['uat', 'production'])
    await owner.post(201, '/api/environments', { repositoryIdentifier: 'acme/shop', name, category: 'release' });
});
afterAll(() => app.close());

const repositoryIdentifier = 'acme/shop';
const owner = () => app.as(app.owner);
const candidate = (more: object) => ({
  repositoryIdentifier,
  domain: 'sales',
  releaseName: 'r1',
  commitSha: 'abcdef1',
  value: {},
  ...more,
});

test('what is missing is required, and unknown fields and words name the nearest known one', async () => {
  const missing = await owner().post(400, '/api/environments', { category: 'relese', isActiv: true });
  expect(missing.errors).toEqual([
    { pointer: '#/body/name', detail: 'is required' },
    { pointer: '#/body/category', detail: 'must be one of dev, test, snapshot, release; did you mean release?' },
    { pointer: '#/body/repositoryIdentifier', detail: 'is required' },
    { pointer: '#/body/isActiv', detail: 'unknown field; did you mean isActive?' },
  ]);
  const query = await owner().get(400, '/api/release-candidates/branches?repositoryIdentifer=acme%2Fshop');
  expect(query.errors).toEqual([
    { pointer: '#/query/repositoryIdentifier', detail: 'is required' },
    { pointer: '#/query/repositoryIdentifer', detail: 'unknown field; did you mean repositoryIdentifier?' },
  ]);
});

test.each<[string, string, object, number, string]>([
  [
    'domain',
    '/api/release-candidates',
    candidate({ domain: 'sale' }),
    400,
    'sale is not a domain of the project: sales, service; did you mean sales?',
  ],
  [
    'status',
    '/api/release-candidates',
    candidate({ status: 'onhold' }),
    400,
    'onhold is not a status of this project: pending, in_progress, aborted, finalized, on_hold; did you mean on_hold?',
  ],
  [
    'environment',
    '/api/release-candidates/release-event',
    {
      repositoryIdentifier,
      domain: 'sales',
      releaseName: 'r1',
      environmentName: 'prodution',
      deploymentStatus: 'Success',
    },
    404,
    'Environment prodution was not found; did you mean production?',
  ],
  [
    'domain of an event',
    '/api/release-candidates/release-event',
    { repositoryIdentifier, domain: 'servce', releaseName: 'r1', environmentName: 'uat', deploymentStatus: 'Success' },
    404,
    'Domain servce was not found; did you mean service?',
  ],
  [
    'environment of a rollback',
    '/api/releases/rollback-annotation',
    { repositoryIdentifier, environment: 'uta', target: 'r1', rolledBackFrom: 'r2', rolledBackBy: 'dana@example.com' },
    404,
    'Environment uta was not found; did you mean uat?',
  ],
  [
    'environment of a run',
    '/api/flows/run',
    {
      payload: {
        id: 'execute-release',
        repositoryIdentifier,
        environmentName: 'UAT1',
        domain: 'sales',
        releaseName: 'r1',
      },
    },
    400,
    'The repository acme/shop has no environment UAT1; did you mean uat?',
  ],
])('an unknown %s', async (_, path, body, status, detail) => {
  await expect(owner().post(status, path, body)).resolves.toMatchObject({ detail });
});

test('an unknown environment that must come first', async () => {
  const problem = await owner().post(400, '/api/environments', {
    repositoryIdentifier,
    name: 'later',
    category: 'release',
    promotion: { after: ['produktion'] },
  });
  expect(problem.detail).toBe('produktion is not an environment of the project; did you mean production?');
});

test('an unknown domain of what is read', async () => {
  const detail = 'Domain srevice was not found; did you mean service?';
  const query = 'repositoryIdentifier=acme%2Fshop&domain=srevice';
  await expect(owner().get(404, `/api/release-candidates/latest?${query}`)).resolves.toMatchObject({ detail });
  const name = { repositoryIdentifier, domain: 'srevice', releaseName: 'r1' };
  await expect(owner().post(404, '/api/release-candidates/find', name)).resolves.toMatchObject({ detail });
});

test('an unknown flow type, and an outcome that is none', async () => {
  const unknown = await owner().post(400, '/api/flows/run', { payload: { id: 'exeute-release' } });
  expect(unknown.detail).toMatch(/^"exeute-release" is not a flow type: .*; did you mean execute-release\?$/);
  const outcome = await owner().post(400, '/api/release-candidates/release-event', {
    ...candidate({}),
    environmentName: 'uat',
    deploymentStatus: 'Sucess',
  });
  expect(outcome.errors).toContainEqual({
    pointer: '#/body/deploymentStatus',
    detail: 'must be one of Success, Failed, Partial, Cancelled; did you mean Success?',
  });
  const filter = await owner().get(400, '/api/flows/runs?status=runing');
  expect(filter.detail).toMatch(/; did you mean Running\?$/);
});

test('an application token of one project learns no names of another', async () => {
  await owner().post(201, '/api/projects', { identifier: 'acme/secret', platform: 'host-a' });
  await owner().post(201, '/api/environments', {
    repositoryIdentifier: 'acme/secret',
    name: 'vault',
    category: 'release',
  });
  const { token } = await owner().post(201, '/api/application-tokens', { name: 'limited', projects: ['acme/shop'] });
  const event = { domain: 'sales', releaseName: 'r1', environmentName: 'valt', deploymentStatus: 'Success' };
  const limited = app.as({ token });
  for (const identifier of ['acme/shop', 'acme/secret']) {
    const problem = await limited.send('POST', '/api/release-candidates/release-event', {
      body: { repositoryIdentifier: identifier, ...event },
    });
    expect(problem.status).toBe(identifier === 'acme/shop' ? 404 : 400);
    expect(problem.text).not.toMatch(/vault/);
  }
});

test.each([
  ['GET', '/api/projects/acme/shop', '/api/projects/acme%2Fshop'],
  ['PATCH', '/api/projects/acme/shop', '/api/projects/acme%2Fshop'],
  ['GET', '/api/projects/organization/project/repository', '/api/projects/organization%2Fproject%2Frepository'],
  ['GET', '/api/projects/acme/shop/mirror', '/api/projects/acme%2Fshop/mirror'],
  ['POST', '/api/projects/acme/shop/mirror/fetch', '/api/projects/acme%2Fshop/mirror/fetch'],
  ['POST', '/api/projects/acme/shop/hook-secret', '/api/projects/acme%2Fshop/hook-secret'],
  [
    'GET',
    '/api/release-candidates/rolling-analysis/acme/shop/sales',
    '/api/release-candidates/rolling-analysis/acme%2Fshop/sales',
  ],
])('%s %s names the path with encoded slashes', async (method, path, meant) => {
  const { status, body } = await owner().send(method, path, method === 'GET' ? {} : { body: {} });
  expect(status).toBe(404);
  expect(body.detail).toBe(
    `No resource at ${path}; the slashes of a repository identifier are encoded in a path: ${meant}`,
  );
});

test('a path that is malformed asks for a credential first', async () => {
  for (const path of ['/api/projects/x/mirror', '/api/environments/none']) await app.as().get(401, path);
});

test.each(['/api/nothing/acme/shop', '/api/projects//shop', `/api/projects/${'a/'.repeat(50)}b`])(
  '%s is no path with an identifier',
  async (path) => {
    const { detail } = await owner().get(404, path);
    expect(detail).not.toMatch(/encoded/);
  },
);
