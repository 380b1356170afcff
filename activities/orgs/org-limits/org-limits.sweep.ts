import { purgeSamples } from '../../../domain/orgs/org-limits/limit-samples.queries.ts';
import { createPollClaims } from '../../../domain/orgs/org-limits/poll-claims.queries.ts';
import { orgLimitsContract, orgsDueSignal } from '../../../workflows/orgs/org-limits/org-limits.contract.ts';
import { defineChore, defineSweep } from '../../kernel/system/define-sweep.ts';

/** Wakes the polls of tenants with orgs that are due. */
export const orgLimitsSweep = defineSweep({
  name: 'org-limits',
  concurrency: 20,
  isRoutine: true,
  async due({ system }, limit) {
    const store = createPollClaims(system);
    await store.addMissing();
    return store.dueTenants(limit);
  },
  key: ({ tenantId }) => tenantId,
  handle: ({ launch }, tenant) => launch.signalWithStart(orgLimitsContract, tenant, orgsDueSignal),
});

export const expiredLimitSamplesChore = defineChore({
  name: 'expired-limit-samples',
  run: ({ system }) => purgeSamples(system),
});
