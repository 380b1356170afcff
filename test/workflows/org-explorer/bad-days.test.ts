import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CrmSimulator, crmSimulator } from '../../simulators/crm-org/simulator.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { exploredOrg, EXPLORER, queryOf, refreshed, settled } from '../../support/explorer.ts';
import { eventually, startWorker, type TestWorker } from '../../support/worker.ts';

let crm: CrmSimulator;
let app: TestApp;
let worker: TestWorker;
beforeAll(async () => {
  crm = await crmSimulator();
  app = await testApp();
  worker = await startWorker(app, ['crm-v1']);
});
afterAll(async () => {
  await worker.kill('SIGTERM');
  await app.close();
  await crm.close();
});

const countsOf = (orgId: string) =>
  app.sql<{ components: number; whole: number }>(
    `select count(*)::int as components, count(*) filter (where files = 2)::int as whole from (
       select c.id, count(f.file_name) as files from org_component c left join org_component_file f on f.component_id = c.id
       where c.platform_org_id = ? group by c.id) counted`,
    [orgId],
  );

test('a full object store fails the refresh, which says so; what is kept stays', async () => {
  const explored = await exploredOrg(app, crm);
  const { org, place } = explored;
  org.metadata.write('classes/A.cls', 'kept');
  await refreshed(app, explored);
  const folder = join(app.dataDir, 'objects', app.tenant.id, 'org-contents');
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'no folder');
  org.metadata.write('classes/A.cls', 'new');
  await app.as(app.owner).post(202, `${EXPLORER}/metadata/refresh`, place);
  expect(await settled(app, explored)).toMatchObject({
    status: 'error',
    message: expect.stringMatching(/object store does not take files/),
    data: { types: expect.arrayContaining([expect.objectContaining({ metadataType: 'ApexClass', count: 1 })]) },
  });
  rmSync(folder);
  mkdirSync(folder);
  await refreshed(app, explored);
  const { data } = await app
    .as(app.owner)
    .get(200, `${EXPLORER}/components${queryOf({ ...place, metadataType: 'ApexClass', memberName: 'A' })}`);
  expect(data.files[0].fileContent).toBe('new');
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
  const { data } = await list();
  expect(data.items.map(({ memberName }: { memberName: string }) => memberName)).toEqual(['New']);
  const changes = await app.as(app.owner).get(200, `${EXPLORER}/changes${queryOf({ orgUsername })}`);
  expect(changes.items).toEqual([]);
  expect((await countsOf(org.orgId))[0]?.components).toBe(0);
});

test('an org that is deleted during its refresh ends it', async () => {
  const explored = await exploredOrg(app, crm);
  const { org, place, orgUsername } = explored;
  for (let index = 0; index < 50; index++) org.metadata.write(`classes/C${index}.cls`, `${index}`);
  org.retrievePolls = 1_000;
  const { jobId } = await app.as(app.owner).post(202, `${EXPLORER}/metadata/refresh`, place);
  await eventually(
    () => app.sql<{ step: string }>('select step from org_sync where id = ?', [jobId]),
    ([sync]) => sync?.step?.startsWith('Retrieving') ?? false,
  );
  await app.as(app.owner).delete(204, `/api/auth/crm/org${queryOf({ username: orgUsername })}`);
  expect(await app.sql('select id from org_sync where id = ?', [jobId])).toEqual([]);
  expect((await countsOf(org.orgId))[0]?.components).toBe(0);
});

test('a worker killed while it stores costs the archive alone: what is missing is ordered anew, whole', async () => {
  const explored = await exploredOrg(app, crm);
  const { org, place } = explored;
  const total = 3_000;
  for (let index = 0; index < total; index++) org.metadata.write(`classes/C${index}.cls`, `class C${index} {}`);
  const { jobId } = await app.as(app.owner).post(202, `${EXPLORER}/metadata/refresh`, place);
  await eventually(
    () => app.sql<{ files: number }>('select files_retrieved as files from org_sync where id = ?', [jobId]),
    ([sync]) => (sync?.files ?? 0) > 0,
    30_000,
  );
  await worker.kill('SIGKILL');
  const [half] = await app.sql<{ torn: number }>(
    'select count(*)::int as torn from (select component_id from org_component_file group by component_id having count(*) = 1) t',
  );
  expect(half?.torn).toBe(0);
  worker = await startWorker(app, ['crm-v1']);
  expect(await settled(app, explored, 100_000)).toMatchObject({ status: 'available', data: { lastSync: { jobId } } });
  expect(await countsOf(org.orgId)).toEqual([{ components: total, whole: total }]);
  expect(org.retrieves.size).toBeGreaterThan(1);
}, 150_000);
