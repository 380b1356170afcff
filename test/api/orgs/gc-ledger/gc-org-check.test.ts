import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { detected, dropped, type Ledger, ledgerOf } from '../../../support/gc-ledger.ts';
import { idleEngine } from '../../../support/launch.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
// What another repository has is not to change these.
afterEach(() => app.sql('delete from document'));
afterAll(() => app.close());

const trail = async (action: string, { repositoryIdentifier }: Ledger) => {
  const query = new URLSearchParams({ action, repositoryIdentifier });
  return (await app.as(app.owner).get(200, `/api/audit?${query}`)).items as Json[];
};
const seen = (presence: string, ...names: string[]) => names.map((name) => ({ ...dropped(name), presence }));

/** A ledger whose branch two environments track, one of them for releases. */
async function tracked(): Promise<Ledger> {
  const ledger = await ledgerOf(app);
  await ledger.environment('uat');
  await ledger.environment('production', { category: 'release' });
  return ledger;
}

/** Makes all evidence so many days older. */
const age = (ledger: Ledger, days: number) =>
  app.sql('update gc_presence set checked_at = checked_at - make_interval(days => ?) where project_id = ?', [
    days,
    ledger.projectId,
  ]);

test('what is absent in the orgs of all tracking environments is removed; its history stays in the trail', async () => {
  const ledger = await tracked();
  await ledger.environment('elsewhere', { branch: 'release/*' });
  await ledger.environment('planned', { orgUsername: null });
  await ledger.events([detected('A'), detected('B')]);
  await ledger.check('uat', seen('absent', 'A', 'B', 'Unknown'));
  await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass A': 'detected', 'core ApexClass B': 'detected' });
  await ledger.check('production', [...seen('absent', 'A'), ...seen('unknown', 'B')]);
  const { items, total } = await ledger.list();
  expect(total).toBe(1);
  expect(items[0]).toMatchObject({
    fullName: 'B',
    status: 'detected',
    presence: [
      { environment: 'production', presence: 'unknown', checkedAt: expect.any(String) },
      { environment: 'uat', presence: 'absent' },
    ],
  });
  expect(await trail('gc.removed', ledger)).toMatchObject([
    {
      source: 'crm',
      before: {
        branch: 'main',
        components: [{ ...dropped('A'), status: 'detected', history: [{ to: 'detected', cause: 'event' }] }],
      },
    },
  ]);
  expect(await trail('gc.org_checked', ledger)).toMatchObject([
    { after: { environment: 'production', results: { present: 0, absent: 1, unknown: 1 }, removed: 1, passedOver: 0 } },
    { after: { environment: 'uat', results: { absent: 3 }, removed: 0, passedOver: 1 } },
  ]);
  // Dropped again, it is new.
  await ledger.events([detected('A')]);
  expect((await ledger.list()).items[0]).toMatchObject({ fullName: 'A', history: [{ from: null }], presence: [] });
});

test('the org of an environment that is not active keeps no component in the ledger, whatever it said before', async () => {
  const ledger = await tracked();
  const { id } = await ledger.environment('frozen', { category: 'release' });
  await ledger.events([detected('A'), detected('B')]);
  await ledger.check('frozen', seen('present', 'A', 'B'));
  await app.as(app.owner).patch(200, `/api/environments/${id}`, { isActive: false });
  await ledger.check('uat', seen('absent', 'A', 'B'));
  await ledger.check('production', seen('absent', 'A'));
  await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass B': 'detected' });
});

test('evidence belongs to the org that gave it', async () => {
  const ledger = await ledgerOf(app);
  await ledger.environment('uat');
  const { id } = await ledger.environment('production', { orgUsername: 'old@acme.example.com' });
  const rename = (orgUsername: string) => app.as(app.owner).patch(200, `/api/environments/${id}`, { orgUsername });
  await ledger.events([detected('A')]);
  await ledger.check('production', seen('absent', 'A'));
  await rename('new@acme.example.com');
  await ledger.check('uat', seen('absent', 'A'));
  expect((await ledger.list()).items).toMatchObject([{ fullName: 'A', presence: [{ environment: 'uat' }] }]);
  const path = `/api/gc-ledger/destructive-changes?${new URLSearchParams({
    repositoryIdentifier: ledger.repositoryIdentifier,
    branch: 'main',
    environment: 'production',
  })}`;
  expect((await app.as(app.member).get(200, path)).total).toBe(1);
  // Usernames are the same in any case.
  await rename('OLD@acme.example.com');
  expect((await app.as(app.member).get(200, path)).total).toBe(0);
  await ledger.check('uat', seen('absent', 'A'));
  await expect(ledger.statuses()).resolves.toEqual({});
});

