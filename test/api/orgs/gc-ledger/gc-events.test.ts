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

const trail = async (action: string, repositoryIdentifier: string) => {
  const query = new URLSearchParams({ action, repositoryIdentifier });
  return (await app.as(app.owner).get(200, `/api/audit?${query}`)).items as Json[];
};

test('events make entries, and a repeated one changes the time of the last event alone', async () => {
  const ledger = await ledgerOf(app);
  await ledger.events([detected('Old'), { type: 'moved', ...dropped('Gone') }]);
  const first = await ledger.list();
  expect(first).toMatchObject({ total: 2, limit: 100, offset: 0 });
  expect(first.items[0]).toEqual({
    repositoryIdentifier: ledger.repositoryIdentifier,
    branch: 'main',
    packageName: 'core',
    componentType: 'ApexClass',
    fullName: 'Gone',
    status: 'moved',
    movedTo: null,
    ownedBy: null,
    detectedAt: null,
    lastEventAt: expect.any(String),
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    history: [
      {
        at: expect.any(String),
        from: null,
        to: 'moved',
        cause: 'event',
        movedTo: null,
        environment: null,
        reason: null,
        by: expect.stringMatching(/^app:/),
      },
    ],
    presence: [],
  });
  await ledger.events([detected('Old'), detected('Old')]);
  const [gone, old] = (await ledger.list()).items;
  expect(gone).toEqual(first.items[0]);
  expect(old).toEqual({ ...first.items[1], lastEventAt: old.lastEventAt });
  expect(old.lastEventAt > first.items[1].lastEventAt).toBe(true);
});

test('of a component that comes twice in one request, the last event counts', async () => {
  const ledger = await ledgerOf(app);
  await ledger.events([{ type: 'moved', ...dropped('A') }, detected('A')]);
  await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass A': 'detected' });
});

test('open entries are derived from the manifests of the branch, the first that applies', async () => {
  const [ledger, other] = [await ledgerOf(app), await ledgerOf(app)];
  await ledger.publish('core', { ApexClass: ['InOwn'] });
  await ledger.publish('web', { ApexClass: ['InOwn', 'InWeb'] }, { destroys: { ApexClass: ['InWeb', 'Destroyed'] } });
  await ledger.publish('elsewhere', { ApexClass: ['OtherBranch'] }, { branch: 'next' });
  await other.publish('theirs', { ApexClass: ['Destroyed', 'Theirs', 'OnlyNext'] });
  await other.publish('theirs', { ApexClass: ['OnNext'] }, { branch: 'release/1' });
  const names = ['InOwn', 'InWeb', 'Destroyed', 'Theirs', 'OtherBranch', 'OnNext'];
  await ledger.events([...names.map((name) => detected(name)), detected('Theirs', { packageName: 'unpublished' })]);
  await expect(ledger.statuses()).resolves.toEqual({
    'core ApexClass InOwn': 'restored',
    'core ApexClass InWeb': 'moved',
    'core ApexClass Destroyed': 'handled',
    'core ApexClass Theirs': 'owned-elsewhere',
    'core ApexClass OtherBranch': 'detected',
    'core ApexClass OnNext': 'detected',
    // Without a manifest of its own, a package's entries are not derived.
    'unpublished ApexClass Theirs': 'detected',
  });
  const { items } = await ledger.list({ status: 'moved,owned-elsewhere' });
  expect(
    items.map(({ movedTo, ownedBy, history }: Json) => [movedTo, ownedBy, history.length, history[0].cause]),
  ).toEqual([
    ['web', null, 1, 'manifest'],
    [null, other.repositoryIdentifier, 1, 'manifest'],
  ]);
  // For this branch, or for the other repository's default one.
  await ledger.publish('core', {}, { branch: 'release/1' });
  await ledger.events([detected('OnNext'), detected('Theirs')], { branch: 'release/1' });
  await expect(ledger.statuses({ branch: 'release/1' })).resolves.toEqual({
    'core ApexClass OnNext': 'owned-elsewhere',
    'core ApexClass Theirs': 'owned-elsewhere',
  });
});

