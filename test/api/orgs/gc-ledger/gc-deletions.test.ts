import { buffer } from 'node:stream/consumers';
import { SaxesParser } from 'saxes';
import yauzl from 'yauzl';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { detected, dropped, type Ledger, ledgerOf } from '../../../support/gc-ledger.ts';
import { idleEngine } from '../../../support/launch.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
// What one test's repositories hold is not to keep anything of another.
afterEach(() => app.sql('delete from document'));
afterAll(() => app.close());

const pathOf = ({ repositoryIdentifier }: Ledger, query: Record<string, string> = {}) =>
  `/api/gc-ledger/destructive-changes?${new URLSearchParams({ repositoryIdentifier, branch: 'main', ...query })}`;

const get = (ledger: Ledger, query: Record<string, string> = {}, status = 200) =>
  app.as(app.member).get(status, pathOf(ledger, query));

/** A file as it came, byte by byte. */
const download = async (ledger: Ledger, query: Record<string, string>) => {
  const reply = await fetch(app.url + pathOf(ledger, query), {
    headers: { authorization: `Bearer ${app.member.token}` },
  });
  expect(reply.status).toBe(200);
  return { headers: reply.headers, bytes: Buffer.from(await reply.arrayBuffer()) };
};

/** Types with their members, of well-formed XML. */
function parsed(xml: string): { types: Record<string, string[]>; version: string } {
  const types: Record<string, string[]> = {};
  let [members, text, version]: [string[], string, string] = [[], '', ''];
  const parser = new SaxesParser();
  parser.on('opentag', () => (text = ''));
  parser.on('text', (piece) => (text += piece));
  parser.on('closetag', ({ name }) => {
    if (name === 'members') members.push(text);
    if (name === 'version') version = text;
    if (name === 'name') [types[text], members] = [members, []];
  });
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(xml).close();
  return { types, version };
}

async function unzipped(bytes: Buffer): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const zip = await yauzl.fromBufferPromise(bytes, { strictFileNames: true });
  for await (const entry of zip.eachEntry())
    files[entry.fileName] = (await buffer(await zip.openReadStreamPromise(entry))).toString();
  return files;
}

/** Members by type, and the reasons of what is not deleted. */
async function split(ledger: Ledger, query: Record<string, string> = {}) {
  const { Package, notDeletable } = await get(ledger, query);
  return {
    deleted: Package.types.flatMap(({ name, members }: Json) => members.map((member: string) => `${name} ${member}`)),
    kept: Object.fromEntries(
      notDeletable.map(({ componentType, fullName, reason }: Json) => [`${componentType} ${fullName}`, reason]),
    ),
  };
}

const ODD = [`a"b'c`, '<script>&amp;]]>', '--><!--', '日本語'];

test('detected components alone, each once and sorted, as JSON, XML and zip', async () => {
  const ledger = await ledgerOf(app);
  await ledger.publish('core', { ApexClass: ['Restored'] });
  await ledger.events([
    ...ODD.map((name) => detected(name)),
    detected('B'),
    detected('A'),
    detected('A', { packageName: 'web' }),
    detected('Restored'),
    detected('Dismissed'),
    { type: 'moved', ...dropped('Moved') },
    detected('Account.Region__c', { componentType: 'CustomField' }),
  ]);
  await ledger.decide('dismiss', dropped('Dismissed'));
  await ledger.events([detected('Other')], { branch: 'next' });
  const members = [...ODD, 'A', 'B'].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const types = { ApexClass: members, CustomField: ['Account.Region__c'] };
  await expect(get(ledger)).resolves.toEqual({
    Package: { types: Object.entries(types).map(([name, ofType]) => ({ name, members: ofType })), version: '66.0' },
    notDeletable: [],
    total: 7,
    unreadableManifests: [],
    unreadableElsewhere: 0,
  });
  const xml = await download(ledger, { format: 'xml', version: '67.0' });
  expect(xml.headers.get('content-type')).toMatch(/^application\/xml/);
  expect(parsed(xml.bytes.toString())).toEqual({ types, version: '67.0' });
  const zip = await download(ledger, { format: 'zip' });
  expect(zip.headers.get('content-disposition')).toBe('attachment; filename="destructiveChanges.zip"');
  const files = await unzipped(zip.bytes);
  expect(Object.keys(files)).toEqual(['package.xml', 'destructiveChanges.xml']);
  expect(parsed(files['package.xml'] ?? '')).toEqual({ types: {}, version: '66.0' });
  expect(parsed(files['destructiveChanges.xml'] ?? '')).toEqual({ types, version: '66.0' });
});

