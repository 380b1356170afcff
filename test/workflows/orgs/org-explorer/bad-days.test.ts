import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { orgExplorerContract } from '../../../../workflows/orgs/org-explorer/org-explorer.contract.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import {
  callsTo,
  countsOf,
  type ExploredOrg,
  exploredOrg,
  EXPLORER,
  queryOf,
  refreshed,
  requested,
  settled,
  sha,
  whenRetrieving,
  writeClasses,
} from '../../../support/explorer.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

let crm: CrmSimulator;
let app: TestApp;
let worker: TestWorker;
beforeAll(async () => {
  crm = await crmSimulator([]);
  app = await testApp({ env: { ORG_EXPLORER_POLL_MS: '20' } });
  worker = await startWorker(app, ['crm-v1']);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await crm.close();
});

const classA = async ({ place }: ExploredOrg) =>
  app
    .as(app.owner)
    .get(200, `${EXPLORER}/components${queryOf({ ...place, metadataType: 'ApexClass', memberName: 'A' })}`);
const members = async ({ orgUsername }: { orgUsername: string }): Promise<string[]> =>
  (await app.as(app.owner).get(200, `${EXPLORER}/components/list${queryOf({ orgUsername })}`)).data.items.map(
    ({ memberName }: Json) => memberName,
  );

test('a full object store fails the refresh, which says so; what is kept stays and can be read', async () => {
  const explored = await exploredOrg(app, crm);
  const { org } = explored;
  org.metadata.write('classes/A.cls', 'kept');
  await refreshed(app, explored);
  org.metadata.write('classes/A.cls', 'new');
  const inTheWay = join(app.dataDir, 'objects', app.tenant.id, 'org-contents', sha('new'));
  mkdirSync(join(inTheWay, 'x'), { recursive: true });
  await requested(app, explored);
  expect(await settled(app, explored)).toMatchObject({
    status: 'error',
    message: expect.stringMatching(/object store does not take files/),
    data: { types: expect.arrayContaining([expect.objectContaining({ metadataType: 'ApexClass', count: 1 })]) },
  });
  expect(await classA(explored)).toMatchObject({
    status: 'error',
    data: { files: [{ fileName: 'classes/A.cls', fileContent: 'kept' }, {}] },
  });
  rmdirSync(join(inTheWay, 'x'));
  rmdirSync(inTheWay);
  await refreshed(app, explored);
  expect(await classA(explored)).toMatchObject({ status: 'available', data: { files: [{ fileContent: 'new' }, {}] } });
});

test('a sandbox that was refreshed begins anew: nothing of the old one is shown or compared', async () => {
  const explored = await exploredOrg(app, crm);
  const { org, orgUsername } = explored;
  org.metadata.write('classes/Old.cls', 'old');
  await refreshed(app, explored);
  await app.sql('update crm_org set platform_org_id = ? where username = ?', ['00D000000000009EAA', orgUsername]);
  const list = () => app.as(app.owner).get(200, `${EXPLORER}/components/list${queryOf({ orgUsername })}`);
  expect(await list()).toMatchObject({ status: 'pending', data: { items: [], total: 0 } });
  org.metadata.remove('classes/Old.cls');
  org.metadata.write('classes/New.cls', 'new');
  await settled(app, explored);
  expect(await members(explored)).toEqual(['New']);
  const changes = await app.as(app.owner).get(200, `${EXPLORER}/changes${queryOf({ orgUsername })}`);
  expect(changes.items).toEqual([]);
  expect(await countsOf(app, explored)).toMatchObject({ components: 0 });
});

