import { type BrowserRecording, labelOfStep } from '../../projects/policies/browser-recording-rules.ts';

/**
 * Why a step failed.
 * - `selector_not_found`: none of its selectors led to an element that is visible
 * - `not_actionable`: the element was there, but covered, disabled or moving
 * - `assertion_failed`: what it waited for did not come
 * - `navigation_failed`: the page did not load, or was answered with an error
 * - `target_not_found`: the page or frame was not there
 * - `timed_out`: it took longer than it may
 */
export type StepFailureReason =
  | 'selector_not_found'
  | 'not_actionable'
  | 'assertion_failed'
  | 'navigation_failed'
  | 'target_not_found'
  | 'timed_out';

export interface StepFailure {
  reason: StepFailureReason;
  /** For people; without what pages show, and without secrets. */
  detail: string;
}

/** A step as the result of a run shows it. */
export interface PlayedStep {
  /** From 1 on. */
  number: number;
  type: string;
  what: string;
  /** `skipped`: a step before it failed, or the browser was lost. */
  state: 'passed' | 'failed' | 'skipped';
  durationMs?: number;
  reason?: StepFailureReason;
  detail?: string;
}

interface Ended {
  at: number;
  durationMs: number;
  failure?: StepFailure | undefined;
}

/** All steps of a recording, by those that ended. */
export function playedSteps({ steps }: BrowserRecording, ends: readonly Ended[]): PlayedStep[] {
  const byStep = new Map(ends.map((end) => [end.at, end]));
  return steps.map((step, at) => {
    const shown = { number: at + 1, type: step.type, what: labelOfStep(step) };
    const end = byStep.get(at);
    if (!end) return { ...shown, state: 'skipped' };
    const { durationMs, failure } = end;
    return failure ? { ...shown, state: 'failed', durationMs, ...failure } : { ...shown, state: 'passed', durationMs };
  });
}

/** What people read of a step that failed: `Step 3 of 5, click aria/Save, failed: …`. */
export const failureText = ({ number, what, detail = '' }: PlayedStep, count: number): string =>
  `Step ${number} of ${count}, ${what}, failed: ${detail}`;

/** A line of the log of a run. */
export const stepLine = ({ number, what, state, durationMs = 0, detail }: PlayedStep): string =>
  `${number}. ${what}: ${state}${state === 'skipped' ? '' : ` after ${(durationMs / 1_000).toFixed(1)} s`}${detail === undefined ? '' : `: ${detail}`}`;
