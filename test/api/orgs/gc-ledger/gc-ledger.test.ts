import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { detected, dropped, ledgerOf } from '../../../support/gc-ledger.ts';
import { idleEngine } from '../../../support/launch.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
// What another repository has is not to change these.
afterEach(() => app.sql('delete from document'));
afterAll(() => app.close());

test('people dismiss and reopen; a dismissal holds against events until the component is restored', async () => {
  const ledger = await ledgerOf(app);
  await ledger.publish('core', {});
  await ledger.events([detected('A')]);
  await ledger.decide('reopen', dropped('A'));
  await ledger.decide('dismiss', { ...dropped('A'), reason: 'kept for the audit' });
  await ledger.decide('dismiss', dropped('A'));
  await ledger.events([detected('A'), { type: 'moved', ...dropped('A') }]);
  await ledger.events([detected('A')]);
  const [entry] = (await ledger.list()).items;
  expect(entry).toMatchObject({
    status: 'dismissed',
    history: [
      { to: 'detected' },
      { from: 'detected', to: 'dismissed', cause: 'person', reason: 'kept for the audit', by: app.member.email },
    ],
  });
  expect(entry.lastEventAt > entry.history[1].at).toBe(true);
  await ledger.publish('core', { ApexClass: ['A'] });
  await ledger.events([]);
  await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass A': 'restored' });
  await ledger.publish('core', {});
  await ledger.events([detected('A')]);
  await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass A': 'detected' });
});

test('gc.dismissed names the component and who dismissed it, once', async () => {
  const ledger = await ledgerOf(app);
  const { id } = await app.as(app.owner).post(201, '/api/webhooks', {
    name: 'gc',
    event: 'gc.dismissed',
    config: { url: 'http://127.0.0.1:9/' },
  });
  await ledger.events([detected('A')]);
  for (let again = 0; again < 2; again++) await ledger.decide('dismiss', dropped('A'));
  const rows = await app.sql<{ data: Json }>('select payload as data from webhook_delivery where webhook_id = ?', [id]);
  expect(rows.map(({ data }) => data)).toEqual([
    {
      repositoryIdentifier: ledger.repositoryIdentifier,
      branch: 'main',
      packageName: 'core',
      status: 'dismissed',
      count: 1,
      components: [{ componentType: 'ApexClass', fullName: 'A' }],
      changedBy: app.member.email,
    },
  ]);
});

test('manifests other than its own do not end a dismissal', async () => {
  const ledger = await ledgerOf(app);
  await ledger.publish('core', {});
  await ledger.events([detected('A')]);
  await ledger.decide('dismiss', dropped('A'), 204, app.owner);
  await ledger.publish('web', { ApexClass: ['A'] }, { destroys: { ApexClass: ['A'] } });
  await ledger.events([]);
  await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass A': 'dismissed' });
  await ledger.decide('reopen', dropped('A'));
  await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass A': 'detected' });
  await ledger.events([]);
  await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass A': 'moved' });
});

test('decisions that are refused', async () => {
  const ledger = await ledgerOf(app);
  await ledger.publish('core', { ApexClass: ['Restored'] });
  await ledger.events([detected('Restored'), { type: 'moved', ...dropped('Moved') }, detected('A')]);
  for (const decision of ['dismiss', 'reopen'] as const) {
    for (const name of ['Restored', 'Moved']) {
      const { code, detail } = await ledger.decide(decision, dropped(name), 409);
      expect([code, detail]).toEqual(['invalid_transition', expect.stringContaining(name.toLowerCase())]);
    }
    await ledger.decide(decision, dropped('Nothing'), 404);
    await ledger.decide(decision, dropped('A', { packageName: 'web' }), 404);
    // A person must act.
    await ledger.decide(decision, dropped('A'), 403, app.application);
    await ledger.decide(decision, dropped('A'), 400, app.stranger);
    await ledger.decide(decision, { ...dropped('A'), reason: 'x'.repeat(4_001) }, 400);
  }
});

test('one of ten people at once dismisses', async () => {
  const ledger = await ledgerOf(app);
  await ledger.events([detected('A')]);
  await Promise.all(Array.from({ length: 10 }, () => ledger.decide('dismiss', dropped('A'))));
  expect((await ledger.list()).items[0].history).toHaveLength(2);
  const query = new URLSearchParams({ action: 'gc.dismissed', repositoryIdentifier: ledger.repositoryIdentifier });
  expect((await app.as(app.owner).get(200, `/api/audit?${query}`)).items).toMatchObject([
    { source: 'crm', actor: { email: app.member.email }, after: { ...dropped('A'), status: 'dismissed' } },
  ]);
});

