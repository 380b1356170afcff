import { findCredentials } from '../../../../domain/projects/integrations/integrations.mutations.ts';
import { connectOrm } from '../../../../domain/orm.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import { createEncryption } from '../../../../domain/kernel/encryption/encryption.ts';
import { generateKeys } from '../../../../domain/kernel/encryption/keys.ts';
import { unitOfWork } from '../../../../domain/unit-of-work.ts';
import { type TestApp, testApp } from '../../../support/app.ts';

const { encryptionKeys } = generateKeys();
const encryption = createEncryption(encryptionKeys);
const SECRET = 'glpat-very-secret';
const token = (text = SECRET) => ({ type: 'token', token: text });

let app: TestApp;
let orm: ReturnType<typeof connectOrm>;
const projectIds: Record<string, string> = {};

beforeAll(async () => {
  app = await testApp({
    env: { ENCRYPTION_KEYS: encryptionKeys, TOKEN_KEYS: generateKeys().tokenKeys, OUTBOUND_ALLOW: '10.1.0.0/16' },
  });
  orm = connectOrm({ databaseUrl: app.databaseUrl, role: 'quayside_app', poolSize: 2 });
  for (const identifier of ['acme/one', 'acme/two']) {
    const { id } = await app.as(app.owner).post(201, '/api/projects', { identifier, platform: 'host-a' });
    projectIds[identifier] = id;
  }
});
afterAll(async () => {
  await orm.close(true);
  await app.close();
});

const create = (status: number, body: object) =>
  app.as(app.owner).post(status, '/api/integrations', { name: 'Host', credentials: token(), ...body });
const trail = (id: string) =>
  app.sql<{ action: string; summary: string; before: unknown; after: unknown }>(
    'select * from audit_entry where entity_id = ? order by sequence',
    [id],
  );

const credentialsFor = (tenantId: string, kind: 'host-a' | 'host-b', repository?: string) =>
  unitOfWork(orm, { actor: systemActor({ tenantId, tenantSlug: 'test' }, 'test') })((tx) =>
    findCredentials(tx, encryption, { kind, projectId: repository && projectIds[repository], purpose: 'a test' }),
  );

test('credentials are shown nowhere, and are found by the look-up alone', async () => {
  const made = await create(201, {
    kind: 'metrics',
    baseUrl: 'https://metrics.example.com',
    settings: { region: 'eu' },
  });
  expect(made).toMatchObject({
    kind: 'metrics',
    repositoryIdentifier: null,
    settings: { region: 'eu' },
    isActive: true,
    version: 1,
  });
  const owner = app.as(app.owner);
  const seen = [
    made,
    await owner.get(200, '/api/integrations'),
    await owner.get(200, `/api/integrations/${made.id}`),
    await owner.patch(200, `/api/integrations/${made.id}`, { credentials: token(`${SECRET}-2`) }),
    await app.sql('select * from integration'),
    await trail(made.id),
  ];
  expect(JSON.stringify(seen)).not.toContain(SECRET);
  const [row] = await app.sql<{ credentials: string }>('select credentials from integration where id = ?', [made.id]);
  expect(encryption.decrypt(row?.credentials ?? '', `integration:${made.id}`)).toBe(
    JSON.stringify(token(`${SECRET}-2`)),
  );
});

test('a project uses its own, else that of the tenant, and never an inactive one or that of another tenant', async () => {
  const wide = await create(201, { kind: 'host-a', credentials: token('wide') });
  const own = await create(201, {
    kind: 'host-a',
    repositoryIdentifier: 'acme/one',
    credentials: { type: 'basic', username: 'u', password: 'own' },
  });
  await expect(credentialsFor(app.tenant.id, 'host-a', 'acme/one')).resolves.toMatchObject({
    id: own.id,
    credentials: { password: 'own' },
  });
  await expect(credentialsFor(app.tenant.id, 'host-a', 'acme/two')).resolves.toMatchObject({
    id: wide.id,
    credentials: { token: 'wide' },
  });
  await expect(credentialsFor(app.tenant.id, 'host-a')).resolves.toMatchObject({ id: wide.id });
  await expect(credentialsFor(app.tenant.id, 'host-b', 'acme/one')).resolves.toBeUndefined();
  const [other] = await app.sql<{ id: string }>(`select id from tenant where slug = 'other'`);
  await expect(credentialsFor(other?.id ?? '', 'host-a', 'acme/one')).resolves.toBeUndefined();

  await app.as(app.owner).patch(200, `/api/integrations/${own.id}`, { isActive: false });
  await expect(credentialsFor(app.tenant.id, 'host-a', 'acme/one')).resolves.toMatchObject({ id: wide.id });
  const reads = (await trail(wide.id)).filter(({ action }) => action === 'integration.credentials_read');
  expect(reads).toHaveLength(3);
  expect(reads[0]?.summary).toContain('a test');
});

