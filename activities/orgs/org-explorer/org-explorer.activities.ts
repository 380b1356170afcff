import { orgById } from '../../../domain/orgs/org-explorer/explorer-org.ts';
import { beginSync, endSync, type SyncEnd } from '../../../domain/orgs/org-explorer/syncs.mutations.ts';
import { changeOpenSync } from '../../../domain/orgs/org-explorer/syncs.queries.ts';
import type { OrgExplorerInput } from '../../../workflows/orgs/org-explorer/org-explorer.contract.ts';
import type { Deps } from '../../deps.ts';
import { createListingActivities } from './listing.activities.ts';
import { createRefreshScope, type RefreshJob } from './refresh-scope.ts';
import { createRetrieveActivities } from './retrieves.activities.ts';

export function createOrgExplorerActivities(deps: Deps) {
  const scope = createRefreshScope(deps);
  const { txOf } = scope;
  const { pauseSeconds, pollMs } = deps.orgExplorer;
  return {
    /** Begins the refresh that was requested, or goes on with one that lost its workflow. */
    async beginRefresh(input: OrgExplorerInput): Promise<RefreshJob | null> {
      const begun = await txOf(input)(async (tx) => {
        const org = await orgById(tx, input.orgId);
        const sync = org && (await beginSync(tx, org));
        return sync && { syncId: sync.id, username: org.username };
      });
      return begun ? { ...input, ...begun, pauseMs: pauseSeconds * 1_000, pollMs } : null;
    },

    ...createListingActivities(deps, scope),
    ...createRetrieveActivities(deps, scope),

    /** What the refresh waits for, for whoever asks. */
    async noteWaiting({ message, ...job }: RefreshJob & { message: string | null }): Promise<void> {
      await txOf(job)((tx) => changeOpenSync(tx, job.syncId, { message }));
    },

    /** Ends the refresh; nothing happens to one that ended or was removed with its org. */
    async endRefresh({ end, ...job }: RefreshJob & { end: SyncEnd }): Promise<void> {
      await txOf(job)(async (tx) => {
        const org = await orgById(tx, job.orgId);
        if (org) await endSync(tx, org, job.syncId, end);
      });
    },
  };
}
export type OrgExplorerActivities = ReturnType<typeof createOrgExplorerActivities>;