test('manifests that change later move open entries on, also without an event', async () => {
  const ledger = await ledgerOf(app);
  await ledger.publish('core', {});
  await ledger.events([detected('A'), detected('B')]);
  await ledger.publish('web', { ApexClass: 'A' });
  await ledger.events([]);
  await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass A': 'moved', 'core ApexClass B': 'detected' });
  // What has moved is still open.
  await ledger.publish('admin', { ApexClass: ['A'] });
  await ledger.events([]);
  expect((await ledger.list({ status: 'moved' })).items[0]).toMatchObject({
    movedTo: 'admin',
    history: [{ to: 'detected' }, { to: 'moved', movedTo: 'web' }, { to: 'moved', movedTo: 'admin' }],
  });
  await ledger.publish('core', { ApexClass: ['A'] });
  await ledger.events([]);
  await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass A': 'restored', 'core ApexClass B': 'detected' });
  // Closed entries stay as they are until they are dropped again.
  await ledger.publish('core', {});
  await ledger.events([]);
  expect((await ledger.statuses())['core ApexClass A']).toBe('restored');
  await ledger.unpublish('admin');
  await ledger.unpublish('web');
  await ledger.events([detected('A')]);
  expect((await ledger.statuses())['core ApexClass A']).toBe('detected');
});

test('an event that manifests undo at once leaves no trace but its time', async () => {
  const ledger = await ledgerOf(app);
  await ledger.publish('core', {}, { destroys: { ApexClass: ['A'] } });
  await ledger.events([detected('A')]);
  await ledger.events([detected('A')]);
  const [{ status, history, detectedAt }] = (await ledger.list()).items;
  expect([status, history.length, detectedAt]).toEqual(['handled', 1, null]);
});

test.each<[string, unknown, string]>([
  ['a lone type and a lone member', { Package: { types: { name: 'ApexClass', members: 'A' } } }, 'restored'],
  ['an empty list of types', { Package: { types: [] } }, 'detected'],
  ['no types', { Package: { version: '66.0' } }, 'detected'],
  ['types of an empty element', { Package: { types: '' } }, 'detected'],
  ['members of an empty element', { Package: { types: [{ name: 'ApexClass', members: '' }] } }, 'detected'],
  ['names in arrays', { Package: { types: [{ name: ['ApexClass'], members: ['A'] }] } }, 'restored'],
  [
    'a type that is listed twice',
    {
      Package: {
        types: [
          { name: 'ApexClass', members: 'B' },
          { name: 'ApexClass', members: ['A'] },
        ],
      },
    },
    'restored',
  ],
  ['a wildcard', { Package: { types: [{ name: 'ApexClass', members: '*' }] } }, 'restored'],
  ['a wildcard of another type', { Package: { types: [{ name: 'ApexTrigger', members: '*' }] } }, 'detected'],
  ['another case', { Package: { types: [{ name: 'ApexClass', members: ['a'] }] } }, 'detected'],
  ['an empty package of XML', { Package: '' }, 'unreadable'],
  ['a text', 'manifest', 'unreadable'],
  ['no package', {}, 'unreadable'],
  ['types that are texts', { Package: { types: ['ApexClass'] } }, 'unreadable'],
  ['types without a name', { Package: { types: [{ members: ['A'] }] } }, 'unreadable'],
  [
    'members that are objects',
    { Package: { types: [{ name: 'ApexClass', members: [{ fullName: 'A' }] }] } },
    'unreadable',
  ],
])('a manifest with %s', async (_, payload, expected) => {
  const ledger = await ledgerOf(app);
  await ledger.publishValue('core', { payload });
  await ledger.publish('web', {}, { destroys: { Flow: 'Z' } });
  await ledger.events([detected('A'), detected('Z', { componentType: 'Flow' })]);
  const isUnreadable = expected === 'unreadable';
  await expect(ledger.statuses()).resolves.toEqual({
    'core ApexClass A': isUnreadable ? 'detected' : expected,
    'core Flow Z': isUnreadable ? 'detected' : 'handled',
  });
  const [{ after }] = (await trail('gc.events_recorded', ledger.repositoryIdentifier)) as [Json];
  expect(after.unreadableManifests).toEqual(isUnreadable ? ['core'] : undefined);
});

