import { asyncLocalStorage, type Context } from '@temporalio/activity';
import type { WorkerBackend } from '../../../../activities/backend.ts';
import {
  createOrgExplorerActivities,
  type OrgExplorerActivities,
} from '../../../../activities/orgs/org-explorer/org-explorer.activities.ts';
import type { RefreshJob } from '../../../../activities/orgs/org-explorer/refresh-scope.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { type ExploredOrg, exploredOrg, EXPLORER, queryOf } from '../../../support/explorer.ts';
import { idleEngine } from '../../../support/launch.ts';

let crm: CrmSimulator;
let app: TestApp;
let backend: WorkerBackend;
let activities: OrgExplorerActivities;
beforeAll(async () => {
  crm = await crmSimulator([]);
  app = await testApp({ launch: idleEngine });
  backend = activityDeps(app);
  activities = createOrgExplorerActivities(backend.deps);
});
afterAll(async () => {
  await backend.close();
  await app.close();
  await crm.close();
});

/** Work as an activity of a worker. */
const run = <Result>(work: () => Promise<Result>): Promise<Result> =>
  asyncLocalStorage.run(
    { heartbeat: () => undefined, cancellationSignal: new AbortController().signal } as Partial<Context> as Context,
    work,
  );

/** Asks for a refresh, and begins it. */
async function begun({ place, orgUsername }: ExploredOrg, body: object = {}): Promise<RefreshJob> {
  await app.as(app.owner).post(202, `${EXPLORER}/metadata/refresh`, { ...place, ...body });
  const [row] = await app.sql<{ id: string }>('select id from crm_org where username = ?', [orgUsername]);
  const job = await activities.beginRefresh({ ...app.tenantKey, orgId: row?.id ?? '', username: orgUsername });
  if (!job) throw new Error('no refresh was requested');
  return job;
}
const list = (job: RefreshJob) => run(() => activities.listComponents(job));
const order = (job: RefreshJob, size = 100) => run(() => activities.startRetrieve({ ...job, size }));
/** Orders and stores what is due; answers how often. */
async function retrieve(job: RefreshJob): Promise<number> {
  for (let orders = 0; ; orders++) {
    const started = await order(job);
    if (started.outcome === 'none') return orders;
    if (started.outcome !== 'started') throw new Error(JSON.stringify(started));
    const { retrieveId, members } = started;
    const ask = () => run(() => activities.retrieveState({ ...job, retrieveId, members }));
    for (let state = await ask(); state.outcome !== 'ready'; state = await ask())
      if (state.outcome !== 'waiting') throw new Error(JSON.stringify(state));
    await run(() => activities.storeRetrieved({ ...job, retrieveId, members }));
  }
}
const succeed = (job: RefreshJob) => activities.endRefresh({ ...job, end: { status: 'succeeded' } });
async function refresh(explored: ExploredOrg, body: object = {}): Promise<void> {
  const job = await begun(explored, body);
  expect(await list(job)).toMatchObject({ outcome: 'listed' });
  await retrieve(job);
  await succeed(job);
}

const metadata = async ({ place }: ExploredOrg) =>
  (await app.as(app.owner).get(200, `${EXPLORER}/metadata${queryOf(place)}`)).data;
const typesOf = async (explored: ExploredOrg): Promise<string[]> =>
  (await metadata(explored)).types.map(({ metadataType }: Json) => metadataType);
const read = ({ place }: ExploredOrg, memberName: string, more: object = {}) =>
  app
    .as(app.owner)
    .get(200, `${EXPLORER}/components${queryOf({ ...place, metadataType: 'ApexClass', memberName, ...more })}`);
const changes = async ({ orgUsername }: ExploredOrg) =>
  (await app.as(app.owner).get(200, `${EXPLORER}/changes${queryOf({ orgUsername })}`)).items.map((change: Json) => [
    change.metadataType,
    change.memberName,
    change.change,
  ]);

