import { continueAsNew, proxyActivities, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { OrgLimitActivities } from '../../../activities/orgs/org-limits/org-limits.activities.ts';
import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { ORG_PUMP } from '../../activity-options.ts';
import { orgsDueSignal } from './org-limits.contract.ts';

const { pollDueOrgs } = proxyActivities<OrgLimitActivities>(ORG_PUMP);

/** Polls the orgs of a tenant that are due, then completes; the sweeper starts it again when others are. */
export async function orgLimits(tenant: TenantKey): Promise<void> {
  let isSignalled = false;
  setHandler(orgsDueSignal, () => {
    isSignalled = true;
  });
  const total = { polled: 0, failed: 0 };
  for (;;) {
    isSignalled = false;
    setCurrentDetails(`Polling; ${total.polled} orgs answered, ${total.failed} did not`);
    const { polled, failed, isMoreDue } = await pollDueOrgs(tenant);
    total.polled += polled;
    total.failed += failed;
    setCurrentDetails(`${total.polled} orgs answered, ${total.failed} did not`);
    if (!isSignalled && !isMoreDue) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof orgLimits>(tenant);
  }
}
