import { orgExplorerContract } from '../../../../workflows/orgs/org-explorer/org-explorer.contract.ts';
import { crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { testApp } from '../../../support/app.ts';
import {
  callsTo,
  countsOf,
  exploredOrg,
  requested,
  settled,
  whenRetrieving,
  writeClasses,
} from '../../../support/explorer.ts';
import { loseHeartbeats } from '../../../support/lost-heartbeats.ts';
import { eventually, startWorker, startWorkerProcess, type TestWorker } from '../../../support/worker.ts';

test('a worker killed while it lists, waits and stores: the next one goes on, and no component is half', async () => {
  const crm = await crmSimulator([]);
  const app = await testApp({ env: { ORG_EXPLORER_POLL_MS: '20', CRM_CALL_SECONDS: '60' } });
  const dying = await startWorkerProcess(app, ['crm-v1']);
  let worker: TestWorker | undefined;
  try {
    const [listing, waiting, storing] = [
      await exploredOrg(app, crm),
      await exploredOrg(app, crm),
      await exploredOrg(app, crm),
    ];
    const sizes = new Map([
      [listing, 20],
      [waiting, 20],
      [storing, 2_000],
    ]);
    for (const [explored, total] of sizes) writeClasses(explored, total);
    listing.org.fail('hang', { times: 1_000, operation: 'listMetadata' });
    waiting.org.retrievePolls = 1_000_000;
    await requested(app, listing);
    await whenRetrieving(app, await requested(app, waiting));
    await eventually(
      async () => Math.min(callsTo(crm, listing, 'listMetadata'), callsTo(crm, waiting, 'checkRetrieveStatus')),
      (calls) => calls > 0,
    );
    const stored = await requested(app, storing);
    await eventually(
      () => app.sql<{ files: number }>('select files_retrieved as files from org_sync where id = ?', [stored]),
      ([sync]) => (sync?.files ?? 0) > 0,
    );
    await dying.kill('SIGKILL');
    const [half] = await app.sql<{ torn: number }>(
      'select count(*)::int as torn from (select component_id from org_component_file group by component_id having count(*) = 1) t',
    );
    expect(half?.torn).toBe(0);
    listing.org.heal();
    for (const retrieve of waiting.org.retrieves.values()) retrieve.pollsLeft = 0;
    worker = await startWorker(app, ['crm-v1']);
    const left = await app.sql<{ orgId: string; username: string }>('select id as "orgId", username from crm_org');
    for (const org of left)
      await loseHeartbeats(app, app.launch.idOf(orgExplorerContract, { ...app.tenantKey, ...org }));
    for (const [explored, total] of sizes) {
      const done = await settled(app, explored);
      expect(done).toMatchObject({ status: 'available', data: { lastSync: { status: 'succeeded', failedTypes: [] } } });
      expect(await countsOf(app, explored)).toEqual({ components: total, whole: total });
    }
    // An order outlives the worker that waits for it; an archive that was being stored is asked for anew.
    expect(waiting.org.retrieves.size).toBe(1);
    expect(storing.org.retrieves.size).toBe(2);
  } finally {
    await dying.kill('SIGKILL');
    await worker?.stop();
    await app.close();
    await crm.close();
  }
});
