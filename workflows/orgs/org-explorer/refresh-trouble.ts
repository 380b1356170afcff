import { proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { OrgExplorerActivities } from '../../../activities/orgs/org-explorer/org-explorer.activities.ts';
import type { Failed, RefreshJob } from '../../../activities/orgs/org-explorer/refresh-scope.ts';
import { afterFailure, retryDelayMs } from '../../../domain/orgs/org-explorer/retrieve-rules.ts';
import { UNTIL_DONE } from '../../activity-options.ts';

const { noteWaiting } = proxyActivities<OrgExplorerActivities>(UNTIL_DONE);

/** Waiting for calls of the org, a day in all by default. */
const PAUSES_MAX = 288;

/** Since an archive was stored. */
export interface TroubleCounts {
  failures: number;
  pauses: number;
  /** Without those that earlier refreshes left out, too. */
  leftOut: number;
}

export const NO_TROUBLE: Readonly<TroubleCounts> = { failures: 0, pauses: 0, leftOut: 0 };

/** A timer takes the engine about a second, however short it is. */
const TIMER_MIN_MS = 100;
export async function pause(ms: number, summary: string): Promise<void> {
  if (ms >= TIMER_MIN_MS) await sleep(ms, { summary });
}

export type Trouble = ReturnType<typeof createTrouble>;

/** Counts failures in a row, and components that are left out, and waits as they ask for. */
export function createTrouble(job: RefreshJob, counts: TroubleCounts) {
  return {
    over() {
      Object.assign(counts, NO_TROUBLE);
    },
    async after(failed: Failed) {
      const next = afterFailure(failed, { ...failed, failures: counts.failures + 1, leftOut: counts.leftOut });
      if (next === 'leave_out' && !failed.only?.failedBefore) counts.leftOut++;
      if (next === 'retry') await pause(retryDelayMs(++counts.failures, job.pollMs), `after: ${failed.kind}`);
      if (next === 'pause') {
        if (++counts.pauses > PAUSES_MAX) return 'end';
        await noteWaiting({ ...job, message: `Waits until the org takes calls again. ${failed.message}` });
        setCurrentDetails(`${job.username}: waits until the org takes calls again`);
        await sleep(job.pauseMs, { summary: 'until the org takes calls again' });
        await noteWaiting({ ...job, message: null });
      }
      return next;
    },
  };
}
