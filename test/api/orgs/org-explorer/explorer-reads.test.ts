import type { CrmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { TestApp } from '../../../support/app.ts';
import type { ApiClient, Json } from '../../../support/client.ts';
import {
  classFile,
  classOf,
  type ExploredOrg,
  exploredOrg,
  EXPLORER,
  queryOf,
  reported,
  syncReported,
  withExplorer,
} from '../../../support/explorer.ts';

let crm: CrmSimulator;
let app: TestApp;
let owner: ApiClient;
let worker: ApiClient;
withExplorer((started) => {
  ({ crm, app, owner, reporter: worker } = started);
});

const list = ({ orgUsername }: ExploredOrg, more: Record<string, string> = {}) =>
  owner.get(200, `${EXPLORER}/components/list${queryOf({ orgUsername, ...more })}`);
const metadata = ({ place }: ExploredOrg) => owner.get(200, `${EXPLORER}/metadata${queryOf(place)}`);
const requests = ({ orgUsername }: ExploredOrg) =>
  app.sql<{ metadata_types: string[] | null }>(
    `select s.metadata_types from org_sync s join crm_org o on o.id = s.org_id
     where o.username = ? and s.source = 'refresh'`,
    [orgUsername],
  );
/** A refresh of the service; what it did is in rows that the test writes. */
const addSync = ({ orgUsername }: ExploredOrg, more: { status: string; failedTypes?: object[]; beganAgo?: string }) =>
  app.sql(
    `insert into org_sync (id, tenant_id, org_id, platform_org_id, source, status, requested_by, failed_types, message, created_at)
     select gen_random_uuid(), tenant_id, id, platform_org_id, 'refresh', ?, 'ada@acme.example', ?::jsonb, 'it broke',
       now() - ?::interval from crm_org where username = ?`,
    [more.status, JSON.stringify(more.failedTypes ?? []), more.beganAgo ?? '0', orgUsername],
  );
/** Names on all pages of a list, one entry a page. */
async function allPages(path: string): Promise<string[]> {
  const found: string[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const { text, headers } = await owner.request(200, 'GET', next);
    const { items } = JSON.parse(text) as { items: { memberName: string }[] };
    found.push(...items.map(({ memberName }) => memberName));
    next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  return found;
}

test('a list of a type that nobody has read is pending and asks for that type; that of one that was read is not', async () => {
  const org = await exploredOrg(app, crm);
  await syncReported(worker, org, { typeNames: ['Flow'] });
  expect(await list(org, { metadataType: 'Flow' })).toMatchObject({
    status: 'available',
    data: { items: [], total: 0 },
  });
  expect(await list(org)).toMatchObject({ status: 'available' });
  expect(await requests(org)).toEqual([]);
  expect(await list(org, { metadataType: 'ApexClass' })).toMatchObject({
    status: 'pending',
    jobId: expect.any(String),
    data: { items: [], total: 0 },
  });
  expect(await requests(org)).toEqual([{ metadata_types: ['ApexClass'] }]);
});

test('a list of a type whose listing failed says so; another one without components is empty', async () => {
  const org = await exploredOrg(app, crm);
  const failedTypes = [{ metadataType: 'ApexClass', error: 'ApexClass cannot be listed' }];
  await addSync(org, { status: 'succeeded', failedTypes });
  const failed = { status: 'error', message: 'ApexClass cannot be listed' };
  expect(await list(org, { metadataType: 'ApexClass' })).toMatchObject({ ...failed, data: { items: [] } });
  const one = queryOf({ ...org.place, metadataType: 'ApexClass', memberName: 'A' });
  expect(await owner.get(200, `${EXPLORER}/components${one}`)).toMatchObject(failed);
  expect(await list(org, { metadataType: 'Flow' })).toMatchObject({ status: 'available', data: { items: [] } });

  await reported(worker, org, classOf('A', classFile('A', '1')));
  await syncReported(worker, org, { typeNames: [], failedTypes });
  expect(await list(org, { metadataType: 'ApexClass' })).toMatchObject({ ...failed, data: { total: 1 } });
});

test('a search that finds nothing, and the end of a list, ask for no refresh', async () => {
  const org = await exploredOrg(app, crm);
  await reported(worker, org, classOf('A', classFile('A', '1')));
  expect(await list(org, { search: 'zzz' })).toMatchObject({ status: 'available', data: { items: [], total: 0 } });
  const { headers } = await owner.request(
    200,
    'GET',
    `${EXPLORER}/components/list${queryOf({ orgUsername: org.orgUsername, limit: 1 })}`,
  );
  const next = /<([^>]+)>/.exec(headers.get('link') ?? '')?.[1] ?? '';
  expect(await owner.get(200, next)).toMatchObject({ status: 'available', data: { items: [], total: 1 } });
  expect(await requests(org)).toEqual([]);
});

test('of syncs that overlap, the one that ended last says how reads answer', async () => {
  const org = await exploredOrg(app, crm);
  await addSync(org, { status: 'running', beganAgo: '10 minutes' });
  await reported(worker, org, classOf('A', classFile('A', '1')));
  await syncReported(worker, org, { syncedAt: new Date(Date.now() + 60_000).toISOString(), duration: 120_000 });
  await app.sql(
    `update org_sync s set status = 'failed', finished_at = now(), updated_at = now() from crm_org o
     where o.id = s.org_id and o.username = ? and s.status = 'running'`,
    [org.orgUsername],
  );
  expect(await metadata(org)).toMatchObject({
    status: 'error',
    message: 'it broke',
    data: { lastSync: { status: 'failed', source: 'refresh' } },
  });
  await syncReported(worker, org, { duration: 120_000 });
  expect(await metadata(org)).toMatchObject({ status: 'available', data: { lastSync: { source: 'ingest' } } });
});

test('an unknown repository is a wrong request', async () => {
  const org = await exploredOrg(app, crm);
  const place = { ...org.place, repositoryIdentifier: 'acme/none' };
  for (const path of [
    `metadata${queryOf(place)}`,
    `components${queryOf({ ...place, metadataType: 'ApexClass', memberName: 'A' })}`,
    `unpackaged${queryOf({ ...place, branch: 'main' })}`,
  ])
    expect((await owner.get(400, `${EXPLORER}/${path}`)).errors[0].pointer).toBe('#/query/repositoryIdentifier');
});

test('changes are those since a time, and every list of drift leads on to its next page', async () => {
  const [left, right] = [await exploredOrg(app, crm), await exploredOrg(app, crm)];
  const classes = ['A', 'B', 'C', 'D'];
  await reported(worker, left, ...classes.map((name) => classOf(name, classFile(name, '1'))));
  await syncReported(worker, left, { duration: 60_000 });
  for (const name of ['A', 'B']) await reported(worker, left, classOf(name, classFile(name, '2')));
  await app.sql(`update org_component_change set detected_at = detected_at - interval '1 hour'`);
  // Several of one moment.
  const changed = ['B', 'C', 'D'].map((name) => classOf(name, classFile(name, '3')));
  await reported(worker, left, ...changed);
  const since = new Date(Date.now() - 60_000).toISOString();
  const changes = (more: object) =>
    `${EXPLORER}/changes${queryOf({ orgUsername: left.orgUsername, limit: 1, ...more })}`;
  const recent = await allPages(changes({ since }));
  expect(recent.toSorted()).toEqual(['B', 'C', 'D']);
  expect(await allPages(changes({}))).toEqual([...recent, 'B', 'A']);
  expect(await allPages(changes({ since, metadataType: 'Flow' }))).toEqual([]);

  await reported(worker, right, classOf('C', classFile('C', '3')), classOf('E', classFile('E', '1')));
  await syncReported(worker, right, { duration: 60_000 });
  const compare = queryOf({ left: left.orgUsername, right: right.orgUsername, limit: 1 });
  expect(await allPages(`${EXPLORER}/compare${compare}`)).toEqual(['A', 'B', 'D', 'E']);

  await owner.post(
    201,
    `/api/doc-store/collections/${encodeURIComponent(`manifests/${left.repositoryIdentifier}:main`)}/docs/core?store=packages`,
    { value: { payload: { Package: { types: { name: 'ApexClass', members: ['B'] } } } } as Json },
  );
  const unpackaged = queryOf({ ...left.place, branch: 'main', limit: 1 });
  expect(await allPages(`${EXPLORER}/unpackaged${unpackaged}`)).toEqual(['A', 'C', 'D']);
});

const publish = ({ repositoryIdentifier }: ExploredOrg, types: object) =>
  owner.post(
    201,
    `/api/doc-store/collections/${encodeURIComponent(`manifests/${repositoryIdentifier}:main`)}/docs/core?store=packages`,
    { value: { payload: { Package: { types } } } as Json },
  );
const compared = (left: ExploredOrg, right: ExploredOrg, more: object = {}) =>
  owner.get(200, `${EXPLORER}/compare${queryOf({ left: left.orgUsername, right: right.orgUsername, ...more })}`);
const unpackagedOf = ({ place }: ExploredOrg, more: object = {}) =>
  owner.get(200, `${EXPLORER}/unpackaged${queryOf({ ...place, branch: 'main', ...more })}`);

test('nothing is said to differ or to be in no package while a side has not been read, and it is read then', async () => {
  const [left, right] = [await exploredOrg(app, crm), await exploredOrg(app, crm)];
  await reported(worker, left, classOf('A', classFile('A', '1')));
  await syncReported(worker, left, { duration: 60_000 });
  expect(await compared(left, right)).toMatchObject({
    status: 'pending',
    message: expect.stringContaining(right.orgUsername),
    left: { status: 'available', syncedAt: expect.any(String), isComplete: false, failedTypes: [] },
    right: { orgUsername: right.orgUsername, status: 'pending', syncedAt: null, isComplete: false },
    items: null,
  });
  expect(await requests(right)).toEqual([{ metadata_types: null }]);
  await publish(right, [{ name: 'ApexClass', members: ['A'] }]);
  expect(await unpackagedOf(right)).toMatchObject({ status: 'pending', org: { status: 'pending' }, items: null });

  // The first sync has listed some types.
  await app.sql(`update org_sync set status = 'running' where status = 'requested'`);
  await reported(worker, right, classOf('A', classFile('A', '1')));
  await app.sql(
    `insert into org_component_type (tenant_id, org_id, platform_org_id, metadata_type, description)
     select tenant_id, id, platform_org_id, 'Layout', '{}'::jsonb from crm_org where username = ?`,
    [right.orgUsername],
  );
  await syncReported(worker, right, { duration: 60_000 });
  for (const read of [await compared(left, right), await unpackagedOf(right)])
    expect(read).toMatchObject({ status: 'pending', items: null });
  expect(await list(right)).toMatchObject({ status: 'pending', isComplete: false, unreadTypes: ['Layout'] });
  expect((await metadata(right)).data.types).toMatchObject([
    { metadataType: 'ApexClass', count: 1 },
    { metadataType: 'Layout', count: null, syncedAt: null },
  ]);

  await app.sql(
    `update org_sync set status = 'failed', message = 'it broke', updated_at = now() where status = 'running'`,
  );
  for (const read of [await compared(left, right), await unpackagedOf(right)])
    expect(read).toMatchObject({ status: 'error', message: `${right.orgUsername}: it broke`, items: null });
});

test('a type that one org could not list is left out of the difference and named', async () => {
  const [left, right] = [await exploredOrg(app, crm), await exploredOrg(app, crm)];
  const layout = { ...classOf('Account-Account Layout'), metadataType: 'Layout' };
  await reported(worker, left, classOf('A', classFile('A', '1')), layout);
  await syncReported(worker, left, { typeNames: ['ApexClass', 'Layout'], duration: 60_000 });
  await reported(worker, right, classOf('B', classFile('B', '1')));
  const failedTypes = [{ metadataType: 'Layout', error: 'INVALID_TYPE' }];
  await syncReported(worker, right, { failedTypes, duration: 60_000 });
  const { items, ...said } = await compared(left, right);
  expect(said).toMatchObject({
    status: 'available',
    right: { failedTypes, isComplete: false },
    notCompared: [{ metadataType: 'Layout', side: 'right', reason: 'failed' }],
  });
  expect(items.map(({ memberName }: Json) => memberName)).toEqual(['A', 'B']);
  expect(await compared(left, right, { metadataType: 'Layout' })).toMatchObject({ status: 'error', items: null });
});

test('a source that is not kept as it is now is neither equal nor different', async () => {
  const [left, right] = [await exploredOrg(app, crm), await exploredOrg(app, crm)];
  for (const org of [left, right]) {
    await reported(worker, org, ...['A', 'B', 'C'].map((name) => classOf(name, classFile(name, '1'))));
    await syncReported(worker, org, { duration: 60_000 });
  }
  const ofRight = `org_id = (select id from crm_org where username = '${right.orgUsername}')`;
  await app.sql(`update org_component set content_hash = null where member_name = 'A' and ${ofRight}`);
  await app.sql(`update org_component set is_due = true where member_name = 'B' and ${ofRight}`);
  const { items, right: side } = await compared(left, right);
  expect(items.map((item: Json) => `${item.memberName} ${item.difference}`)).toEqual(['A unknown', 'B unknown']);
  expect(side.isComplete).toBe(false);
  expect((await compared(left, right, { difference: 'different' })).items).toEqual([]);
});

test('what is in no package knows names in each spelling, standard objects, folders and broken manifests', async () => {
  const org = await exploredOrg(app, crm);
  const names = {
    Layout: ['Market__c-Market %28EU%29 Layout', 'Market__c-100%', 'Market__c-M%C3%84RKTE'],
    CustomObject: ['Contact', 'Market__c', 'Stall__c'],
    CustomField: ['Contact.Email', 'Contact.Region__c'],
    ReportFolder: ['Sales', 'Other'],
  };
  for (const [metadataType, members] of Object.entries(names))
    await reported(worker, org, ...members.map((memberName) => ({ metadataType, memberName, sourceData: [] })));
  await syncReported(worker, org, { typeNames: Object.keys(names), duration: 60_000 });
  await publish(org, [
    { name: 'Layout', members: ['Market__c-Market (EU) Layout', 'market__c-100%', 'Market__c-Märkte'] },
    { name: 'CustomObject', members: ['Market__c'] },
    { name: 'Report', members: ['Sales'] },
  ]);
  const { status, items } = await unpackagedOf(org);
  expect(status).toBe('available');
  expect(items.map((item: Json) => `${item.metadataType} ${item.memberName}`)).toEqual([
    'CustomField Contact.Region__c',
    'CustomObject Stall__c',
    'ReportFolder Other',
  ]);
  await owner.post(
    201,
    `/api/doc-store/collections/${encodeURIComponent(`manifests/${org.repositoryIdentifier}:main`)}/docs/web?store=packages`,
    { value: { payload: { Package: 'broken' } } as Json },
  );
  expect(await unpackagedOf(org)).toMatchObject({ status: 'error', unreadableManifests: ['web'], items: null });
});

test('of a deleted component it is not said who deleted it', async () => {
  const org = await exploredOrg(app, crm);
  await reported(worker, org, classOf('A', classFile('A', '1')));
  await syncReported(worker, org, { duration: 60_000 });
  await app.sql(`update org_component set last_modified_by = 'Ada Admin' where member_name = 'A'`);
  await app.sql(`update org_component set seen_at = now() - interval '1 day' where member_name = 'A'`);
  await syncReported(worker, org);
  const { items } = await owner.get(200, `${EXPLORER}/changes${queryOf({ orgUsername: org.orgUsername })}`);
  expect(items).toMatchObject([{ memberName: 'A', change: 'deleted', modifiedBy: null }]);
});
