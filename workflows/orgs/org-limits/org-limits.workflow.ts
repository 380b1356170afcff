import { continueAsNew, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { OrgLimitActivities } from '../../../activities/orgs/org-limits/org-limits.activities.ts';
import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { PUMP } from '../../activity-options.ts';
import { runLane } from '../../lane.ts';
import { orgsDueSignal } from './org-limits.contract.ts';

const { pollDueOrgs } = proxyActivities<OrgLimitActivities>(PUMP);

/** Polls the orgs of a tenant that are due; the sweeper starts it again when others are. */
export async function orgLimits(tenant: TenantKey): Promise<void> {
  const total = { polled: 0, failed: 0 };
  await runLane({
    signal: orgsDueSignal,
    async pump() {
      setCurrentDetails(`Polling; ${total.polled} orgs answered, ${total.failed} did not`);
      const { polled, failed, isMoreDue } = await pollDueOrgs(tenant);
      total.polled += polled;
      total.failed += failed;
      setCurrentDetails(`${total.polled} orgs answered, ${total.failed} did not`);
      return isMoreDue ? 0 : null;
    },
    again: () => continueAsNew<typeof orgLimits>(tenant),
  });
}