test('what was restored in between is asked for anew', async () => {
  const ledger = await tracked();
  await ledger.publish('core', { ApexClass: ['A', 'B', 'C'] });
  // Gone from one org, then back in the branch, deployed, and dropped by destructive changes or moved.
  for (const type of ['detected', 'moved'] as const) {
    await ledger.publish('core', {});
    await ledger.events([{ type, ...dropped('A') }]);
    await ledger.check('uat', seen('absent', 'A'));
    await ledger.publish('core', { ApexClass: ['A'] });
    await ledger.events([{ type, ...dropped('A') }]);
    expect((await ledger.list()).items[0]).toMatchObject({ status: 'restored', presence: [] });
    await ledger.check('uat', seen('absent', 'A'));
    await ledger.publish('core', {}, { destroys: { ApexClass: ['A'] } });
    await ledger.events([detected('A')]);
    expect((await ledger.list()).items[0]).toMatchObject({ status: 'handled', presence: [] });
    await ledger.check('production', seen('absent', 'A'));
    await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass A': 'reclaimed' });
  }
});

test('what the branch ships is neither reclaimed nor announced as that', async () => {
  const ledger = await tracked();
  const { id } = await app.as(app.owner).post(201, '/api/webhooks', {
    name: 'restored',
    event: 'gc.reclaimed',
    config: { url: 'http://127.0.0.1:9/' },
  });
  await ledger.publish('core', { ApexClass: ['A'] });
  await ledger.events([detected('A'), detected('Dismissed', { packageName: 'web' })]);
  const gone = { ...dropped('Dismissed', { packageName: 'web' }), presence: 'absent' };
  await ledger.decide('dismiss', dropped('Dismissed', { packageName: 'web' }));
  await ledger.check('production', [...seen('absent', 'A'), gone]);
  await expect(ledger.statuses()).resolves.toEqual({
    'core ApexClass A': 'restored',
    'web ApexClass Dismissed': 'dismissed',
  });
  await ledger.check('uat', [...seen('absent', 'A'), gone]);
  await expect(ledger.statuses()).resolves.toEqual({});
  await expect(app.sql('select 1 from webhook_delivery where webhook_id = ?', [id])).resolves.toEqual([]);
});

test('the trail keeps the whole history of what was removed, with times as everywhere', async () => {
  const ledger = await tracked();
  await ledger.events([detected('A'), detected('B')]);
  const [entry] = await app.sql<{ id: string; tenant_id: string }>(
    "select id, tenant_id from gc_entry where project_id = ? and full_name = 'A'",
    [ledger.projectId],
  );
  await app.sql(
    `insert into gc_event (tenant_id, entry_id, project_id, occurred_at, from_status, to_status, cause, reason, changed_by)
     select ?, ?, ?, '2026-01-01T12:00:00+02:00', 'detected', 'dismissed', 'person', repeat(n::text, 1000), 'me@acme.example.com'
     from generate_series(1, 250) n`,
    [entry?.tenant_id, entry?.id, ledger.projectId],
  );
  await ledger.check('uat', seen('absent', 'A', 'B'));
  await ledger.check('production', seen('absent', 'A', 'B'));
  const entries = await trail('gc.removed', ledger);
  const parts = entries.flatMap(({ before }) => before.components as Json[]).filter(({ fullName }) => fullName === 'A');
  expect(parts.map(({ history }) => history.length).toSorted((a, b) => a - b)).toEqual([51, 100, 100]);
  const steps = parts.flatMap(({ history }) => history as Json[]);
  expect(steps.filter(({ at }) => at === '2026-01-01T10:00:00.000Z')).toHaveLength(250);
  for (const { before } of entries) expect(JSON.stringify(before).length).toBeLessThan(600_000);
});

test('what is absent in release orgs alone is reclaimed, and detected when it is back', async () => {
  const ledger = await tracked();
  await ledger.events([detected('A'), detected('Dismissed')]);
  await ledger.decide('dismiss', dropped('Dismissed'));
  await ledger.check('production', seen('absent', 'A', 'Dismissed'));
  await expect(ledger.statuses()).resolves.toEqual({
    'core ApexClass A': 'reclaimed',
    'core ApexClass Dismissed': 'dismissed',
  });
  // Elsewhere it may still be.
  await ledger.check('uat', seen('present', 'A'));
  await ledger.check('production', seen('unknown', 'A'));
  expect((await ledger.statuses())['core ApexClass A']).toBe('reclaimed');
  await ledger.check('production', seen('present', 'A'));
  expect((await ledger.list({ status: 'detected' })).items[0].history).toMatchObject([
    { from: null, to: 'detected', cause: 'event' },
    { from: 'detected', to: 'reclaimed', cause: 'org_check', environment: 'production' },
    { from: 'reclaimed', to: 'detected', cause: 'org_check', environment: 'production' },
  ]);
  // Dismissed or not, what is gone from all orgs is removed.
  await ledger.check('uat', seen('absent', 'Dismissed'));
  await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass A': 'detected' });
});

