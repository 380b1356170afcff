/** What may become of a step: it is asked for, goes on in the org under an id of its own, and ends. */
export const STEP_MOVES = {
  planned: ['asked', 'begun', 'succeeded', 'failed', 'cancelled', 'skipped'],
  asked: ['planned', 'begun', 'succeeded', 'failed', 'unknown', 'cancelled'],
  begun: ['planned', 'succeeded', 'failed', 'unknown', 'cancelled'],
  succeeded: [],
  failed: [],
  unknown: [],
  cancelled: [],
  skipped: [],
} as const satisfies Record<string, readonly string[]>;

/**
 * - `planned`: the org was not asked for it, or it is to be asked again, since the org refused only for now.
 * - `asked`: the org may have been asked; its answer is not known.
 * - `begun`: the org does it, under the id of the step.
 * - `unknown`: neither we nor the org can tell whether it was done.
 * - `skipped`: there was nothing to do.
 */
export type StepState = keyof typeof STEP_MOVES;

export const STEP_STATES = Object.keys(STEP_MOVES) as StepState[];

export const isEnded = (state: StepState): boolean => STEP_MOVES[state].length === 0;

/** How far a step is; each member as far as the org says it. */
export interface StepProgress {
  /** 0 to 100. */
  percent?: number | undefined;
  /** What is counted: `components`, `componentsDone`, `tests`. */
  counts?: Record<string, number> | undefined;
}

/** What people read of a step: `Deploy, 40 %, 12 of 30 components, 1 component errors`. */
export const progressText = (text: string, { percent, counts = {} }: StepProgress): string =>
  [text, ...(percent === undefined ? [] : [`${Math.round(percent)} %`]), ...countTexts(counts)].join(', ');

function countTexts(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).flatMap(([name, count]) => {
    if (name.endsWith('Done') && name.slice(0, -'Done'.length) in counts) return [];
    const done = counts[`${name}Done`];
    if (done !== undefined) return [`${done} of ${count} ${wordsOf(name)}`];
    return count === 0 ? [] : [`${count} ${wordsOf(name)}`];
  });
}

/** `componentErrors` as `component errors`. */
const wordsOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
