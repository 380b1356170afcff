import { progressText, type StepProgress } from '../org-steps/org-step-rules.ts';

/** How far a run is that the service itself executes. */
export interface RunProgress extends StepProgress {
  /** What it is at: `Deploy`. */
  step: string;
}

/** A step is named in so many characters; what an org says may be longer. */
const STEP_MAX = 300;

/** The progress of a run whose operation says this of its step. */
export const progressOfRun = (step: string, { percent, counts }: StepProgress): RunProgress => ({
  step: step.slice(0, STEP_MAX).toWellFormed(),
  ...(percent !== undefined && { percent: Math.round(percent) }),
  ...(counts !== undefined && { counts }),
});

/** The line of the output that says how far a run is. */
export const progressLine = (at: Date, { step, ...progress }: RunProgress): string =>
  `${at.toISOString()} ${progressText(step, progress)}`;
