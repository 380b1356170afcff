import { type DeploymentFacts, deploymentFacts } from '../../deployments/deployment-facts.ts';
import type { DeploymentLog } from '../../deployments/deployment-log-cache.ts';
import { expectedSeconds, medianSeconds } from '../../deployments/deployments.queries.ts';
import { listEnvironments } from '../../../projects/environments/environments.queries.ts';
import { type CommitView, commitViews } from '../../../code/git/commits.queries.ts';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import type { RangeFacts } from '../../../code/git/graph/range-cache.ts';
import { rangeFacts, type Ranges } from '../../../code/git/graph/range-facts.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import { seriesOfDomain } from '../../release-candidates/candidate-series.queries.ts';
import { requiredEnvironments } from '../../release-candidates/finalization-rules.ts';
import type { CandidateRow } from '../../release-candidates/release-candidates.queries.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { deployedTo } from './baseline-rules.ts';
import { rangesOf, sidesOf, sideView, totalsOf } from './change-sides.ts';
import { type ResolvedChange, resolveChanges } from './resolved-changes.ts';
import { directionOf, type PackageChange } from './package-change-rules.ts';
import { type AnalysedChange, type Candidate, comparisonsOf, type Line, linesOf, packagesOf } from './rolling-lines.ts';
import { installedStates } from '../versions/installed-states.ts';
import { ANALYSED_MAX } from './rolling-analysis.queries.ts';

export interface AnalysisOptions {
  domain: string;
  branch: string | undefined;
  includePackageChangelogs: boolean;
}

/** The most commits that are listed for one package of one candidate; totals count all. */
const COMMITS_MAX = 50;

/** Holds the candidates of a domain against the one before each on its branch, and against what of the branch is deployed everywhere. */
export async function rollingAnalysis(
  tx: Tx,
  history: History,
  log: DeploymentLog,
  project: ProjectFacts,
  { domain, branch, includePackageChangelogs }: AnalysisOptions,
) {
  const { defaultBranch } = project;
  const series = await seriesOfDomain(tx, project.id, { domain, branch, defaultBranch, limit: ANALYSED_MAX });
  const all = series.map((candidate): Candidate => ({ ...candidate, branch: candidate.branch ?? defaultBranch }));
  const environments = await listEnvironments(tx, project.id);
  const factOf = await deploymentFacts(tx, all);
  const states = await installedStates(tx, log, project.id, domain);
  const lines = linesOf(all, environments, factOf, defaultBranch);
  const comparisons = comparisonsOf(all, lines, history);
  const changes = comparisons.flatMap(({ incremental, cumulative }) => [...incremental, ...cumulative]);
  const installedIn = (name: string) =>
    states.filter(({ packages }) => Object.hasOwn(packages, name)).map((state) => state.name);
  const facts = await factsOf(tx, history, changes, { withCommits: includePackageChangelogs, installedIn });
  const seconds = await secondsOf(tx, project.id, changes);
  const views = comparisons.map(({ candidate, baseline, incremental, cumulative }) => ({
    id: candidate.id,
    releaseName: candidate.releaseName,
    branch: candidate.branch,
    baselineReleaseName: baseline?.releaseName ?? null,
    commitSha: candidate.commitSha,
    status: candidate.status,
    createdAt: candidate.createdAt,
    deployedEnvironments: namesOf(environments, deployedTo(candidate.id, environments, factOf)),
    incrementalChanges: { ...facts.take(incremental), estimatedDeploymentTime: seconds(incremental) },
    cumulativeChanges: {
      ...facts.take(cumulative),
      cumulativeSummary: { estimatedDeploymentTime: seconds(cumulative) },
    },
  }));
  const baselineView = (line: Line) => baselineViewOf(line, environments, factOf);
  const main = lines.get(branch ?? defaultBranch) ?? lines.get(all.at(-1)?.branch ?? '');
  return {
    repository: project.identifier,
    domain,
    baseline: main ? baselineView(main) : null,
    baselinesByBranch: Object.fromEntries([...lines].map(([name, line]) => [name, baselineView(line)])),
    orchestrationOrder: states.map(({ name }) => name),
    currentEnvironmentStates: Object.fromEntries(
      states.map(({ name, releases, packages }) => [name, { currentRelease: releases.get(domain) ?? null, packages }]),
    ),
    candidates: views,
    candidatesByBranch: Object.fromEntries(
      [...Map.groupBy(views, (view) => view.branch)].map(([name, group]) => [
        name,
        group.map(({ id, releaseName }) => ({ id, releaseName })),
      ]),
    ),
    gitFreshness: history.freshness,
  };
}

const namesOf = (environments: readonly { id: string; name: string }[], ids: ReadonlySet<string>): string[] =>
  environments.filter(({ id }) => ids.has(id)).map(({ name }) => name);

