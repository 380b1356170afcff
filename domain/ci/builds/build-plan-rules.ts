import { executorOf } from '../../delivery/flows/programs/executor-rules.ts';
import { isFinal, isSuccess, type RunStatus } from '../../delivery/flows/run-status-rules.ts';
import { matchesPattern } from '../../kernel/text/pattern-rules.ts';

interface PlannedProject {
  defaultBranch: string;
  configuration: { branches?: readonly string[]; cascade?: readonly { from: string; to: string }[] };
}

/** Why a push to a branch is not built; null when it is. A project that names no branches builds all. */
export function whyExcluded(
  branch: string,
  { defaultBranch, configuration: { branches = [], cascade = [] } }: PlannedProject,
): string | null {
  const built = [defaultBranch, ...branches, ...cascade.flatMap(({ from, to }) => [from, to])];
  if (branches.length === 0 || built.some((pattern) => matchesPattern(pattern, branch))) return null;
  return `The project builds ${built.slice(0, 20).join(', ')}; ${branch} is none of them`;
}

/** The branch that the project's cascade merges into this one; null when there is none. */
export const cascadeSource = (branch: string, { configuration: { cascade = [] } }: PlannedProject): string | null =>
  cascade.find(({ to }) => matchesPattern(to, branch))?.from ?? null;

/** The run that builds, or built, a commit: the newest that has not failed. @param runs newest first. */
export const currentBuild = <Run extends { status: RunStatus }>(runs: readonly Run[]): Run | undefined =>
  runs.find(({ status }) => !isFinal(status) || isSuccess(status));

interface Dispatchable {
  isExcluded: boolean;
  /** The project has a pipeline for builds. */
  hasPipeline: boolean;
  /** The operator's list has a program for builds. */
  hasCommand: boolean;
  /** The status of the run that builds, or built, the commit. */
  existing: RunStatus | undefined;
}

/** Whether a run could be started for a commit, or what there is instead. */
export function dispatchStatus({
  isExcluded,
  existing,
  ...means
}: Dispatchable): 'active' | 'completed' | 'excluded' | 'available' | 'unavailable' {
  if (existing) return isFinal(existing) ? 'completed' : 'active';
  if (isExcluded) return 'excluded';
  return executorOf({ own: undefined }, means) ? 'available' : 'unavailable';
}
