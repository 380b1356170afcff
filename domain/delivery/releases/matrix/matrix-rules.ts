import {
  type ContentFacts,
  type DeploymentFact,
  inOrder,
  INSTALLING,
  isEffective,
  type StoredReport,
} from '../../deployments/deployed-rules.ts';
import type { Packages } from '../../deployments/report-rules.ts';
import { isAtWork, type RunStatus } from '../../flows/run-status-rules.ts';

/** What a run waits for, and being at work, from the first to the last. */
const RUN_STATES = ['waiting_approval', 'held', 'waiting_window', 'waiting_lock', 'running'] as const;
type RunCellState = (typeof RUN_STATES)[number];

/** What a cell of the matrix says: where a candidate is in an environment. */
export const CELL_STATES = [
  'deployed',
  'installed_before',
  'partial',
  'failed',
  'rolled_back',
  'other_content',
  ...RUN_STATES,
  'never',
  'not_taken',
] as const;
export type CellState = (typeof CELL_STATES)[number];

/** What decides the state of a cell. */
export interface CellFacts {
  fact: DeploymentFact;
  /** The release is one of those that run there. */
  isRunning: boolean;
  /** The environment takes releases of the candidate's branch. */
  isTaken: boolean;
  /** A hold keeps the candidate from the environment. */
  isHeld: boolean;
  /** The status of the open run that takes the candidate there, if there is one. */
  run: RunStatus | undefined;
}

/**
 * Where a candidate is in an environment. What a run waits for or does goes before what was deployed, and a hold before
 * every run whose work has not begun and before why the candidate is not there; a release that is deployed and that another one has
 * replaced was installed before.
 */
export function cellState({ fact, isRunning, isTaken, isHeld, run }: CellFacts): CellState {
  const ofRun = run === undefined ? undefined : stateOfRun(run);
  if (isHeld && run !== undefined && !isAtWork(run)) return 'held';
  if (ofRun !== undefined) return ofRun;
  if (isHeld && !fact.isDeployed && isTaken) return 'held';
  if (fact.isDeployed) return isRunning ? 'deployed' : 'installed_before';
  if (fact.reason !== 'never') return fact.reason ?? 'never';
  return isTaken ? 'never' : 'not_taken';
}

/** What an open run makes of its cell: it waits at a gate, or is at work; undefined: it did not come to either yet. */
export function stateOfRun(status: RunStatus): RunCellState | undefined {
  if (isAtWork(status)) return 'running';
  return status === 'waiting_hold' ? 'held' : RUN_STATES.find((state) => state === status);
}

/** The one of several open runs with a candidate that is furthest; where several are, the oldest of them. */
export function furthestRun<Run extends { status: RunStatus; createdAt: string }>(
  runs: readonly Run[],
): Run | undefined {
  const place = ({ status }: Run) => {
    const state = stateOfRun(status);
    return state === undefined ? -1 : RUN_STATES.indexOf(state);
  };
  return runs.toSorted((a, b) => place(b) - place(a) || (a.createdAt < b.createdAt ? -1 : 1))[0];
}

/** A report of a candidate, and who made it. Moments in milliseconds since the epoch. */
export interface CellReport extends Omit<StoredReport, 'installed'> {
  /** Null: all packages of the candidate. */
  installed: Packages | null;
  executionId: string | null;
  by: string | null;
  rolledBackAt: number | null;
  rolledBackBy: string | null;
}

/** What a cell tells beside its state, by what was reported. */
export interface CellStory {
  /** ISO 8601; null: nothing was reported. */
  since: string | null;
  by: string | null;
  executionId: string | null;
  /** The one version in which packages were installed; undefined: none were, or in several. */
  version: string | undefined;
}

const NOTHING: CellStory = { since: null, by: null, executionId: null, version: undefined };

/**
 * Since when a candidate is where it is in an environment, and by whom. Deployed: by its report that completed it, or
 * the last before another's did; rolled back: by whoever took it back; else by its last report that was not cancelled.
 * @param reports of the candidate to the environment, in any order.
 */
export function storyOf(
  { contentDigest, artifacts }: Pick<ContentFacts, 'contentDigest' | 'artifacts'>,
  fact: DeploymentFact,
  reports: readonly CellReport[],
): CellStory {
  const report = tellingReport(contentDigest, fact, reports);
  if (!report) return NOTHING;
  const { executionId, installed } = report;
  const version = onlyVersion(installed ?? artifacts);
  const { rolledBackAt, rolledBackBy } = report;
  if (fact.reason === 'rolled_back' && rolledBackAt !== null)
    return { since: new Date(rolledBackAt).toISOString(), by: rolledBackBy, executionId, version };
  return { since: fact.deployedAt ?? new Date(report.deployedAt).toISOString(), by: report.by, executionId, version };
}

/** The one version that packages have; undefined: there are none, or they have several. */
function onlyVersion(packages: Packages): string | undefined {
  let only: string | undefined;
  for (const name of Object.keys(packages)) {
    const version = packages[name];
    if (only !== undefined && version !== only) return undefined;
    only = version;
  }
  return only;
}

function tellingReport(
  contentDigest: string,
  { deployedAt, reason }: DeploymentFact,
  reports: readonly CellReport[],
): CellReport | undefined {
  const byTime = inOrder(reports);
  if (reason === 'other_content') return byTime.findLast(({ status }) => INSTALLING.includes(status));
  const own = byTime.filter((each) => each.contentDigest === contentDigest && each.status !== 'Cancelled');
  if (own.length === 1 || deployedAt === null) return own.at(-1);
  const since = Date.parse(deployedAt);
  return own.findLast((each) => isEffective(each) && each.deployedAt <= since) ?? own.find(isEffective);
}
