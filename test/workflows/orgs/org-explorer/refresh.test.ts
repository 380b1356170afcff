import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { ApiClient } from '../../../support/client.ts';
import type { Json } from '../../../support/client.ts';
import { type ExploredOrg, exploredOrg, EXPLORER, queryOf, refreshed, settled } from '../../../support/explorer.ts';
import { leaked } from '../../../support/crm.ts';
import { historiesOf } from '../../../support/histories.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

let crm: CrmSimulator;
let app: TestApp;
let worker: TestWorker;
let owner: ApiClient;
beforeAll(async () => {
  crm = await crmSimulator();
  app = await testApp({
    env: { ORG_EXPLORER_PAUSE_SECONDS: '1', ORG_EXPLORER_POLL_MS: '1', ORG_EXPLORER_INDEX_ONLY: 'StaticResource' },
  });
  worker = await startWorker(app, ['crm-v1']);
  owner = app.as(app.owner);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await crm.close();
});

const read = (status: number, { place }: ExploredOrg, metadataType: string, memberName: string, more: object = {}) =>
  owner.get(status, `${EXPLORER}/components${queryOf({ ...place, metadataType, memberName, ...more })}`);
const filesOf = async (org: ExploredOrg, metadataType: string, memberName: string): Promise<string[]> =>
  (await read(200, org, metadataType, memberName)).data.files.map(({ fileName }: Json) => fileName);
const changes = async ({ orgUsername }: ExploredOrg) =>
  (await owner.get(200, `${EXPLORER}/changes${queryOf({ orgUsername })}`)).items.map((change: Json) => [
    change.metadataType,
    change.memberName,
    change.change,
    change.modifiedBy,
  ]);
const members = async ({ orgUsername }: ExploredOrg, metadataType: string): Promise<string[]> =>
  (await owner.get(200, `${EXPLORER}/components/list${queryOf({ orgUsername, metadataType })}`)).data.items.map(
    ({ memberName }: Json) => memberName,
  );

test('files fall to their components: bundles, folders, children and -meta.xml files', async () => {
  const explored = await exploredOrg(app, crm);
  const { metadata } = explored.org;
  metadata.write('classes/A.cls', 'class A {}');
  metadata.write('lwc/card/card.js', 'export default 1');
  metadata.write('lwc/card/card.html', '<template></template>');
  metadata.write('reports/Sales-meta.xml', '<ReportFolder/>');
  metadata.write('reports/Sales/Pipeline.report', '<Report/>');
  metadata.write(
    'objects/Account.object',
    '<CustomObject><fields><fullName>Region__c</fullName></fields></CustomObject>',
  );
  metadata.write('staticresources/logo.resource', Buffer.from([0xff, 0xd8]));
  const done = await refreshed(app, explored);
  expect(done).toMatchObject({ status: 'available', data: { lastSync: { status: 'succeeded', failedTypes: [] } } });
  expect(await filesOf(explored, 'ApexClass', 'A')).toEqual(['classes/A.cls', 'classes/A.cls-meta.xml']);
  expect(await filesOf(explored, 'LightningComponentBundle', 'card')).toEqual([
    'lwc/card/card.html',
    'lwc/card/card.js',
  ]);
  expect(await filesOf(explored, 'Report', 'Sales/Pipeline')).toEqual(['reports/Sales/Pipeline.report']);
  expect(await filesOf(explored, 'CustomField', 'Account.Region__c')).toEqual(['objects/Account.object']);
  await read(404, explored, 'ApexClass', 'None');

  // Only indexed: its source comes when somebody asks for it.
  expect(await read(200, explored, 'StaticResource', 'logo')).toMatchObject({ status: 'pending', data: { files: [] } });
  await settled(app, explored);
  expect(await read(200, explored, 'StaticResource', 'logo')).toMatchObject({
    status: 'available',
    data: { files: [{ encoding: 'base64', fileContent: '/9g=' }, {}] },
  });
});

test('a second sync retrieves what changed alone, and says what and by whom', async () => {
  const explored = await exploredOrg(app, crm);
  const { metadata } = explored.org;
  for (const name of ['Same', 'Changed', 'Gone']) metadata.write(`classes/${name}.cls`, name);
  metadata.write('objects/Account.object', '<CustomObject><fields><fullName>A__c</fullName></fields></CustomObject>');
  await refreshed(app, explored);
  expect(await changes(explored)).toEqual([]);
  metadata.write('classes/Changed.cls', 'other', { modifiedBy: 'Bo Builder' });
  metadata.write('classes/New.cls', 'new', { modifiedBy: 'Bo Builder' });
  metadata.remove('classes/Gone.cls');
  const { data, ...state } = await refreshed(app, explored);
  expect(state).toMatchObject({ status: 'available', isComplete: true, failedTypes: [], unreadTypes: [] });
  expect(data.lastSync).toMatchObject({ filesRetrieved: 4 });
  expect((await changes(explored)).toSorted()).toEqual([
    ['ApexClass', 'Changed', 'changed', 'Bo Builder'],
    ['ApexClass', 'Gone', 'deleted', null],
    ['ApexClass', 'New', 'created', 'Bo Builder'],
  ]);
  expect(await members(explored, 'ApexClass')).toEqual(['Changed', 'New', 'Same']);
});