test.each<[unknown, boolean]>([
  [undefined, true],
  [null, true],
  ['', true],
  [{}, true],
  [{ Package: '' }, true],
  [{ Package: { version: '66.0' } }, true],
  ['text', false],
  [[], false],
  [{ Package: { types: [1] } }, false],
])('destructive changes %j are readable: %s', async (destructiveChanges, isReadable) => {
  const ledger = await ledgerOf(app);
  await ledger.publishValue('core', {
    payload: { Package: { types: { name: 'ApexClass', members: 'A' } } },
    destructiveChanges,
  });
  await ledger.events([detected('A')]);
  await expect(ledger.statuses()).resolves.toEqual({ 'core ApexClass A': isReadable ? 'restored' : 'detected' });
});

test('wildcards cover neither standard objects nor contents of folders; objects take their children along', async () => {
  const ledger = await ledgerOf(app);
  await ledger.publish(
    'core',
    { CustomObject: ['*', 'Order'], Report: '*', CustomField: ['Kept__c.A__c'] },
    { destroys: { CustomObject: ['Old__c', '*'], ApexClass: '*' } },
  );
  const of = (componentType: string, fullName: string) => detected(fullName, { componentType });
  await ledger.events([
    of('CustomObject', 'Own__c'),
    of('CustomObject', 'Account'),
    of('CustomObject', 'Order'),
    of('Report', 'Sales/Pipeline'),
    of('CustomField', 'Kept__c.A__c'),
    of('CustomField', 'Order.Region__c'),
    of('CustomField', 'Old__c.Total__c'),
    of('Layout', 'Old__c-Old Layout'),
    of('ApexClass', 'A'),
  ]);
  await expect(ledger.statuses()).resolves.toEqual({
    'core CustomObject Own__c': 'restored',
    'core CustomObject Account': 'detected',
    'core CustomObject Order': 'restored',
    'core Report Sales/Pipeline': 'detected',
    'core CustomField Kept__c.A__c': 'restored',
    'core CustomField Order.Region__c': 'detected',
    'core CustomField Old__c.Total__c': 'handled',
    'core Layout Old__c-Old Layout': 'detected',
    'core ApexClass A': 'detected',
  });
});

test('a wildcard of another repository owns nothing by itself', async () => {
  const [ledger, other] = [await ledgerOf(app), await ledgerOf(app)];
  await other.publish('all', { ApexClass: ['*', 'Named'] });
  await ledger.publish('core', {});
  await ledger.publish('web', { ApexTrigger: '*' });
  await ledger.events([detected('A'), detected('Named'), detected('T', { componentType: 'ApexTrigger' })]);
  await expect(ledger.statuses()).resolves.toEqual({
    'core ApexClass A': 'detected',
    'core ApexClass Named': 'owned-elsewhere',
    'core ApexTrigger T': 'moved',
  });
});

test('the trail has one entry with counts per request that did something', async () => {
  const ledger = await ledgerOf(app);
  await ledger.publish('core', { ApexClass: ['A'] });
  await ledger.events([]);
  await ledger.events([detected('A'), detected('B'), detected('B')]);
  await ledger.events([]);
  expect(await trail('gc.events_recorded', ledger.repositoryIdentifier)).toMatchObject([
    {
      source: 'crm',
      entityType: 'gc_ledger',
      after: { branch: 'main', events: 3, components: 2, changes: { detected: 1, restored: 1 } },
    },
  ]);
});