/** When the last of some environments got a candidate. */
const completedAt = (
  { id }: CandidateRow,
  environments: readonly { id: string }[],
  factOf: DeploymentFacts,
): string | null =>
  environments
    .flatMap((environment) => factOf(id, environment.id).deployedAt ?? [])
    .toSorted()
    .at(-1) ?? null;

/** Resolves changes together; each of the given lists is then taken out in the order in which they were given. */
async function factsOf(
  tx: Tx,
  history: History,
  changes: readonly AnalysedChange[],
  { withCommits, installedIn }: { withCommits: boolean; installedIn: (name: string) => string[] },
) {
  const carried = changes.filter(({ to }) => to !== null);
  const resolvedChanges = await resolveChanges(
    tx,
    history,
    carried.map(({ name, since, to, commits }) => ({ name, from: since, to, commits })),
  );
  const byChange = new Map(carried.map((change, index) => [change, resolvedChanges[index]]));
  const ranges = await rangeFacts(tx, history, rangesOf(resolvedChanges));
  const shown = withCommits
    ? await commitViews(
        tx,
        history.projectId,
        rangesOf(resolvedChanges).flatMap((range) => ranges.of(range).commits.slice(0, COMMITS_MAX)),
      )
    : undefined;
  return {
    take(some: readonly AnalysedChange[]) {
      const own = some.map((change) => ({ ...(byChange.get(change) ?? NOT_CARRIED), ...change }));
      const entries = own.map((change) => entryOf(change, installedIn(change.name), ranges, shown));
      const { main, added, removed } = totalsOf(ranges, own);
      return {
        packages: {
          added: entries.filter(({ from }) => from === null),
          updated: entries.filter(({ from, to }) => from !== null && to !== null),
          removed: entries.filter(({ to }) => to === null),
        },
        summary: {
          totalPackageChanges: own.length,
          totalCommits: main.totalCommits,
          totalWorkItems: main.totalWorkItems,
          added,
          removed,
        },
      };
    },
  };
}

/** A package that a candidate does not carry stays as it is where it is installed, so that no commit is taken back. */
const NOT_CARRIED = { range: undefined, added: undefined, removed: undefined, missing: null };

function entryOf(
  change: AnalysedChange & Pick<ResolvedChange, 'range' | 'added' | 'removed' | 'missing'>,
  environments: string[],
  ranges: Ranges,
  shown: ReadonlyMap<number, CommitView> | undefined,
) {
  const { name, from, to, since, range, missing } = change;
  const { added, removed } = sidesOf(ranges, change);
  const isAboutRemoved = range !== undefined && range === change.removed;
  const main = isAboutRemoved ? removed : added;
  return {
    name,
    from,
    to,
    since,
    direction: directionOf(change),
    isInstalled: environments.length > 0,
    installedIn: environments,
    totalCommits: main.commits.length,
    totalWorkItems: main.workItems.length,
    totalAdded: added.commits.length,
    totalRemoved: removed.commits.length,
    missingChangelog: missing,
    changelog: shown ? entryChangelog(added, removed, isAboutRemoved, shown) : null,
  };
}

function entryChangelog(
  added: RangeFacts,
  removed: RangeFacts,
  isAboutRemoved: boolean,
  shown: ReadonlyMap<number, CommitView>,
) {
  const [addedView, removedView] = [sideView(added, shown, COMMITS_MAX), sideView(removed, shown, COMMITS_MAX)];
  const { totalCommits: _, ...main } = isAboutRemoved ? removedView : addedView;
  return { ...main, added: addedView, removed: removedView };
}

/** What a line is compared with, for readers. */
const baselineViewOf = (
  { baseline, isDefaultBaseline }: Line,
  environments: Awaited<ReturnType<typeof listEnvironments>>,
  factOf: DeploymentFacts,
) =>
  baseline
    ? {
        releaseName: baseline.releaseName,
        createdAt: baseline.createdAt,
        completedAt: isDefaultBaseline
          ? null
          : completedAt(baseline, requiredEnvironments(environments, baseline.branch), factOf),
        deployedEnvironments: namesOf(environments, deployedTo(baseline.id, environments, factOf)),
        packages: packagesOf(baseline),
        isDefaultBaseline,
        branch: baseline.branch,
      }
    : null;

/** How long the deployment of changes takes, as deployments of their packages did. */
async function secondsOf(tx: Tx, projectId: string, changes: readonly PackageChange[]) {
  const medians = await medianSeconds(tx, projectId, [...new Set(changes.map(({ name }) => name))]);
  return (some: readonly PackageChange[]) =>
    expectedSeconds(
      medians,
      some.flatMap(({ name, to }) => (to === null ? [] : [name])),
    );
}
