import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { ReviewActivities } from '../../../activities/review/review-assignments/review-assignments.activities.ts';
import { assertExtendable } from '../../../domain/review/review-assignments/assignment-rules.ts';
import type { AssignmentProgress } from '../../../domain/review/review-assignments/lease-progress.mutations.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { LOCAL_DATABASE_WORK } from '../../activity-options.ts';
import {
  assignmentChangedSignal,
  extendUpdate,
  releaseUpdate,
  type ReviewAssignmentInput,
} from './review-assignment.contract.ts';

const { reevaluateAssignment, extendAssignment, releaseAssignment } =
  proxyLocalActivities<ReviewActivities>(LOCAL_DATABASE_WORK);

/** Announces the end of a lease and expires it. The state of the assignment is in its row, so that it can be started again at any time. */
export async function reviewAssignment(input: ReviewAssignmentInput): Promise<void> {
  const { tenantId, tenantSlug, assignmentId } = input;
  const key = { tenantId, tenantSlug, assignmentId };
  let progress: AssignmentProgress | null = null;
  let hasChanged = false;
  const changed = (refusal: Awaited<ReturnType<typeof extendAssignment>>) => {
    if (refusal) throw ApplicationFailure.nonRetryable(refusal.message, refusal.code);
    hasChanged = true;
  };
  setHandler(extendUpdate, async (change) => changed(await extendAssignment({ ...key, ...change })), {
    validator: (_change) => assertNotEnded(progress),
  });
  setHandler(releaseUpdate, async (change) => changed(await releaseAssignment({ ...key, ...change })));
  setHandler(assignmentChangedSignal, () => {
    hasChanged = true;
  });
  for (;;) {
    hasChanged = false;
    progress = await reevaluateAssignment(key);
    if (progress === null || progress.hasEnded) break;
    setCurrentDetails(describe(progress));
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof reviewAssignment>(input);
    }
    const { dueInMs } = progress;
    if (dueInMs === null) await condition(() => hasChanged);
    else await condition(() => hasChanged, Math.max(1, dueInMs), { summary: 'lease ends, or ends soon' });
  }
  setCurrentDetails(progress === null ? 'The assignment is gone' : describe(progress));
  await condition(allHandlersFinished);
}

function describe({ state, orgUsername, expiresAt }: AssignmentProgress): string {
  const org = orgUsername === null ? '' : ` with ${orgUsername}`;
  return `${state}${org}${expiresAt === null ? '' : ` until ${expiresAt}`}`;
}

/** One that waits may have got its org in the meantime; what has ended stays so. */
function assertNotEnded(progress: AssignmentProgress | null): void {
  try {
    if (progress?.hasEnded) assertExtendable(progress.state);
  } catch (error) {
    if (error instanceof DomainError) throw ApplicationFailure.nonRetryable(error.message, error.code);
    throw error;
  }
}