test('the list has filters, pages and an exact total', async () => {
  const ledger = await ledgerOf(app);
  const names = Array.from({ length: 30 }, (_, n) => `C${String(n).padStart(2, '0')}`);
  await ledger.events(names.map((name, n) => detected(name, { packageName: n % 3 ? 'core' : 'web' })));
  await ledger.events([detected('X'), { type: 'moved', ...dropped('Y') }], { branch: 'next' });
  await ledger.decide('dismiss', dropped('C01'));
  const shown = async (query: Record<string, string>) => {
    const { items, total } = await ledger.list(query);
    return [items.length, total, items[0]?.fullName];
  };
  await expect(shown({})).resolves.toEqual([32, 32, 'C01']);
  await expect(shown({ branch: 'main' })).resolves.toEqual([30, 30, 'C01']);
  await expect(shown({ branch: 'none' })).resolves.toEqual([0, 0, undefined]);
  await expect(shown({ package: 'web' })).resolves.toEqual([10, 10, 'C00']);
  await expect(shown({ status: 'dismissed' })).resolves.toEqual([1, 1, 'C01']);
  await expect(shown({ status: 'dismissed,detected' })).resolves.toEqual([31, 31, 'C01']);
  await expect(shown({ status: 'moved, dismissed', branch: 'next' })).resolves.toEqual([1, 1, 'Y']);
  await expect(
    shown({ status: 'detected', package: 'core', branch: 'main', limit: '5', offset: '15' }),
  ).resolves.toEqual([4, 19, 'C25']);
  await expect(shown({ offset: '100' })).resolves.toEqual([0, 32, undefined]);
  const pages = await Promise.all(
    [0, 10, 20, 30].map((offset) => ledger.list({ limit: '10', offset: String(offset) })),
  );
  const keys = pages.flatMap(({ items }: Json) =>
    items.map(({ branch, packageName, fullName }: Json) => `${branch} ${packageName} ${fullName}`),
  );
  expect(keys).toEqual(keys.toSorted());
  expect(new Set(keys).size).toBe(32);
  const query = new URLSearchParams({ repositoryIdentifier: ledger.repositoryIdentifier, limit: '10', offset: '10' });
  const { headers } = await app.as(app.application).request(200, 'GET', `/api/gc-ledger?${query}`);
  expect(headers.get('link')).toMatch(/offset=20.*rel="next".*offset=0.*rel="prev"/);
  for (const wrong of [
    { status: 'open' },
    { status: '' },
    { limit: '501' },
    { limit: '0' },
    { offset: '-1' },
    { branch: 'a:b' },
    { more: '1' },
  ])
    await ledger.list(wrong, 400);
  await app.as(app.stranger).get(400, `/api/gc-ledger?${query}`);
  await app.as(app.owner).get(400, '/api/gc-ledger');
});

test('a history shows its last 100 steps, the newest last', async () => {
  const ledger = await ledgerOf(app);
  await ledger.events([detected('A')]);
  for (let again = 0; again < 52; again++) {
    await ledger.decide('dismiss', { ...dropped('A'), reason: `${again}` });
    await ledger.decide('reopen', dropped('A'));
  }
  const [{ history }] = (await ledger.list()).items;
  expect(history).toHaveLength(100);
  expect([history[0].reason, history[98].reason, history[99].to]).toEqual(['2', '51', 'detected']);
});

test('a token that is limited to projects has its ledger alone, and what manifests say', async () => {
  const [own, other] = [await ledgerOf(app), await ledgerOf(app)];
  const limited = await app.as(app.owner).post(201, '/api/application-tokens', {
    name: 'limited',
    projects: [own.repositoryIdentifier],
  });
  await own.publish('core', {});
  await own.publish('web', { ApexClass: ['Moved'] });
  await other.publish('theirs', { ApexClass: ['Theirs'] });
  await other.events([detected('Hidden')]);
  await own.events([detected('Moved'), detected('Theirs'), detected('A')], { as: limited });
  const list = ({ repositoryIdentifier }: Json, status: number) =>
    app.as(limited).get(status, `/api/gc-ledger?${new URLSearchParams({ repositoryIdentifier })}`);
  const { items } = await list(own, 200);
  expect(items.map(({ fullName, status, movedTo, ownedBy }: Json) => [fullName, status, movedTo, ownedBy])).toEqual([
    ['A', 'detected', null, null],
    ['Moved', 'moved', 'web', null],
    // Whose it is, this token does not learn.
    ['Theirs', 'owned-elsewhere', null, null],
  ]);
  expect((await own.list({ status: 'owned-elsewhere' })).items[0].ownedBy).toBe(other.repositoryIdentifier);
  await list(other, 400);
  await other.events([detected('A')], { as: limited, status: 400 });
  await expect(other.list()).resolves.toMatchObject({ total: 1 });
});

test('a limited token publishes the manifests of its projects', async () => {
  const [own, other] = [await ledgerOf(app, 'acme/own'), await ledgerOf(app, 'acme/own:x')];
  const limited = await app
    .as(app.owner)
    .post(201, '/api/application-tokens', { name: 'publisher', projects: ['acme/own'] });
  const publish = (status: number, collection: string) =>
    app
      .as(limited)
      .post(status, `/api/doc-store/collections/${encodeURIComponent(collection)}/docs/core?store=packages`, {
        value: { payload: { Package: {} } },
      });
  await publish(201, `manifests/${own.repositoryIdentifier}:main`);
  await publish(201, `manifests/${own.repositoryIdentifier}:release/1`);
  await publish(403, `manifests/${other.repositoryIdentifier}:main`);
  await publish(403, `manifests/${own.repositoryIdentifier}`);
  await publish(403, 'manifests/acme/own2:main');
});

test('with its project, a ledger is gone', async () => {
  const ledger = await ledgerOf(app);
  await ledger.environment('uat');
  await ledger.events([detected('A')]);
  await ledger.check('uat', [{ ...dropped('A'), presence: 'present' }]);
  await app.as(app.owner).delete(204, `/api/projects/${encodeURIComponent(ledger.repositoryIdentifier)}`);
  for (const table of ['gc_entry', 'gc_event', 'gc_presence', 'gc_tally'])
    await expect(app.sql(`select from ${table} where project_id = ?`, [ledger.projectId])).resolves.toEqual([]);
});
