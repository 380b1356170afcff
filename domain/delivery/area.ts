import type { Area } from '../kernel/area-manifest.ts';
import { expiringApprovals } from './approvals/approval-attention.queries.ts';
import { overdueLocks } from './environment-locks/lock-attention.queries.ts';
import { failedRuns } from './flows/run-attention.queries.ts';
import { refusedSchedules } from './flows/schedules/schedule-attention.queries.ts';
import { openRunsOfProject } from './flows/flow-runs.queries.ts';
import type { OfferedType } from './flows/runs.hooks.ts';
import { assertExecutors } from './flows/parse-payload.ts';
import { whyNotCascade } from './cascade/cascade-offers.ts';
import { whyNotChangeSet } from './org-deployments/change-set-offers.ts';
import { whyNotSource } from './org-deployments/deploy-offers.ts';
import { whyNotTested } from './apex-tests/apex-tests-offers.ts';
import { whyNotPackages } from './org-packages/package-offers.ts';
import { whyNotRelease } from './org-releases/release-offers.ts';
import { whyNotPeople } from './org-people/people-offers.ts';
import type { Tx } from '../unit-of-work.ts';
import { followPostCopy } from './sandboxes/post-copy.mutations.ts';
import { whyNotSandbox } from './sandboxes/sandbox-offers.ts';
import { noteRunOfCheck } from './verification/check-runs.mutations.ts';
import { runsWaitingForWindows } from './promotion/promotion.queries.ts';

/** Why the service itself cannot execute a type that is asked for, as far as the database knows; of each feature. */
const WHY_NOT: readonly ((tx: Tx, offered: OfferedType) => Promise<string | null>)[] = [
  whyNotCascade,
  whyNotPackages,
  whyNotPeople,
  whyNotSandbox,
  whyNotTested,
  whyNotSource,
  whyNotRelease,
  whyNotChangeSet,
];

/** What the area adds to the service. */
export const delivery = {
  attention: [failedRuns, refusedSchedules, expiringApprovals, overdueLocks],
  hooks: {
    async typeOffered(tx, offered) {
      for (const whyNot of WHY_NOT) {
        const why = await whyNot(tx, offered);
        if (why !== null) return why;
      }
      return null;
    },
    async runReached(tx, run, reached) {
      await followPostCopy(tx, run, reached);
      await noteRunOfCheck(tx, run, reached);
    },
    async projectChanged(_, { configuration }) {
      assertExecutors(configuration.executors ?? {});
    },
    projectRemoved: async (tx, projectId) => ({ runs: await openRunsOfProject(tx, projectId) }),
    async environmentChanged(tx, environment) {
      for (const run of await runsWaitingForWindows(tx, environment)) tx.after('run', run);
    },
  },
} satisfies Area;