test('keys of packages are those of one kind alone, and are shown nowhere', async () => {
  const keys = { type: 'keys', keys: { '04t000000000001': SECRET, 'Base@1.0.0-1': `${SECRET}-2` } };
  const kind = 'package-keys';
  const made = await create(201, { kind, credentials: keys });
  const owner = app.as(app.owner);
  const seen = [
    made,
    await owner.get(200, `/api/integrations?kind=${kind}`),
    await app.sql('select * from integration'),
    await trail(made.id),
  ];
  expect(JSON.stringify(seen)).not.toContain(SECRET);
  const repositoryIdentifier = 'acme/one';
  await create(400, { kind, repositoryIdentifier });
  await create(400, { kind: 'metrics', repositoryIdentifier, credentials: keys });
  await create(400, { kind, repositoryIdentifier, credentials: { type: 'keys', keys: { Base: 'two\nlines' } } });
});

test('a kind has one integration for the tenant and one for each project', async () => {
  await create(201, { kind: 'browser' });
  await create(409, { kind: 'browser' });
  await create(201, { kind: 'browser', repositoryIdentifier: 'acme/two' });
  await create(409, { kind: 'browser', repositoryIdentifier: 'acme/two' });
  await expect(app.as(app.owner).get(200, '/api/integrations?kind=browser')).resolves.toMatchObject([
    { repositoryIdentifier: null },
    { repositoryIdentifier: 'acme/two' },
  ]);
});

test('stored credentials are not sent to another server by a changed address', async () => {
  const { id } = await create(201, {
    kind: 'ai-model',
    baseUrl: 'https://model.example.com/v1',
    settings: { provider: 'openai', model: 'gpt' },
  });
  const change = (status: number, body: object) => app.as(app.owner).patch(status, `/api/integrations/${id}`, body);
  for (const baseUrl of [
    'https://evil.example.com/v1',
    'https://model.example.com.evil.example/v1',
    'https://model.example.com:8443/v1',
    'http://model.example.com/v1',
    'https://model.example.com./v1',
    null,
  ]) {
    const problem = await change(400, { baseUrl });
    expect(problem.errors[0].pointer).toMatch(/^#\/body\/(credentials|baseUrl)$/);
  }
  // What is stored, is what was asked for: an address that stays the same in another spelling.
  await change(200, { baseUrl: 'https://MODEL.example.com:443/v1' });
  await change(200, { baseUrl: 'https://model.example.com/v2' });
  await change(200, { baseUrl: 'https://other.example.com', credentials: token('new') });
  await change(409, { name: 'stale', version: 1 });
});

test.each([
  [{ kind: 'host-d' }, '#/body/kind'],
  [{ kind: 'host-b', baseUrl: 'ftp://example.com' }, '#/body/baseUrl'],
  [{ kind: 'host-b', baseUrl: 'https://user:password@example.com' }, '#/body/baseUrl'],
  [{ kind: 'host-b', baseUrl: 'http://169.254.169.254/latest' }, '#/body/baseUrl'],
  [{ kind: 'host-b', repositoryIdentifier: 'no/such' }, '#/body/repositoryIdentifier'],
  [{ kind: 'host-b', credentials: { type: 'token', token: 'two\r\nlines' } }, '#/body/credentials/token'],
  [{ kind: 'host-b', credentials: undefined }, '#/body/credentials'],
])('%j is refused', async (body, pointer) => {
  const problem = await create(400, body);
  expect(problem.errors[0].pointer).toBe(pointer);
});

test('an address in a range that the operator allows is accepted', async () => {
  await create(201, { kind: 'host-c', baseUrl: 'https://10.1.2.3' });
});