test('an order that the org refuses is halved; a component that cannot be retrieved is left out and named', async () => {
  const explored = await exploredOrg(app, crm);
  const { org } = explored;
  for (let index = 0; index < 3; index++) org.metadata.write(`classes/C${index}.cls`, `${index}`);
  for (const file of ['a.js', 'b.js', 'c.js', 'd.js', 'e.js']) org.metadata.write(`lwc/wide/${file}`, file);
  org.maxFiles = 4;
  const { data } = await refreshed(app, explored);
  expect(data.lastSync).toMatchObject({ status: 'succeeded', filesRetrieved: 6 });
  expect(data.lastSync.failedTypes).toMatchObject([
    { metadataType: 'LightningComponentBundle', error: expect.stringMatching(/^wide: .*4 files/) },
  ]);
  expect(await read(200, explored, 'LightningComponentBundle', 'wide')).toMatchObject({
    status: 'error',
    message: expect.stringMatching(/files/),
  });
});

test('a refresh of an org that retrieves nothing ends after few orders, and the next one reads all', async () => {
  const explored = await exploredOrg(app, crm);
  const { org } = explored;
  const total = 60;
  for (let index = 0; index < total; index++) org.metadata.write(`classes/C${index}.cls`, `${index}`);
  org.unretrievable = /^C/;
  const after = await refreshed(app, explored);
  expect(after).toMatchObject({
    status: 'error',
    message: expect.stringMatching(/An unexpected error occurred/),
    data: { lastSync: { status: 'failed', failedTypes: [{ metadataType: 'ApexClass' }] } },
  });
  // Halved five times, 20 left out, and the one that ends it.
  expect(org.retrieves.size).toBe(26);
  org.unretrievable = undefined;
  const { data } = await refreshed(app, explored);
  expect(data.lastSync).toMatchObject({ status: 'succeeded', filesRetrieved: 2 * total, failedTypes: [] });
});

test('failures of the listing do not count against orders', async () => {
  const explored = await exploredOrg(app, crm);
  explored.org.metadata.write('classes/A.cls', 'a');
  for (const operation of ['describeMetadata', 'retrieve']) explored.org.fail('drop', { times: 3, operation });
  expect((await refreshed(app, explored)).data.lastSync).toMatchObject({ status: 'succeeded', filesRetrieved: 2 });
});

test('used-up calls pause a refresh, which goes on when the org takes calls again', async () => {
  const explored = await exploredOrg(app, crm);
  explored.org.metadata.write('classes/A.cls', 'a');
  explored.org.fail('used-up', { path: /Soap/, times: 1 });
  await owner.post(202, `${EXPLORER}/metadata/refresh`, explored.place);
  const waiting = await eventually(
    () => owner.get(200, `${EXPLORER}/metadata${queryOf(explored.place)}`),
    ({ message }) => /takes calls again/.test(message ?? ''),
  );
  expect(waiting.status).toBe('pending');
  expect((await settled(app, explored)).data.lastSync.status).toBe('succeeded');
});

test('a type that the org does not have is named as failed, until all types are read', async () => {
  const explored = await exploredOrg(app, crm);
  explored.org.metadata.write('classes/A.cls', 'a');
  const named = await refreshed(app, explored, { metadataTypes: ['ApexClas'] });
  const failure = { metadataType: 'ApexClas', error: 'The org has no such type' };
  expect(named.data).toMatchObject({ lastSync: { failedTypes: [failure] } });
  expect(named.data.types).toContainEqual(expect.objectContaining(failure));
  const { data } = await refreshed(app, explored);
  expect(data.types.map(({ metadataType }: Json) => metadataType)).not.toContain('ApexClas');
  await read(404, explored, 'ApexClas', 'A');

  explored.org.revokeApprovals();
  expect((await refreshed(app, explored)).message).toMatch(
    /^The types of the org could not be read: expired access\/refresh token\. The token was revoked/,
  );
});

test('a failed refresh says why and keeps what there was; asking again heals it', async () => {
  const explored = await exploredOrg(app, crm);
  const { org, place } = explored;
  org.metadata.write('classes/A.cls', 'a');
  await refreshed(app, explored);
  org.fail({ kind: 'zip', zip: 'parent' }, { times: 1_000 });
  org.metadata.write('classes/A.cls', 'b');
  await owner.post(202, `${EXPLORER}/metadata/refresh`, place);
  const after = await settled(app, explored);
  expect(after).toMatchObject({ status: 'error', message: expect.any(String), data: { types: expect.any(Array) } });
  org.heal();
  expect((await refreshed(app, explored)).status).toBe('available');
  expect((await read(200, explored, 'ApexClass', 'A')).data.files[0]).toMatchObject({
    fileContent: 'b',
    state: 'Changed',
  });
});

test('histories of refreshes, with their inputs, results and details, show no secret', async () => {
  const histories = await historiesOf(app, 'crm-v1');
  expect(histories.join('\n')).toContain('org-explorer');
  expect(histories.join('\n')).toContain(app.tenant.id);
  expect(leaked(histories, crm.secrets)).toEqual([]);
});
