import { gcCheckContract, gcCheckInput } from '../../../../workflows/orgs/gc-ledger/gc-check.contract.ts';
import { crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { testApp } from '../../../support/app.ts';
import { checkedLedger } from '../../../support/gc-check.ts';
import { detected } from '../../../support/gc-ledger.ts';
import { recording, replay } from '../../../support/histories.ts';
import { startWorker } from '../../../support/worker.ts';

test('a check that is under way goes on with the code of today', () => replay('gc-check'));

/** Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/orgs/gc-ledger/replay`. */
recording('records the history', async ({ keep }) => {
  const crm = await crmSimulator();
  const app = await testApp();
  const worker = await startWorker(app, ['crm-v1']);
  try {
    const ledger = await checkedLedger(app, crm);
    await ledger.events([detected('Gone')]);
    const { repositoryIdentifier } = ledger;
    const check = await app.as(app.owner).post(202, '/api/gc-ledger/check', { repositoryIdentifier, branch: 'main' });
    await keep('gc-check', app.launch.idOf(gcCheckContract, gcCheckInput(app.tenantKey, check)));
  } finally {
    await worker.stop();
    await app.close();
    await crm.close();
  }
});
