import { stalledAssignments, stalledPools } from '../../../domain/review/review-assignments/stalled-reviews.queries.ts';
import {
  assignmentChangedSignal,
  reviewAssignmentContract,
} from '../../../workflows/review/review-assignments/review-assignment.contract.ts';
import { poolChangedSignal, reviewPoolContract } from '../../../workflows/review/review-pools/review-pool.contract.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';

/** An assignment that was made so long ago, and whose workflow has not seen it, was not launched. */
const UNSEEN_SECONDS = 30;

/** Starts the workflows of assignments that were not launched, or missed what was due. */
export const reviewAssignmentsSweep = (unseenSeconds = UNSEEN_SECONDS) =>
  defineSweep({
    name: 'review-assignments',
    limit: 500,
    concurrency: 20,
    due: ({ system }, limit) => stalledAssignments(system, unseenSeconds, limit),
    key: ({ assignmentId }) => assignmentId,
    handle: ({ launch }, assignment) =>
      launch.signalWithStart(reviewAssignmentContract, assignment, assignmentChangedSignal),
  });

/** Starts the workflows of pools whose line, ended orgs or lack of orgs nobody sees to. */
export const reviewPoolsSweep = defineSweep({
  name: 'review-pools',
  limit: 100,
  due: ({ system }, limit) => stalledPools(system, limit),
  key: ({ poolId }) => poolId,
  handle: ({ launch }, pool) => launch.signalWithStart(reviewPoolContract, pool, poolChangedSignal),
});
