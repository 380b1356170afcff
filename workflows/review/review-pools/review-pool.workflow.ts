import {
  condition,
  continueAsNew,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { ReviewActivities } from '../../../activities/review/review-assignments/review-assignments.activities.ts';
import type { PoolProgress } from '../../../domain/review/review-assignments/pool-upkeep.mutations.ts';
import { LOCAL_DATABASE_WORK } from '../../activity-options.ts';
import { poolChangedSignal, type ReviewPoolInput } from './review-pool.contract.ts';

/** A pool with nothing due completes after this; what changes it starts it again. */
const LINGER_MS = 30_000;

const { reevaluatePool } = proxyLocalActivities<ReviewActivities>(LOCAL_DATABASE_WORK);

/** Keeps orgs available in a pool, gives them to those who wait, and retires those that end. Its state is in rows. */
export async function reviewPool(input: ReviewPoolInput): Promise<void> {
  const { tenantId, tenantSlug, poolId } = input;
  let hasChanged = false;
  setHandler(poolChangedSignal, () => {
    hasChanged = true;
  });
  for (;;) {
    hasChanged = false;
    const progress = await reevaluatePool({ tenantId, tenantSlug, poolId });
    if (progress === null) return;
    setCurrentDetails(describe(progress));
    // A pending signal may be dropped here: the next run begins with an evaluation.
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof reviewPool>(input);
    const { dueInMs } = progress;
    const [timeoutMs, summary] = dueInMs === null ? [LINGER_MS, 'idle'] : [Math.max(1, dueInMs), 'upkeep is due'];
    const isAwake = await condition(() => hasChanged, timeoutMs, { summary });
    if (!isAwake && dueInMs === null) return;
  }
}

function describe({ counts, waiting, isPreparing, prepareFailures }: PoolProgress): string {
  const { available, assigned } = counts;
  const preparing = isPreparing ? '; preparing' : '';
  const failed = prepareFailures === 0 ? '' : `; ${prepareFailures} runs failed in a row`;
  return `${available} available, ${assigned} assigned, ${waiting} waiting${preparing}${failed}`;
}
