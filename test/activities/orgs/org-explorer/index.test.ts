import type { WorkerBackend } from '../../../../activities/backend.ts';
import { storeComponents } from '../../../../domain/orgs/org-explorer/component-store.ts';
import { type ExplorerOrg, orgById } from '../../../../domain/orgs/org-explorer/explorer-org.ts';
import { indexType } from '../../../../domain/orgs/org-explorer/index.mutations.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import type { Tx } from '../../../../domain/unit-of-work.ts';
import { activityDeps } from '../../../support/activities.ts';
import type { CrmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { TestApp } from '../../../support/app.ts';
import {
  classFile,
  classOf,
  exploredOrg,
  EXPLORER,
  queryOf,
  reported,
  syncReported,
  withExplorer,
} from '../../../support/explorer.ts';

let crm: CrmSimulator;
let app: TestApp;
let worker: WorkerBackend;
afterAll(() => worker.close());
withExplorer((started) => {
  ({ crm, app } = started);
  worker = activityDeps(app);
});

const inUnit = <T>(work: (tx: Tx) => Promise<T>) =>
  worker.deps.actingAs(systemActor(app.tenantKey, 'org-explorer'))(work);
const DESCRIPTION = {
  directoryName: 'classes',
  suffix: 'cls',
  isInFolder: false,
  hasMetaFile: true,
  childTypes: [],
  parentType: null,
};
/** What the org lists of its classes. */
const list = (org: ExplorerOrg, lastModifiedAt: string, isIndexOnly: boolean, names: string[]) =>
  inUnit((tx) =>
    indexType(
      tx,
      { org, syncId: newId(), type: { metadataType: 'ApexClass', description: DESCRIPTION } },
      names.map((memberName) => ({
        memberName,
        fileName: `classes/${memberName}.cls`,
        parentType: null,
        lastModifiedAt,
        lastModifiedBy: 'Ada Admin',
        manageableState: null,
        namespacePrefix: null,
        isIndexOnly,
      })),
    ),
  );
async function stage() {
  const explored = await exploredOrg(app, crm);
  const { orgUsername } = explored;
  const [row] = await app.sql<{ id: string }>('select id from crm_org where username = ?', [orgUsername]);
  const org = await inUnit((tx) => orgById(tx, row?.id ?? ''));
  if (!org) throw new Error('it is registered');
  const changes = async (): Promise<string[]> =>
    (await app.as(app.owner).get(200, `${EXPLORER}/changes${queryOf({ orgUsername })}`)).items.map(
      ({ memberName, change }: { memberName: string; change: string }) => `${memberName} ${change}`,
    );
  return { explored, org, changes };
}

test('a component that gets its first date from a listing did not change', async () => {
  const { explored, org, changes } = await stage();
  const client = app.as(app.application);
  await reported(client, explored, classOf('A', classFile('A', '1')));
  await syncReported(client, explored, { duration: 60_000 });
  await list(org, '2026-03-02T09:30:00.000Z', true, ['A']);
  expect(await changes()).toEqual([]);
  await list(org, '2026-03-02T10:30:00.000Z', true, ['A']);
  expect(await changes()).toEqual(['A changed']);
});

test('a change of a component that is indexed only is noted once: by the listing, and not when its source is read', async () => {
  const { org, changes } = await stage();
  const read = (fileName: string) =>
    inUnit(async (tx) => {
      const [row] = await app.sql<{ id: string }>('select id from org_component where org_id = ?', [org.id]);
      const file = { fileName, fullName: 'A', type: 'ApexClass', sha256: null, sizeBytes: null };
      const component = { id: row?.id ?? '', files: [file] };
      await storeComponents(tx, { org, syncId: newId(), fetchedAt: new Date() }, [component]);
    });
  await list(org, '2026-03-02T09:30:00.000Z', true, ['A']);
  await read('A.cls');
  await list(org, '2026-03-02T10:30:00.000Z', true, ['A']);
  await read('B.cls');
  expect(await changes()).toEqual(['A changed']);
});
