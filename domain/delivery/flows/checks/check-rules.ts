import type { CommitStatus } from '../../../code/git-hosts/git-host.port.ts';
import { type DisplayStatus, displayOf, type FinalStatus } from '../run-status-rules.ts';

export const CHECK_KINDS = ['check', 'validation', 'status', 'label'] as const;
/** What is written to the host: three statuses of the commit, each by a name of its own, and a label of the pull request. */
export type CheckKind = (typeof CHECK_KINDS)[number];

/** What the host should show of a run. */
export interface WantedCheck {
  status: FinalStatus;
  /** One line for people. */
  description: string;
}

const STATES: Record<DisplayStatus, CommitStatus['state']> = {
  Waiting: 'pending',
  Running: 'pending',
  Completed: 'success',
  Partial: 'failure',
  Failed: 'failure',
  Cancelled: 'error',
};
const LABELS: Partial<Record<DisplayStatus, string>> = {
  Completed: 'quayside: passed',
  Partial: 'quayside: partly failed',
  Failed: 'quayside: failed',
  Cancelled: 'quayside: cancelled',
};

/** How a git host is told of a run that ended so. */
export const stateOnHost = (status: FinalStatus): CommitStatus['state'] => STATES[displayOf(status)];

/** The label of an outcome, and those of the other outcomes, which must go. */
export function labelOf(status: FinalStatus): { add: string; remove: string[] } {
  const add = LABELS[displayOf(status)] ?? 'quayside: failed';
  return { add, remove: Object.values(LABELS).filter((label) => label !== add) };
}

/** The name of a status among those of its commit: a run of another path or domain has one of its own. */
export const contextOf = (kind: CheckKind, { flowPath, domain }: { flowPath: string; domain: string | null }): string =>
  ['quayside', kind, flowPath, ...(domain === null ? [] : [domain])].join('/');