test('what cannot be retrieved is an error with the last data, and is asked for once more by the next refresh', async () => {
  const explored = await exploredOrg(app, crm);
  const { org } = explored;
  org.metadata.write('classes/A.cls', 'first');
  await refresh(explored);
  org.metadata.write('classes/A.cls', 'second');
  const failing = await begun(explored);
  await list(failing);
  const started = await order(failing);
  if (started.outcome !== 'started') throw new Error(JSON.stringify(started));
  await activities.leaveOutNext({ ...failing, id: started.only?.id, message: 'it is broken' });
  expect(await order(failing)).toEqual({ outcome: 'none' });
  await succeed(failing);
  const error = { status: 'error', jobId: null, message: 'it is broken' };
  expect(await read(explored, 'A')).toMatchObject({ ...error, data: { files: [{ fileContent: 'first' }, {}] } });
  expect((await metadata(explored)).lastSync.failedTypes).toEqual([
    { metadataType: 'ApexClass', error: 'A: it is broken' },
  ]);

  org.metadata.write('classes/B.cls', 'new');
  const next = await begun(explored);
  await list(next);
  const pending = { status: 'pending', jobId: next.syncId };
  expect(await read(explored, 'A')).toMatchObject({ ...pending, data: { files: [{ fileContent: 'first' }, {}] } });
  // It comes last, by itself.
  expect(await order(next)).toMatchObject({ members: 1, only: { failedBefore: false } });
  expect(await retrieve(next)).toBe(2);
  await succeed(next);
  expect(await read(explored, 'A')).toMatchObject({
    status: 'available',
    data: { files: [{ fileContent: 'second' }, {}] },
  });
});

test('a component that is asked for again is being read, whatever it failed with before', async () => {
  const explored = await exploredOrg(app, crm);
  explored.org.metadata.write('classes/A.cls', 'a');
  const job = await begun(explored);
  await list(job);
  const started = await order(job);
  const only = started.outcome === 'started' ? started.only : undefined;
  await activities.leaveOutNext({ ...job, id: only?.id, message: 'it is broken' });
  await succeed(job);
  const { jobId } = await read(explored, 'A', { refresh: true });
  expect(await read(explored, 'A')).toMatchObject({ status: 'pending', jobId });
  const again = await begun(explored, { metadataTypes: ['ApexClass'] });
  expect(again.syncId).toBe(jobId);
  expect(await order(again)).toMatchObject({ only: { failedBefore: true } });
});

test('leaving a component out twice leaves the next one alone, and names its type once', async () => {
  const explored = await exploredOrg(app, crm);
  for (const name of ['A', 'B', 'C']) explored.org.metadata.write(`classes/${name}.cls`, name);
  const job = await begun(explored);
  await list(job);
  const nextId = async () => {
    const started = await order(job, 1);
    return started.outcome === 'started' ? started.only?.id : undefined;
  };
  const id = await nextId();
  for (const message of ['first', 'repeated']) await activities.leaveOutNext({ ...job, id, message });
  await activities.leaveOutNext({ ...job, id: await nextId(), message: 'second' });
  // As the result of an order of an earlier release.
  await activities.leaveOutNext({ ...job, message: 'which one is unknown' });
  await retrieve(job);
  await succeed(job);
  expect(await read(explored, 'A')).toMatchObject({ status: 'error', message: 'first' });
  expect(await read(explored, 'B')).toMatchObject({ status: 'error', message: 'second' });
  expect(await read(explored, 'C')).toMatchObject({ status: 'available' });
  expect((await metadata(explored)).lastSync.failedTypes).toEqual([{ metadataType: 'ApexClass', error: 'A: first' }]);
});

