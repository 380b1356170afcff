import { isDeepStrictEqual } from 'node:util';
import { progressText, type StepProgress } from '../../../domain/delivery/org-steps/org-step-rules.ts';
import type { StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { move, type OrgWork } from './org-work.ts';

/** A step is given up of which its org has shown nothing new for so long. */
const STILL_MAX_HOURS = 24;

/**
 * Notes how far the org is with a step. One of which nothing new was seen for a day ends as one whose outcome nobody knows;
 * true: it has.
 * @param lookAt what a person looks at then.
 */
export async function noteProgress(
  work: Pick<OrgWork, 'deps' | 'tenant'> & Partial<Pick<OrgWork, 'run'>>,
  step: StepRow,
  { text, progress, lookAt }: { text: string; progress: StepProgress; lookAt: string },
): Promise<boolean> {
  const now = work.deps.now();
  const { changedAt = step.askedAt } = step.result as { changedAt?: string };
  const isStill = step.detail === text && isDeepStrictEqual(step.progress, progress);
  const since = isStill && changedAt !== null ? new Date(changedAt) : now;
  const isGivenUp = now.getTime() - since.getTime() > STILL_MAX_HOURS * 3_600_000;
  await move(work, step, {
    detail: text,
    progress,
    result: { ...step.result, changedAt: since.toISOString() },
    ...(isGivenUp && {
      state: 'unknown',
      error: `${step.name}: the org has shown nothing new for ${STILL_MAX_HOURS} hours (${progressText(text, progress)}), and may go on: look at ${lookAt}, before the run is started again.`,
    }),
  });
  return isGivenUp;
}
