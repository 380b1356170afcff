import { RECORD_SESSION, RUN_BROWSER_CHECK } from '../delivery/flows/flow-categories.ts';
import { whyNotChecked } from './browser-checks/browser-check-offers.ts';
import { missingHosts } from './browser-sessions/hosts/host-attention.queries.ts';
import { hasHostedProvider, localHosts, whyNotLocal } from './browser-sessions/providers.queries.ts';
import type { Area } from '../kernel/area-manifest.ts';
import { removeSessionsOfProject } from './browser-sessions/sessions.mutations.ts';
import { openAssignmentKeys } from './review-assignments/review-assignments.queries.ts';
import { usesOfOrg } from './orgs-in-use.queries.ts';
import { followEndOfRun } from './review-runs.mutations.ts';
import { encryptedById } from '../kernel/encryption/encrypted-columns.ts';
import { whyNotPrepared } from './review-pools/prepared-pools.ts';
import { reviewInstanceContext } from './review-pools/review-instances.mutations.ts';

/** What the area adds to the service. */
export const review = {
  attention: [missingHosts],
  encryptedColumns: encryptedById('review_instance', ['cli_auth_url'], reviewInstanceContext),
  hooks: {
    runReached: followEndOfRun,
    async typeOffered(tx, offered) {
      const { id, projectId } = offered;
      if (id === RUN_BROWSER_CHECK) return whyNotChecked(tx, offered);
      if (id !== RECORD_SESSION) return whyNotPrepared(tx, offered);
      const why = whyNotLocal(await localHosts(tx));
      return why !== null && (await hasHostedProvider(tx, projectId)) ? null : why;
    },
    sandboxGoes: (tx, { usernames }) => usesOfOrg(tx, usernames),
    async projectRemoved(tx, projectId) {
      if (await removeSessionsOfProject(tx, projectId)) return { isPending: true };
      // Nothing else would end those that wait, or have no lease.
      for (const key of await openAssignmentKeys(tx, projectId)) tx.after('reviewAssignment', key);
      return {};
    },
  },
} satisfies Area;