test('a type whose listing fails keeps its rows; listing again forgets what failed before', async () => {
  const explored = await exploredOrg(app, crm);
  const { org } = explored;
  org.metadata.write('classes/A.cls', 'a');
  org.metadata.write('triggers/T.trigger', 't');
  await refresh(explored);
  org.metadata.write('triggers/U.trigger', 'u');
  org.unlistable.add('ApexClass');
  const job = await begun(explored);
  for (let attempts = 0; attempts < 2; attempts++) await list(job);
  const failure = { metadataType: 'ApexClass', error: expect.stringMatching(/INVALID_TYPE|Unknown type/) };
  const during = await metadata(explored);
  const [row] = await app.sql<{ failed_types: Json[] }>('select failed_types from org_sync where id = ?', [job.syncId]);
  expect(row?.failed_types).toEqual([failure]);
  expect(during.types).toContainEqual(expect.objectContaining({ ...failure, count: 1 }));
  expect(during.types).toContainEqual(expect.objectContaining({ metadataType: 'ApexTrigger', count: 2, error: null }));
  expect(await read(explored, 'A')).toMatchObject({ data: { files: [{ fileContent: 'a' }, {}] } });

  org.unlistable.clear();
  await list(job);
  await retrieve(job);
  await succeed(job);
  const { lastSync, types } = await metadata(explored);
  expect(lastSync.failedTypes).toEqual([]);
  expect(types).toContainEqual(expect.objectContaining({ metadataType: 'ApexClass', error: null }));
});

test('an org that does not say the types of components loses none of them', async () => {
  const explored = await exploredOrg(app, crm);
  const { org } = explored;
  org.listsWithoutTypes = true;
  org.metadata.write('classes/A.cls', 'a');
  org.metadata.write(
    'objects/Account.object',
    '<CustomObject><fields><fullName>Region__c</fullName></fields></CustomObject>',
  );
  await refresh(explored);
  await refresh(explored);
  const rows = await app.sql(
    'select metadata_type, member_name from org_component where platform_org_id = ? order by 1, 2',
    [org.orgId],
  );
  expect(rows).toEqual([
    { metadata_type: 'ApexClass', member_name: 'A' },
    { metadata_type: 'CustomField', member_name: 'Account.Region__c' },
    { metadata_type: 'CustomObject', member_name: 'Account' },
  ]);
  expect(await changes(explored)).toEqual([]);
});

test('names that the org does not have are kept until the next refresh, and types that it lost go', async () => {
  const explored = await exploredOrg(app, crm);
  const { org } = explored;
  org.metadata.write('classes/A.cls', 'a');
  org.metadata.write('triggers/T.trigger', 't');
  await refresh(explored, { metadataTypes: ['ApexClas', 'StandardValueSet'] });
  expect((await metadata(explored)).types).toMatchObject([
    { metadataType: 'ApexClas', error: 'The org has no such type' },
    { metadataType: 'StandardValueSet', error: expect.stringMatching(/does not list this type/) },
  ]);
  await refresh(explored, { metadataTypes: ['Flow'] });
  expect(await typesOf(explored)).toEqual(['Flow']);

  await refresh(explored);
  org.absentTypes.add('ApexTrigger');
  await refresh(explored, { metadataTypes: ['Flow'] });
  expect(await typesOf(explored)).toContain('ApexTrigger');
  await refresh(explored);
  expect(await typesOf(explored)).not.toContain('ApexTrigger');
  expect(await changes(explored)).toEqual([['ApexTrigger', 'T', 'deleted']]);
});

test('a refresh of objects alone reads those whose fields changed, whatever their own dates say', async () => {
  const explored = await exploredOrg(app, crm);
  const { org } = explored;
  for (const name of ['Account', 'Contact'])
    org.metadata.write(
      `objects/${name}.object`,
      '<CustomObject><fields><fullName>Region__c</fullName></fields></CustomObject>',
    );
  await refresh(explored);
  await app.sql(
    `update org_component set last_modified_at = last_modified_at - interval '1 hour'
     where platform_org_id = ? and member_name = 'Account.Region__c'`,
    [org.orgId],
  );
  const job = await begun(explored, { metadataTypes: ['CustomObject'] });
  expect(await list(job)).toMatchObject({ outcome: 'listed', due: 1 });
  expect(await changes(explored)).toEqual([['CustomField', 'Account.Region__c', 'changed']]);
});
