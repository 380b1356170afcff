import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { isoOf } from '../../../kernel/text/date-time-rules.ts';
import { factsFrom } from '../../deployments/deployment-facts.ts';
import { statesOf } from '../../flows/run-move-rules.ts';
import { fitsBranch } from '../../promotion/promotable-rules.ts';
import type { PromotionPolicy } from '../../../projects/policies/promotion-policy-rules.ts';
import { type Hold, keepsFrom } from '../../release-candidates/holds/hold-rules.ts';
import type { CandidateName } from '../../release-candidates/release-candidates.queries.ts';
import type { RunningPlace } from '../active-releases.ts';
import { cellState, furthestRun, stateOfRun, storyOf } from './matrix-rules.ts';
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

const keyOf = (environmentId: string, { domain, releaseName }: CandidateName): string =>
  `${environmentId}\n${domain}\n${releaseName}`;

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
  const ofPair = Map.groupBy(reports, ({ candidateId, environmentId }) => `${candidateId}/${environmentId}`);
  return ({ id, contentDigest, artifacts }: ReportedCandidate, environmentId: string) => {
    const fact = factOf(id, environmentId);
    const own = ofPair.get(`${id}/${environmentId}`) ?? [];
    return { fact, story: storyOf({ contentDigest, artifacts }, fact, own) };
  };
}

/** What the cell of a run tells: what it waits for, since when, and for whom. */
function runStory(run: OpenRun) {
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
  const running = new Set(
    places.flatMap(({ environmentId, domain, releaseNames }) =>
      [...releaseNames].map((releaseName) => keyOf(environmentId, { domain, releaseName })),
    ),
  );
  const runs = Map.groupBy(
    openRuns.filter(({ release }) => release !== null),
    ({ environmentId, release }) => (release ? keyOf(environmentId, release) : ''),
  );
  return (candidate: MatrixCandidate) => {
    const holds = holdsOn(candidate);
    return environments.map((environment) => {
      const key = keyOf(environment.id, candidate);
      const run = furthestRun(runs.get(key) ?? []);
      const { fact, story } = reported(candidate, environment.id);
      const hold = keepingFrom(holds, environment);
      const state = cellState({
        fact,
        isRunning: running.has(key),
        isTaken: fitsBranch(environment, candidate, defaultBranch),
        isHeld: hold !== undefined,
        run: run?.status,
      });
      const { since, by, executionId, version } = story;
      const told =
        run && stateOfRun(run.status) !== undefined
          ? runStory(run)
          : { since, by, ...(executionId !== null && { executionId }) };
      return {
        environmentId: environment.id,
        state,
        ...(version !== undefined && { version }),
        ...told,
        ...(state === 'held' && hold && { since: hold.stored.since, by: hold.stored.by }),
        missingPackages: fact.packages,
      };
    });
  };
}
