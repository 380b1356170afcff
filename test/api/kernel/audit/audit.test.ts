import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
  for (const name of ['a', 'b', 'c']) {
    await owner().post(201, '/api/projects', { identifier: `acme/${name}`, platform: 'host-a' });
    await owner().post(201, '/api/environments', {
      repositoryIdentifier: `acme/${name}`,
      name: 'uat',
      category: 'release',
    });
  }
  await app.as(app.application).post(201, '/api/release-candidates', {
    repositoryIdentifier: 'acme/a',
    domain: 'core',
    releaseName: 'r1',
    commitSha: 'abcdef0',
    value: {},
  });
  await owner().delete(204, '/api/projects/acme%2Fc');
  // Hours apart, so that tallies and cut hours both count.
  await app.sql(
    `update audit_entry set occurred_at = timestamptz '2026-03-01 10:30:00+00' + sequence * interval '17 minutes' where tenant_id = ?`,
    [app.tenant.id],
  );
  await app.sql('delete from audit_tally where tenant_id = ?', [app.tenant.id]);
  await app.sql('select audit_count(?, 1)', [app.tenant.id]);
});
afterAll(() => app.close());

const owner = () => app.as(app.owner);
const list = (query: Record<string, string> = {}): Promise<Json> =>
  owner().get(200, `/api/audit?${new URLSearchParams(query)}`);

test('the trail is listed newest first, whole and without secrets', async () => {
  const { items, total, limit, offset } = await list();
  expect({ total, limit, offset }).toEqual({ total: items.length, limit: 50, offset: 0 });
  const sequences = items.map(({ sequence }: Json) => sequence);
  expect(sequences).toEqual(sequences.toSorted((a: number, b: number) => b - a));
  const created = items.find(
    ({ action, entityType }: Json) => action === 'project.created' && entityType === 'project',
  );
  expect(created).toMatchObject({
    source: 'project',
    actor: { type: 'user', email: app.owner.email },
    repositoryIdentifier: 'acme/c',
    before: null,
    after: { identifier: 'acme/c' },
    occurredAt: expect.stringMatching(/^2026-03-0\dT\d\d:\d\d:00\.000Z$/),
    prevHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

const matches: Record<string, (entry: Json, value: string) => boolean> = {
  source: (entry, value) => entry.source === value,
  action: (entry, value) => entry.action.startsWith(value),
  actor: ({ actor }, value) => actor.email === value || actor.id === value,
  repositoryIdentifier: (entry, value) => entry.repositoryIdentifier === value,
  entityId: (entry, value) => entry.entityId === value,
  from: (entry, value) => entry.occurredAt >= new Date(value).toISOString(),
  to: (entry, value) => entry.occurredAt < new Date(value).toISOString(),
};

test.each<Record<string, string>>([
  { source: 'environment' },
  { source: 'slack' },
  { action: 'project.created' },
  { action: 'project.' },
  { action: 'e' },
  { action: 'nothing' },
  { actor: 'owner@acme.example' },
  { actor: 'app:ci' },
  { repositoryIdentifier: 'acme/a' },
  { repositoryIdentifier: 'acme/c' },
  { from: '2026-03-01T11:00:00Z' },
  { from: '2026-03-01T11:04:00Z' },
  { from: '2026-03-01T11:05:00Z', to: '2026-03-01T11:20:00Z' },
  { from: '2026-03-01T10:50:00Z', to: '2026-03-01T13:10:00Z' },
  { from: '2026-03-01T11:00:00Z', to: '2026-03-01T13:00:00Z' },
  { to: '2026-03-01T12:30:00Z', action: 'project' },
  { from: '2026-03-01T11:10:00+00:00', source: 'project' },
  { from: '2026-03-02T00:00:00Z', to: '2026-03-01T00:00:00Z' },
  { source: 'project', actor: 'owner@acme.example', repositoryIdentifier: 'acme/b' },
])('%j narrows the list and its total', async (query) => {
  const { items: all } = await list({ limit: '1000' });
  const expected = all.filter((entry: Json) =>
    Object.entries(query).every(([name, value]) => matches[name]?.(entry, value)),
  );
  const { items, total } = await list(query);
  expect(items).toEqual(expected);
  expect(total).toBe(expected.length);
});

test('an actor is found by id, an entity by its own', async () => {
  const [entry] = (await list({ action: 'environment.created' })).items;
  expect((await list({ actor: entry.actor.id })).total).toBe((await list({ actor: entry.actor.email })).total);
  expect((await list({ entityId: entry.entityId })).items.map(({ id }: Json) => id)).toContain(entry.id);
});

test('pages follow each other and are linked', async () => {
  const { items: all } = await list({ action: 'project' });
  const { body, headers } = await owner().request(200, 'GET', '/api/audit?action=project&limit=2&offset=1');
  expect(body.items).toEqual(all.slice(1, 3));
  expect(headers.get('link')).toContain('offset=3');
});

test.each([
  'limit=1001',
  'limit=0',
  'offset=-1',
  'source=nobody',
  'from=yesterday',
  'from=2026-02-30T00:00:00Z',
  'other=1',
  'repositoryIdentifier=acme/unknown',
])('%s is refused', async (query) => {
  await owner().get(400, `/api/audit?${query}`);
});

test('the trail of another tenant is not seen', async () => {
  const { items } = await app.as(app.stranger).get(200, '/api/audit?limit=1000');
  expect(items.every(({ actor }: Json) => !actor.email.includes('acme'))).toBe(true);
});