test('one webhook event per package and request, with at most 100 names', async () => {
  const ledger = await ledgerOf(app);
  const { id } = await app.as(app.owner).post(201, '/api/webhooks', {
    name: 'gc',
    event: 'gc.detected',
    config: { url: 'http://127.0.0.1:9/' },
  });
  const many = Array.from({ length: 150 }, (_, n) => detected(`C${String(n).padStart(3, '0')}`));
  await ledger.events([...many, detected('W', { packageName: 'web' })]);
  await ledger.events(many);
  const rows = await app.sql<{ data: Json }>(
    'select payload as data from webhook_delivery where webhook_id = ? order by id',
    [id],
  );
  expect(rows).toHaveLength(2);
  expect(rows[0]?.data).toMatchObject({
    repositoryIdentifier: ledger.repositoryIdentifier,
    branch: 'main',
    packageName: 'core',
    status: 'detected',
    count: 150,
  });
  expect(rows[0]?.data.components).toHaveLength(100);
  expect(rows[0]?.data.components[99]).toEqual({ componentType: 'ApexClass', fullName: 'C099' });
  expect(rows[1]?.data).toMatchObject({ packageName: 'web', count: 1 });
});

test('what is refused', async () => {
  const ledger = await ledgerOf(app);
  const { repositoryIdentifier } = ledger;
  const send = (status: number, body: object, as = app.application) =>
    app.as(as).post(status, '/api/gc-ledger/events', { repositoryIdentifier, branch: 'main', events: [], ...body });
  await send(204, {});
  await send(403, {}, app.member);
  await send(400, { repositoryIdentifier: 'acme/nobody' });
  await send(400, {}, app.strangerApplication);
  for (const branch of ['', 'a:b', 'a\nb', 'x'.repeat(256), undefined]) await send(400, { branch });
  await send(400, { events: undefined });
  for (const event of [
    { ...detected('A'), type: 'handled' },
    detected(''),
    detected('a\u0001'),
    detected('a\0'),
    detected('a'.repeat(501)),
    detected('A', { packageName: undefined }),
    detected('A', { more: 1 }),
  ])
    await send(400, { events: [event] });
  await send(400, { events: Array.from({ length: 10_001 }, (_, n) => detected(`C${n}`)) });
  await expect(ledger.list()).resolves.toMatchObject({ total: 0 });
});

test('10,000 events with any names, in one request and again', async () => {
  const ledger = await ledgerOf(app);
  const names = Array.from({ length: 9_995 }, (_, n) => `zC${n}`);
  const odd = [`O'Brien"; drop table gc_entry; --`, '<&>"\'', '日本語 {x} \\', '$1 ? :x', '"],["'];
  await ledger.publish('core', { ApexClass: [...names.slice(0, 5_000), ...odd.slice(0, 4)] });
  for (let again = 0; again < 2; again++) await ledger.events([...names, ...odd].map((name) => detected(name)));
  await expect(ledger.list({ limit: '1' })).resolves.toMatchObject({ total: 10_000 });
  await expect(ledger.list({ limit: '1', status: 'restored' })).resolves.toMatchObject({ total: 5_004 });
  expect((await ledger.list({ limit: '500', status: 'restored' })).items.map(({ fullName }: Json) => fullName)).toEqual(
    expect.arrayContaining(odd.slice(0, 2)),
  );
});

test('two requests of one branch at the same time, and repeats, end as one', async () => {
  const ledger = await ledgerOf(app);
  await ledger.publish('core', { ApexClass: ['C1', 'C3'] });
  const events = Array.from({ length: 50 }, (_, n) => detected(`C${n}`));
  await Promise.all(Array.from({ length: 6 }, (_, n) => ledger.events(n % 2 ? events : events.toReversed())));
  const { items, total } = await ledger.list();
  expect(total).toBe(50);
  expect(items.map(({ history }: Json) => history.length)).toEqual(items.map(() => 1));
  expect(items.filter(({ status }: Json) => status === 'restored')).toHaveLength(2);
});
