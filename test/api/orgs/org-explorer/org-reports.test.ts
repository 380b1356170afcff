import pg from 'pg';
import type { CrmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { TestApp } from '../../../support/app.ts';
import type { ApiClient } from '../../../support/client.ts';
import {
  classFile,
  classOf,
  type ExploredOrg,
  exploredOrg,
  EXPLORER,
  INTERNAL,
  queryOf,
  reported,
  sha,
  syncReported,
  withExplorer,
} from '../../../support/explorer.ts';
import { eventually } from '../../../support/worker.ts';

let crm: CrmSimulator;
let app: TestApp;
let owner: ApiClient;
let worker: ApiClient;
withExplorer((started) => {
  ({ crm, app, owner, reporter: worker } = started);
});

const componentsOf = ({ orgUsername }: ExploredOrg) =>
  app.sql<{ member_name: string; platform_org_id: string }>(
    `select c.member_name, c.platform_org_id from org_component c join crm_org o on o.id = c.org_id where o.username = ?
     order by 1`,
    [orgUsername],
  );
const changesOf = async ({ orgUsername }: ExploredOrg): Promise<unknown[]> =>
  (await owner.get(200, `${EXPLORER}/changes${queryOf({ orgUsername })}`)).items;

/** Holds a row that the request waits for, does something meanwhile, and answers what the request came to. */
async function meanwhile(block: string, request: () => Promise<{ status: number }>, work: () => Promise<unknown>) {
  const blocker = new pg.Client(app.databaseUrl);
  await blocker.connect();
  try {
    await blocker.query(`begin; ${block}`);
    const answer = request();
    await eventually(
      () => app.sql(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
      (waiting) => waiting.length > 0,
    );
    await work();
    await blocker.query('rollback');
    return await answer;
  } finally {
    await blocker.end();
  }
}
const NEW_ID = '00D000000000009EAA';
/** The sandbox was refreshed: the record has another id, and the index of the new org is there. */
const refreshSandbox = async ({ orgUsername }: ExploredOrg) => {
  await app.sql('update crm_org set platform_org_id = ? where username = ?', [NEW_ID, orgUsername]);
  await app.sql(
    `insert into org_component (id, tenant_id, org_id, platform_org_id, metadata_type, member_name, seen_at)
     select gen_random_uuid(), tenant_id, id, platform_org_id, 'ApexClass', 'New', now() - interval '1 day' from crm_org
     where username = ?`,
    [orgUsername],
  );
};

test('a report that began before a sandbox was refreshed leaves the index of the new org alone', async () => {
  const org = await exploredOrg(app, crm);
  const components = [classOf('Old', classFile('Old', 'of the old one'))];
  const { status } = await meanwhile(
    `insert into org_content (tenant_id, sha256, size_bytes, is_text)
     values ('${app.tenant.id}', '${sha('of the old one')}', 14, true)`,
    () => worker.send('POST', `${INTERNAL}/components/batch`, { body: { orgUsername: org.orgUsername, components } }),
    () => refreshSandbox(org),
  );
  expect(status).toBe(409);
  expect(await componentsOf(org)).toEqual([{ member_name: 'New', platform_org_id: NEW_ID }]);
});

test('a base64 content that is none is refused; line breaks in one are not', async () => {
  const org = await exploredOrg(app, crm);
  const component = (fileContent: string) => ({
    orgUsername: org.orgUsername,
    ...classOf('A', { ...classFile('A', fileContent), encoding: 'base64' }),
  });
  for (const given of ['not base64!', 'QUJD*', 'QUJDR', 'QQ==QQ=='])
    expect((await worker.post(400, `${INTERNAL}/components`, component(given))).errors[0].pointer).toBe(
      '#/body/sourceData/0/fileContent',
    );
  expect(await componentsOf(org)).toEqual([]);
  for (const given of ['', 'QUJD\r\nREVG\n', 'QUI=', 'QUI'])
    await worker.post(204, `${INTERNAL}/components`, component(given));
});

test('a component that is reported as deleted and is not there is not noted; counts follow reports', async () => {
  const org = await exploredOrg(app, crm);
  await reported(worker, org, ...['A', 'B'].map((name) => classOf(name, classFile(name, name))));
  await syncReported(worker, org, { duration: 60_000 });
  const gone = classOf('A', classFile('A', null, 'Deleted'));
  for (const _ of [1, 2]) await reported(worker, org, gone, classOf('B', classFile('B', 'B')));
  expect(await changesOf(org)).toMatchObject([{ memberName: 'A', change: 'deleted' }]);
  const { items } = await owner.get(200, '/api/audit?source=crm&action=org_explorer.components_reported&limit=2');
  expect(items).toMatchObject([{ after: { added: 0, removed: 0 } }, { after: { added: 0, removed: 1 } }]);
  await reported(worker, org, classOf('C', classFile('C', 'C')), { ...classOf('T'), metadataType: 'ApexTrigger' });
  expect((await owner.get(200, `${EXPLORER}/metadata${queryOf(org.place)}`)).data.types).toMatchObject([
    { metadataType: 'ApexClass', count: 2 },
    { metadataType: 'ApexTrigger', count: 1 },
  ]);
});

test('a component that the service listed while a worker synced is not gone', async () => {
  const org = await exploredOrg(app, crm);
  await reported(worker, org, classOf('A', classFile('A', '1')));
  await app.sql(`update org_component set seen_at = now() - interval '1 day' where member_name = 'A'`);
  await app.sql(`update org_component_type set listed_at = now() where metadata_type = 'ApexClass'`);
  await syncReported(worker, org, { duration: 20 * 60_000 });
  expect(await changesOf(org)).toEqual([]);
  await app.sql(`update org_component_type set listed_at = now() - interval '1 hour'`);
  await syncReported(worker, org, { duration: 20 * 60_000 });
  expect(await changesOf(org)).toMatchObject([{ memberName: 'A', change: 'deleted' }]);
});
