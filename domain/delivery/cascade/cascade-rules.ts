import { matchesPattern } from '../../kernel/text/pattern-rules.ts';

/** A merge of a branch into the next one. */
export interface CascadeStep {
  from: string;
  to: string;
}

const isPattern = (name: string): boolean => name.includes('*');

/**
 * The merges of a cascade, in its order: those of a branch, or all between branches that it names. A target that is a
 * pattern names no branch, and is none.
 */
export const stepsOf = (cascade: readonly CascadeStep[], branch: string | undefined): CascadeStep[] =>
  cascade
    .filter(
      ({ from, to }) => !isPattern(to) && (branch === undefined ? !isPattern(from) : matchesPattern(from, branch)),
    )
    .map(({ from, to }) => ({ from: branch ?? from, to }))
    .filter(({ from, to }) => from !== to);

/** What became of a merge. `not_tried`: what it would have carried on was not merged itself. */
export type StepOutcome = 'merged' | 'up_to_date' | 'conflicts' | 'refused' | 'failed' | 'not_tried';

/** The branches did not come together. */
export const isLeft = (outcome: StepOutcome): boolean => outcome !== 'merged' && outcome !== 'up_to_date';

/** Why a cascade cannot be merged; null: it can. */
export function whyNoStep(cascade: readonly CascadeStep[], branch: string | undefined): string | null {
  if (cascade.length === 0) return 'The project has no cascade: its configuration lists it as `cascade: [{from, to}]`';
  if (stepsOf(cascade, branch).length > 0) return null;
  return branch === undefined
    ? 'The cascade of the project names patterns alone: name the branch to merge'
    : `The cascade of the project does not go on from ${branch}`;
}
