import type { SimulatedOrg } from '../simulators/crm-org/org.ts';
import type { CrmSimulator } from '../simulators/crm-org/simulator.ts';
import type { TestApp } from './app.ts';

/** Production orgs of the simulator, registered in the app's tenant. */
export const registeredOrgs = (crm: CrmSimulator, app: TestApp, names: readonly string[]): Promise<SimulatedOrg[]> =>
  Promise.all(
    names.map(async (name) => {
      const org = await crm.addOrg({ name, kind: 'production' });
      await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
      return org;
    }),
  );

/** How often each org answered a poll, by username. */
export async function samplesByOrg(app: TestApp): Promise<Record<string, number>> {
  const rows = await app.sql<{ username: string; samples: number }>(
    `select o.username, count(s.sampled_at)::int as samples from crm_org o
     left join org_limit_sample s on s.tenant_id = o.tenant_id and s.org_id = o.id group by 1`,
  );
  return Object.fromEntries(rows.map(({ username, samples }) => [username, samples]));
}

/** All orgs of the app are due, also those that are backed off from. */
export const allDue = (app: TestApp) => app.sql(`update org_limit_state set due_at = now() - interval '1 second'`);
