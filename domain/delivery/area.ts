import type { Area } from '../kernel/area-manifest.ts';
import { openRunsOfProject } from './flows/flow-runs.queries.ts';
import { whyNotInOrg } from './org-people/org-of-run.ts';
import { runsWaitingForWindows } from './promotion/promotion.queries.ts';

/** What the area adds to the service. */
export const delivery = {
  hooks: {
    typeOffered: whyNotInOrg,
    projectRemoved: async (tx, projectId) => ({ runs: await openRunsOfProject(tx, projectId) }),
    async environmentChanged(tx, environment) {
      for (const run of await runsWaitingForWindows(tx, environment)) tx.after('run', run);
    },
  },
} satisfies Area;