test('what no manifest can delete is named, and left out', async () => {
  const ledger = await ledgerOf(app);
  const of = (componentType: string, fullName: string) => detected(fullName, { componentType });
  await ledger.events([
    of('RecordType', 'Case.Support'),
    of('CustomObject', 'Account'),
    of('CustomObject', 'Invoice__c'),
    of('CustomField', 'Account.Name'),
    of('CustomField', 'Invoice__c.Total__c'),
    of('CustomField', 'Activity.x__Note__c'),
    of('Translations', 'de'),
    of('Flow', 'Checkout'),
    of('Flow', 'Checkout-2'),
    of('FlowDefinition', 'Checkout'),
    of('ApexClass', '*'),
    of('constructor', 'toString'),
  ]);
  const { Package, notDeletable, total } = await get(ledger);
  expect(Package.types).toEqual([
    { name: 'CustomField', members: ['Activity.x__Note__c', 'Invoice__c.Total__c'] },
    { name: 'CustomObject', members: ['Invoice__c'] },
    { name: 'Flow', members: ['Checkout-2'] },
    { name: 'constructor', members: ['toString'] },
  ]);
  expect(
    notDeletable.map(({ componentType, fullName }: Record<string, string>) => `${componentType} ${fullName}`),
  ).toEqual([
    'ApexClass *',
    'CustomField Account.Name',
    'CustomObject Account',
    'Flow Checkout',
    'FlowDefinition Checkout',
    'RecordType Case.Support',
    'Translations de',
  ]);
  for (const { reason } of notDeletable) expect(reason).toMatch(/^[A-Z].{20,}/);
  expect(total).toBe(12);
});

test('what a manifest holds is kept, though its entry was not derived from it', async () => {
  const [ledger, other] = [await ledgerOf(app), await ledgerOf(app)];
  const field = (fullName: string) => detected(fullName, { componentType: 'CustomField' });
  await ledger.publish('web', { ApexClass: ['Shipped'], CustomField: '*' });
  await other.publish('theirs', { ApexClass: ['Theirs'] });
  await ledger.publish('late', {});
  await ledger.events([
    ...['SHIPPED', 'Theirs', 'Free'].map((name) => detected(name)),
    detected('Late', { packageName: 'late' }),
    field('Order__c.Total__c'),
  ]);
  expect((await ledger.statuses())['late ApexClass Late']).toBe('detected');
  // It is back, and nobody has reported anything since.
  await ledger.publish('late', { ApexClass: ['Late'] });
  await expect(split(ledger)).resolves.toEqual({
    deleted: ['ApexClass Free'],
    kept: {
      'ApexClass Late': 'It is in the manifest of package late',
      'ApexClass SHIPPED': 'It is in the manifest of package web',
      'ApexClass Theirs': `It is in a manifest of ${other.repositoryIdentifier}`,
      'CustomField Order__c.Total__c': 'It is in the manifest of package web',
    },
  });
  for (const format of ['xml', 'zip']) {
    const { bytes } = await download(ledger, { format });
    const xml = format === 'xml' ? bytes.toString() : (await unzipped(bytes))['destructiveChanges.xml'];
    expect(parsed(xml ?? '').types).toEqual({ ApexClass: ['Free'] });
  }
});

test('a limited token is not told which repository holds a component that it does not reach', async () => {
  const [ledger, other] = [await ledgerOf(app), await ledgerOf(app)];
  await other.publish('theirs', { ApexClass: ['Theirs'] });
  await other.publishValue('broken', { payload: 'unreadable' });
  await ledger.events([detected('Theirs')]);
  const limited = await app.as(app.owner).post(201, '/api/application-tokens', {
    name: 'limited',
    projects: [ledger.repositoryIdentifier],
  });
  const reply = await app.as(limited).get(200, pathOf(ledger));
  expect(reply).toMatchObject({
    Package: { types: [] },
    notDeletable: [{ reason: 'It is in a manifest of another repository' }],
    unreadableElsewhere: 1,
  });
});

test('what was dismissed for one package is not deleted for another', async () => {
  const ledger = await ledgerOf(app);
  await ledger.events([detected('A'), detected('A', { packageName: 'web' }), detected('B')]);
  await ledger.decide('dismiss', dropped('A'));
  await expect(split(ledger)).resolves.toEqual({
    deleted: ['ApexClass B'],
    kept: { 'ApexClass A': 'It was dismissed for package core' },
  });
});

test('an object is kept with what would go together with it', async () => {
  const ledger = await ledgerOf(app);
  const of = (componentType: string, fullName: string) => detected(fullName, { componentType });
  await ledger.publish('web', {
    CustomField: ['Invoice__c.Total__c'],
    Layout: ['Order__c-Order Layout'],
    CustomMetadata: ['Rate.Default'],
    ListView: '*',
    ApexClass: ['Free__c_Test'],
  });
  const objects = ['Invoice__c', 'Order__c', 'Rate__mdt', 'Listed__c', 'Dismissed__c', 'Free__c'];
  await ledger.events([
    ...objects.map((name) => of('CustomObject', name)),
    of('ListView', 'Listed__c.All'),
    of('CustomField', 'Dismissed__c.Kept__c'),
  ]);
  await ledger.decide('dismiss', dropped('Dismissed__c.Kept__c', { componentType: 'CustomField' }));
  await expect(split(ledger)).resolves.toEqual({
    deleted: ['CustomObject Free__c'],
    kept: {
      'CustomObject Dismissed__c': 'Its part CustomField Dismissed__c.Kept__c was dismissed for package core',
      'CustomObject Invoice__c': 'Its part CustomField Invoice__c.Total__c is in the manifest of package web',
      'CustomObject Listed__c': 'Its part ListView Listed__c.All is in the manifest of package web',
      'CustomObject Order__c': 'Its part Layout Order__c-Order Layout is in the manifest of package web',
      'CustomObject Rate__mdt': 'Its part CustomMetadata Rate.Default is in the manifest of package web',
      'ListView Listed__c.All': 'It is in the manifest of package web',
    },
  });
});

