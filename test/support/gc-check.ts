import type { TestApp } from './app.ts';
import type { CrmSimulator } from '../simulators/crm-org/simulator.ts';
import { type Ledger, ledgerOf } from './gc-ledger.ts';

/** A ledger whose branch two registered orgs of the simulator track, the second for releases. */
export async function checkedLedger(app: TestApp, crm: CrmSimulator): Promise<Ledger> {
  const ledger = await ledgerOf(app);
  for (const [name, category] of [
    ['acme-uat', 'test'],
    ['acme', 'release'],
  ] as const) {
    const { authUrl, username } = crm.org(name);
    await app.as(app.owner).send('POST', '/api/auth/crm/register', { body: { cliAuthUrl: authUrl } });
    await ledger.environment(name, { category, orgUsername: username });
  }
  return ledger;
}