test('what is back in a release org may be explained by manifests', async () => {
  const ledger = await tracked();
  await ledger.publish('core', {});
  await ledger.events([detected('A')]);
  await ledger.check('production', seen('absent', 'A'));
  await ledger.publish('web', { ApexClass: ['A'] });
  await ledger.check('production', seen('present', 'A'));
  expect((await ledger.list()).items[0]).toMatchObject({ status: 'moved', movedTo: 'web', history: { length: 3 } });
});

test('evidence counts for 7 days, and not after a new detection', async () => {
  const ledger = await tracked();
  await ledger.events([detected('A')]);
  await ledger.check('uat', seen('absent', 'A'));
  await age(ledger, 7);
  await ledger.check('production', seen('absent', 'A'));
  await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass A': 'reclaimed' });
  await ledger.check('uat', seen('present', 'A'));
  // Reclaimed in the releases' orgs and dropped anew: what they said then says nothing about it.
  await ledger.events([detected('A')]);
  expect((await ledger.list()).items[0]).toMatchObject({ status: 'detected', presence: [] });
  await ledger.check('uat', seen('absent', 'A'));
  await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass A': 'detected' });
  // A repeated event is no new detection.
  await ledger.events([detected('A')]);
  await ledger.check('production', seen('absent', 'A'));
  await expect(ledger.statuses()).resolves.toEqual({});
});

test('an environment that is registered later has to be asked, too', async () => {
  const ledger = await tracked();
  await ledger.events([detected('A')]);
  await ledger.check('uat', seen('absent', 'A'));
  const { id } = await ledger.environment('second', { category: 'release' });
  await ledger.check('production', seen('absent', 'A'));
  await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass A': 'detected' });
  await app.as(app.owner).delete(204, `/api/environments/${id}`);
  await ledger.check('production', seen('absent', 'A'));
  await expect(ledger.statuses()).resolves.toEqual({});
});

test('gc.reclaimed comes once', async () => {
  const ledger = await tracked();
  const { id } = await app.as(app.owner).post(201, '/api/webhooks', {
    name: 'gc',
    event: 'gc.reclaimed',
    config: { url: 'http://127.0.0.1:9/' },
  });
  await ledger.events([detected('A'), detected('B'), detected('W', { packageName: 'web' })]);
  const all = [...seen('absent', 'A', 'B'), { ...dropped('W', { packageName: 'web' }), presence: 'absent' }];
  for (const environment of ['production', 'production', 'uat']) await ledger.check(environment, all);
  await ledger.events([detected('A')]);
  await ledger.check('uat', seen('absent', 'A'));
  await ledger.check('production', seen('absent', 'A'));
  const rows = await app.sql<{ data: Json }>(
    'select payload as data from webhook_delivery where webhook_id = ? order by id',
    [id],
  );
  expect(rows.map(({ data }) => [data.packageName, data.status, data.count])).toEqual([
    ['core', 'reclaimed', 2],
    ['web', 'reclaimed', 1],
    ['core', 'reclaimed', 1],
  ]);
});

test('what is refused', async () => {
  const ledger = await tracked();
  await ledger.environment('other', { branch: 'release/*' });
  await ledger.environment('inactive', { isActive: false });
  await ledger.environment('planned', { orgUsername: null });
  for (const [name, detail] of [
    ['other', /does not track the branch main/],
    ['inactive', /is not active/],
    ['planned', /has no org/],
    ['nowhere', /has no environment nowhere/],
  ] as const) {
    const { errors } = await ledger.check(name, [], 400);
    expect(errors).toMatchObject([{ pointer: '#/body/environment', detail: expect.stringMatching(detail) }]);
  }
  await ledger.check('uat', [{ ...dropped('A'), presence: 'gone' }], 400);
  await ledger.check('uat', [{ ...dropped('A') }], 400);
  const body = { repositoryIdentifier: ledger.repositoryIdentifier, branch: 'main', environment: 'uat', results: [] };
  await app.as(app.member).post(403, '/api/gc-ledger/org-check', body);
  await app.as(app.strangerApplication).post(400, '/api/gc-ledger/org-check', body);
  await app.as(app.owner).post(204, '/api/gc-ledger/org-check', body);
});

test('10,000 results at once, all of them gone', async () => {
  const ledger = await tracked();
  const names = Array.from({ length: 10_000 }, (_, n) => `C${n}`);
  await ledger.events(names.map((name) => detected(name)));
  await ledger.check('uat', seen('absent', ...names));
  await ledger.check('production', seen('absent', ...names));
  await expect(ledger.list()).resolves.toMatchObject({ total: 0, items: [] });
  expect(await trail('gc.removed', ledger)).toHaveLength(50);
});

test('two checks of one branch at the same time see each other', async () => {
  const ledger = await tracked();
  await ledger.events([detected('A')]);
  await Promise.all([ledger.check('uat', seen('absent', 'A')), ledger.check('production', seen('absent', 'A'))]);
  await expect(ledger.statuses()).resolves.toEqual({});
});