test('nothing is deleted while a manifest of the branch cannot be read', async () => {
  const ledger = await ledgerOf(app);
  await ledger.publish('core', {});
  await ledger.events([detected('A')]);
  await ledger.publishValue('web', { payload: 'unreadable' });
  await expect(get(ledger)).resolves.toMatchObject({
    Package: { types: [] },
    notDeletable: [{ fullName: 'A', reason: expect.stringContaining('package web cannot be read') }],
    unreadableManifests: ['web'],
  });
  await ledger.publish('web', {});
  await expect(split(ledger)).resolves.toEqual({ deleted: ['ApexClass A'], kept: {} });
});

test('of an environment, what is absent there, or may be, is left out while that counts', async () => {
  const ledger = await ledgerOf(app);
  await ledger.environment('uat');
  await ledger.environment('production', { category: 'release' });
  await ledger.events(['Absent', 'Present', 'Unknown', 'Unasked'].map((name) => detected(name)));
  await ledger.check('uat', [
    { ...dropped('Absent'), presence: 'absent' },
    { ...dropped('Present'), presence: 'present' },
    { ...dropped('Unknown'), presence: 'unknown' },
  ]);
  const members = async (query: Record<string, string>) => (await get(ledger, query)).Package.types[0].members;
  await expect(members({ environment: 'uat' })).resolves.toEqual(['Present', 'Unasked']);
  expect((await get(ledger, { environment: 'uat' })).notDeletable).toEqual([
    { componentType: 'ApexClass', fullName: 'Unknown', reason: expect.stringContaining('did not say') },
  ]);
  await expect(members({ environment: 'production' })).resolves.toHaveLength(4);
  await expect(members({})).resolves.toHaveLength(4);
  await app.sql("update gc_presence set checked_at = checked_at - interval '7 days' where project_id = ?", [
    ledger.projectId,
  ]);
  await expect(members({ environment: 'uat' })).resolves.toHaveLength(4);
});

test('names are compared as they are read, and written as the org lists them', async () => {
  const ledger = await ledgerOf(app);
  const layout = (fullName: string) => detected(fullName, { componentType: 'Layout' });
  await ledger.environment('production', { category: 'release' });
  await ledger.publish('web', { Layout: ['Market__c-Kept (EU)'] });
  await ledger.events([layout('Market__c-Kept %28EU%29'), layout('Market__c-Market (EU) Layout'), layout('A (1)')]);
  await app.sql(
    `with org as (
       insert into crm_org (id, tenant_id, username, kind, platform_org_id, instance_url, organization_type)
       values (gen_random_uuid(), ?, 'production@acme.example.com', 'production', '00D000000000001EAA',
         'https://acme.example.com', 'Enterprise Edition') returning id, tenant_id, platform_org_id)
     insert into org_component (id, tenant_id, org_id, platform_org_id, metadata_type, member_name)
     select gen_random_uuid(), tenant_id, id, platform_org_id, 'Layout', 'Market__c-Market %28EU%29 Layout' from org`,
    [app.tenant.id],
  );
  await expect(split(ledger, { environment: 'production' })).resolves.toEqual({
    deleted: ['Layout A (1)', 'Layout Market__c-Market %28EU%29 Layout'],
    kept: { 'Layout Market__c-Kept %28EU%29': 'It is in the manifest of package web' },
  });
});

test('what is refused', async () => {
  const ledger = await ledgerOf(app);
  await expect(get(ledger)).resolves.toEqual({
    Package: { types: [], version: '66.0' },
    notDeletable: [],
    total: 0,
    unreadableManifests: [],
    unreadableElsewhere: 0,
  });
  for (const query of [
    { format: 'yaml' },
    { version: '6' },
    { version: '66.0</version>' },
    { branch: '' },
    { branch: 'a:b' },
  ])
    await get(ledger, query, 400);
  await get(ledger, { environment: 'nowhere' }, 404);
  await app.as(app.stranger).get(400, pathOf(ledger));
});

test('at most 10,000 at once', async () => {
  const ledger = await ledgerOf(app);
  const names = Array.from({ length: 10_000 }, (_, n) => `C${String(n).padStart(5, '0')}`);
  await ledger.events(names.map((name) => detected(name)));
  await ledger.events([detected('Z')]);
  const { Package, total } = await get(ledger);
  expect([Package.types[0].members.length, total]).toEqual([10_000, 10_001]);
});
