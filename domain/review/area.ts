import type { Area } from '../kernel/area-manifest.ts';
import { removeSessionsOfProject } from './browser-sessions/sessions.mutations.ts';
import { openAssignmentKeys } from './review-assignments/review-assignments.queries.ts';
import { followEndOfRun } from './review-runs.mutations.ts';
import { encryptedById } from '../kernel/encryption/encrypted-columns.ts';
import { reviewInstanceContext } from './review-pools/review-instances.mutations.ts';

/** What the area adds to the service. */
export const review = {
  encryptedColumns: encryptedById('review_instance', ['cli_auth_url'], reviewInstanceContext),
  hooks: {
    runReached: followEndOfRun,
    async projectRemoved(tx, projectId) {
      if (await removeSessionsOfProject(tx, projectId)) return { isPending: true };
      // Nothing else would end those that wait, or have no lease.
      for (const key of await openAssignmentKeys(tx, projectId)) tx.after('reviewAssignment', key);
      return {};
    },
  },
} satisfies Area;
