import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { isoOf } from '../../../kernel/text/date-time-rules.ts';
import { byPair, factsFrom } from '../../deployments/deployment-facts.ts';
import { statesOf } from '../../flows/run-move-rules.ts';
import { fitsBranch } from '../../promotion/promotable-rules.ts';
import type { PromotionPolicy } from '../../../projects/policies/promotion-policy-rules.ts';
import { type Hold, keepsFrom } from '../../release-candidates/holds/hold-rules.ts';
import type { CandidateName } from '../../release-candidates/release-candidates.queries.ts';
import type { RunningPlace } from '../active-releases.ts';
import { type CellState, cellState, type CellStory, furthestRun, stateOfRun, storyOf } from './matrix-rules.ts';
import { type MatrixCandidate, matrixReports, type OpenRun } from './matrix.queries.ts';

/** What of an environment decides its cells. */
interface CellEnvironment {
  id: string;
  name: string;
  promotion: PromotionPolicy | null;
  orchestrationOrder: number;
  /** Pattern of the branches that are deployed there. */
  branch: string;
}

type ReportedCandidate = Pick<MatrixCandidate, 'id' | 'contentDigest' | 'artifacts'>;

const nameOf = ({ domain, releaseName }: CandidateName): string => `${domain}\n${releaseName}`;

/** What was reported of some candidates in some environments, and what their reports make of each. */
export async function reportedIn(
  reads: Reads,
  candidates: readonly ReportedCandidate[],
  environmentIds: readonly string[],
) {
  const reports = await matrixReports(reads, candidates, environmentIds);
  const factOf = await factsFrom(
    reads,
    candidates.map(({ id, contentDigest, artifacts }) => ({ id, contentDigest, value: { artifacts } })),
    reports,
  );
  const ofPair = byPair(reports);
  return (candidate: ReportedCandidate, environmentId: string) => {
    const fact = factOf(candidate.id, environmentId);
    const own = ofPair.get(candidate.id)?.get(environmentId) ?? [];
    return { fact, story: storyOf(candidate, fact, own) };
  };
}

/** What a cell tells beside its state. Members are in the order in which they are shown. */
interface Told {
  version?: string;
  since: string | null;
  by: string | null;
  executionId?: string;
  approvalId?: string;
  nextWindowAt?: string;
}

/** What the cell of a run tells: what it waits for, since when, and for whom. */
function runStory(run: OpenRun): Omit<Told, 'version'> {
  const { since } = statesOf({ ...run, endedAt: null }).at(-1) ?? { since: null };
  const isAtWindow = run.status === 'waiting_window';
  return {
    since: since === null ? null : isoOf(since),
    by: run.triggeredBy,
    executionId: run.id,
    ...(run.status === 'waiting_approval' && run.approvalId !== null && { approvalId: run.approvalId }),
    ...(isAtWindow && run.nextWindowAt !== null && { nextWindowAt: isoOf(run.nextWindowAt) }),
  };
}

/** What goes on beside deployments. */
interface Happening {
  places: readonly RunningPlace[];
  openRuns: readonly OpenRun[];
  /** The holds of a candidate that count. */
  holdsOn: (candidate: MatrixCandidate) => readonly Hold[];
}

/** What of some holds keeps a candidate from an environment, the one that counts first. */
const keepingFrom = (
  holds: readonly Hold[],
  { name: environmentName, promotion, orchestrationOrder: order }: CellEnvironment,
): Hold | undefined =>
  holds.find((hold) => keepsFrom(hold, { environmentName, after: promotion?.after, order, isRollback: false }));

/** The cells of candidates in environments. @param places what runs there. */
export async function matrixCells(
  reads: Reads,
  defaultBranch: string,
  candidates: readonly MatrixCandidate[],
  environments: readonly CellEnvironment[],
  { places, openRuns, holdsOn }: Happening,
) {
  const reported = await reportedIn(
    reads,
    candidates,
    environments.map(({ id }) => id),
  );
  const running = new Map<string, Set<string>>();
  for (const { environmentId, domain, releaseNames } of places) {
    const names = running.get(environmentId) ?? new Set();
    running.set(environmentId, names);
    for (const releaseName of releaseNames) names.add(nameOf({ domain, releaseName }));
  }
  const runs = Map.groupBy(openRuns, ({ environmentId }) => environmentId);
  const taken = new Map<string, boolean>();
  const isTaken = (environment: CellEnvironment, candidate: MatrixCandidate): boolean => {
    const key = `${candidate.branch ?? ''}\n${environment.branch}`;
    const fits = taken.get(key) ?? fitsBranch(environment, candidate, defaultBranch);
    taken.set(key, fits);
    return fits;
  };
  return (candidate: MatrixCandidate) => {
    const holds = holdsOn(candidate);
    const name = nameOf(candidate);
    return environments.map((environment) => {
      const ofRelease = runs.get(environment.id)?.filter(({ release }) => release !== null && nameOf(release) === name);
      const run = ofRelease && furthestRun(ofRelease);
      const { fact, story } = reported(candidate, environment.id);
      const hold = keepingFrom(holds, environment);
      const state = cellState({
        fact,
        isRunning: running.get(environment.id)?.has(name) === true,
        isTaken: isTaken(environment, candidate),
        isHeld: hold !== undefined,
        run: run?.status,
      });
      return shownCell(environment.id, state, fact.packages, {
        story,
        run: run && stateOfRun(run.status) !== undefined ? runStory(run) : undefined,
        hold: state === 'held' ? hold : undefined,
      });
    });
  };
}

interface Cell extends Told {
  environmentId: string;
  state: CellState;
  missingPackages: string[];
}

/** There are many: what is absent is not set, rather than copied from one object to the next. */
function shownCell(
  environmentId: string,
  state: CellState,
  missingPackages: string[],
  { story, run, hold }: { story: CellStory; run: Omit<Told, 'version'> | undefined; hold: Hold | undefined },
): Cell {
  const cell = { environmentId, state } as Cell;
  if (story.version !== undefined) cell.version = story.version;
  if (run) Object.assign(cell, run);
  else {
    cell.since = story.since;
    cell.by = story.by;
    if (story.executionId !== null) cell.executionId = story.executionId;
  }
  if (hold) {
    cell.since = hold.stored.since;
    cell.by = hold.stored.by;
  }
  cell.missingPackages = missingPackages;
  return cell;
}
