import type { Deps } from '../deps.ts';
import { HOUSEKEEPING } from './housekeeping.ts';
import { sweepAll } from './sweep.activities.ts';

export const createSystemActivities = (deps: Deps) => ({
  runSweeps: (): Promise<void> => sweepAll(deps),

  /** Removes what has outlived its time; each part is logged when it fails, and tried again at the next turn. */
  async removeOutlived(): Promise<void> {
    for (const { name, run } of HOUSEKEEPING) {
      try {
        deps.log.info({ part: name, removed: await run(deps) }, 'housekeeping');
      } catch (error) {
        deps.log.error({ part: name, err: error }, 'housekeeping failed');
      }
    }
  },
});
export type SystemActivities = ReturnType<typeof createSystemActivities>;