test('a sandbox that is refreshed while it is read is read from the beginning', async () => {
  const production = await exploredOrg(app, crm);
  const org = await crm.addOrg({ name: 'copied', kind: 'sandbox', parent: production.org.name });
  const { repositoryIdentifier } = production;
  const orgUsername = org.username;
  const owner = app.as(app.owner);
  await owner.post(201, '/api/environments', { repositoryIdentifier, name: 'copy', category: 'release', orgUsername });
  await owner.post(201, '/api/auth/crm/register-sandbox-by-name', {
    sandboxName: 'copied',
    productionUsername: production.orgUsername,
  });
  const sandbox = { org, orgUsername, repositoryIdentifier, place: { repositoryIdentifier, orgUsername } };
  org.metadata.write('classes/Old.cls', 'old');
  org.retrievePolls = 1_000_000;
  const jobId = await requested(app, sandbox);
  await whenRetrieving(app, jobId);
  expect(await members(sandbox)).toEqual(['Old']);
  const before = org.orgId;
  org.metadata.remove('classes/Old.cls');
  org.metadata.write('classes/New.cls', 'new');
  org.retrievePolls = 0;
  org.refresh();
  expect(await settled(app, sandbox)).toMatchObject({
    status: 'available',
    data: { lastSync: { jobId, status: 'succeeded', filesRetrieved: 2, failedTypes: [] } },
  });
  expect(await members(sandbox)).toEqual(['New']);
  const left = await app.sql('select id from org_component where platform_org_id = ?', [before]);
  expect(left).toEqual([]);
});

test('an org that is deleted during its refresh ends it', async () => {
  const explored = await exploredOrg(app, crm);
  const { org, orgUsername } = explored;
  writeClasses(explored, 5);
  org.retrievePolls = 1_000_000;
  const jobId = await requested(app, explored);
  await whenRetrieving(app, jobId);
  const [row] = await app.sql<{ id: string }>('select id from crm_org where username = ?', [orgUsername]);
  const state = () =>
    app.launch.stateOf(orgExplorerContract, {
      ...app.tenantKey,
      orgId: row?.id ?? '',
      username: orgUsername,
    });
  expect(await state()).toBe('running');
  await app.as(app.owner).delete(204, `/api/auth/crm/org${queryOf({ username: orgUsername })}`);
  await eventually(state, (now) => now !== 'running');
  expect(await app.sql('select id from org_sync where id = ?', [jobId])).toEqual([]);
  expect(await countsOf(app, explored)).toMatchObject({ components: 0 });
});

test('a dead credential ends the refresh at once, and the next one without asking the org', async () => {
  const explored = await exploredOrg(app, crm);
  const { org } = explored;
  org.metadata.write('classes/A.cls', 'kept');
  await refreshed(app, explored);
  org.revokeApprovals();
  const failed = { status: 'error', message: expect.stringMatching(/expired access\/refresh token/) };
  expect(await refreshed(app, explored)).toMatchObject(failed);
  const calls = crm.requests.length;
  expect(await refreshed(app, explored)).toMatchObject({ status: 'error', message: expect.stringMatching(/token/) });
  expect(crm.requests.length).toBe(calls);
  expect(await classA(explored)).toMatchObject({ data: { files: [{ fileContent: 'kept' }, {}] } });
});

test('an org that hangs fails its refresh after a few calls, which says so', async () => {
  const explored = await exploredOrg(app, crm);
  const { org } = explored;
  org.metadata.write('classes/A.cls', 'kept');
  await refreshed(app, explored);
  await worker.stop();
  // Only here somebody waits for the end of calls: a slow machine is to have time for all others.
  worker = await startWorker({ ...app, env: { ...app.env, CRM_CALL_SECONDS: '2' } }, ['crm-v1']);
  const calls = callsTo(crm, explored, 'describeMetadata');
  org.fail('hang', { times: 1_000, path: /Soap/ });
  await requested(app, explored);
  expect(await settled(app, explored)).toMatchObject({
    status: 'error',
    message: expect.stringMatching(/^The types of the org could not be read: There was no complete answer/),
  });
  expect(callsTo(crm, explored, 'describeMetadata') - calls).toBe(4);
  expect(await classA(explored)).toMatchObject({ data: { files: [{ fileContent: 'kept' }, {}] } });
  org.heal();
  expect(await refreshed(app, explored)).toMatchObject({ status: 'available' });
});
