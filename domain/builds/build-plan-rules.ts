import { matchesPattern } from '../shared/pattern-rules.ts';

interface PlannedProject {
  defaultBranch: string;
  configuration: { branches?: readonly string[]; cascade?: readonly { from: string; to: string }[] };
}

/** Why a push to a branch is not built; null when it is. A project that names no branches has all built. */
export function whyExcluded(
  branch: string,
  { defaultBranch, configuration: { branches = [], cascade = [] } }: PlannedProject,
): string | null {
  const built = [defaultBranch, ...branches, ...cascade.flatMap(({ from, to }) => [from, to])];
  if (branches.length === 0 || built.some((pattern) => matchesPattern(pattern, branch))) return null;
  return `The project builds ${built.slice(0, 20).join(', ')}; ${branch} is none of them`;
}

/** The branch that is merged into this one by the project's cascade; null when there is none. */
export const cascadeSource = (branch: string, { configuration: { cascade = [] } }: PlannedProject): string | null =>
  cascade.find(({ to }) => matchesPattern(to, branch))?.from ?? null;

interface Dispatchable {
  isExcluded: boolean;
  /** Something here can carry a build out. */
  isAvailable: boolean;
  existing: 'active' | 'completed' | null;
}

/** Whether a run could be started for a commit, or what there is instead. */
export function dispatchStatus({
  isExcluded,
  isAvailable,
  existing,
}: Dispatchable): 'active' | 'completed' | 'excluded' | 'available' | 'unavailable' {
  if (existing) return existing;
  if (isExcluded) return 'excluded';
  return isAvailable ? 'available' : 'unavailable';
}
