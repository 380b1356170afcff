import { orgLimitsContract, orgsDueSignal } from '../../../../workflows/orgs/org-limits/org-limits.contract.ts';
import { crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { registeredOrgs, samplesByOrg } from '../../../support/polled-orgs.ts';
import { eventually, startWorker } from '../../../support/worker.ts';

test('polls that are under way go on with the code of today', () => replay('org-limits'));

/** Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/orgs/org-limits/replay`. */
recording('records the history', async ({ keep }) => {
  const crm = await crmSimulator([]);
  const app = await testApp();
  const orgs = await registeredOrgs(crm, app, ['acme', 'globex']);
  await app.sql('insert into org_limit_state (tenant_id, org_id) select tenant_id, id from crm_org');
  const worker = await startWorker(app, ['crm-v1']);
  const wake = () => app.launch.signalWithStart(orgLimitsContract, app.tenantKey, orgsDueSignal);
  const polled = (count: number) =>
    eventually(
      () => samplesByOrg(app),
      (found) => orgs.every(({ username }) => found[username] === count),
    );
  try {
    // The second org answers late, so that the workflow is signalled while it polls.
    if (orgs[1]) orgs[1].latencyMs = 1_500;
    await wake();
    await new Promise((resolve) => setTimeout(resolve, 500));
    await wake();
    await polled(1);
    await keep('org-limits', app.launch.idOf(orgLimitsContract, app.tenantKey));
  } finally {
    await worker.stop();
    await app.close();
    await crm.close();
  }
});
