import { createPollClaims } from '../../../domain/orgs/org-limits/poll-claims.queries.ts';
import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { PumpReport } from '../../../workflows/orgs/org-limits/org-limits.contract.ts';
import type { Deps } from '../../deps.ts';
import { asPump } from '../../row-pump.ts';
import { createPollPump } from './poll-pump.ts';

export type OrgLimitActivities = ReturnType<typeof createOrgLimitActivities>;

/** The activities that poll the limits of orgs. */
export function createOrgLimitActivities({ system, orgPolls }: Deps) {
  const store = createPollClaims(system);
  const pump = createPollPump({ store, polls: orgPolls });
  return {
    /** Polls the orgs of a tenant that are due; a repetition first gives back what a lost worker held. */
    pollDueOrgs: (tenant: TenantKey): Promise<PumpReport> =>
      asPump(
        () => store.releaseAll(tenant),
        (stop) => pump(tenant, stop),
      ),
  };
}
