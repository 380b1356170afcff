import { orgExplorerContract } from '../../../../workflows/orgs/org-explorer/org-explorer.contract.ts';
import { crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { testApp } from '../../../support/app.ts';
import { exploredOrg, EXPLORER, settled } from '../../../support/explorer.ts';
import { recording, replay } from '../../../support/histories.ts';
import { eventually, startWorker } from '../../../support/worker.ts';

test('a refresh that is under way goes on with the code of today', () => replay('org-explorer'));
test('and in a run that follows on another', () => replay('org-explorer-continued'));

/** Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/orgs/org-explorer/replay`. Orders are halved, and calls used up. */
recording('records the history', async ({ keep, handleOf }) => {
  const crm = await crmSimulator([]);
  const app = await testApp({ env: { ORG_EXPLORER_PAUSE_SECONDS: '1' } });
  const worker = await startWorker(app, ['crm-v1']);
  try {
    const explored = await exploredOrg(app, crm);
    const { org } = explored;
    for (const name of ['A', 'B', 'C']) org.metadata.write(`classes/${name}.cls`, name);
    for (const file of ['a.js', 'b.js', 'c.js', 'd.js', 'e.js']) org.metadata.write(`lwc/wide/${file}`, file);
    org.maxFiles = 4;
    org.retrievePolls = 2;
    org.fail('used-up', { path: /Soap/ });
    await app.as(app.owner).post(202, `${EXPLORER}/metadata/refresh`, explored.place);
    const [row] = await app.sql<{ id: string }>('select id from crm_org where username = ?', [explored.orgUsername]);
    const id = app.launch.idOf(orgExplorerContract, {
      ...app.tenantKey,
      orgId: row?.id ?? '',
      username: explored.orgUsername,
    });
    // The first of its runs lists; a later one goes on where its history was long.
    const { runId } = await eventually(
      () =>
        handleOf(id)
          .describe()
          .catch(() => ({ runId: '' })),
      ({ runId: started }) => started !== '',
    );
    await settled(app, explored);
    await keep('org-explorer-continued', id, (await handleOf(id).describe()).runId);
    await keep('org-explorer', id, runId);
  } finally {
    await worker.stop();
    await app.close();
    await crm.close();
  }
});
