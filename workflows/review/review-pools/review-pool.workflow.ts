import { condition, continueAsNew, proxyLocalActivities, setCurrentDetails } from '@temporalio/workflow';
import type { ReviewActivities } from '../../../activities/review/review-assignments/review-assignments.activities.ts';
import type { PoolProgress } from '../../../domain/review/review-assignments/pool-upkeep.mutations.ts';
import { LOCAL_DATABASE_WORK } from '../../activity-options.ts';
import { runLane } from '../../lane.ts';
import { poolChangedSignal, type ReviewPoolInput } from './review-pool.contract.ts';

/** A pool with nothing due completes after this; what changes it starts it again. */
const LINGER_MS = 30_000;

const { reevaluatePool } = proxyLocalActivities<ReviewActivities>(LOCAL_DATABASE_WORK);

/** Keeps orgs available in a pool, gives them to those who wait, and retires those that end. Its state is in rows. */
export async function reviewPool(input: ReviewPoolInput): Promise<void> {
  const { tenantId, tenantSlug, poolId } = input;
  await runLane({
    signal: poolChangedSignal,
    async pump(hasChanged) {
      const progress = await reevaluatePool({ tenantId, tenantSlug, poolId });
      if (progress === null) return null;
      setCurrentDetails(describe(progress));
      if (progress.dueInMs !== null) return Math.max(1, progress.dueInMs);
      await condition(hasChanged, LINGER_MS, { summary: 'idle' });
      return null;
    },
    again: () => continueAsNew<typeof reviewPool>(input),
    pausedUntil: 'upkeep is due',
  });
}

function describe({ counts, waiting, isPreparing, prepareFailures }: PoolProgress): string {
  const { available, assigned } = counts;
  const preparing = isPreparing ? '; preparing' : '';
  const failed = prepareFailures === 0 ? '' : `; ${prepareFailures} runs failed in a row`;
  return `${available} available, ${assigned} assigned, ${waiting} waiting${preparing}${failed}`;
}
