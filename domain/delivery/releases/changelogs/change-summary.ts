import type { DeploymentLog, LoggedDeployment } from '../../deployments/deployment-log-cache.ts';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import { inInstallOrder } from '../../../code/git/install-order-rules.ts';
import { dependenciesOf } from '../../../code/git/packages.queries.ts';
import { rangeFacts, type Ranges } from '../../../code/git/graph/range-facts.ts';
import { workItemUrl } from '../../../projects/work-items/work-item-rules.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import { compareText } from '../../../kernel/text/version-rules.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { lostKeys, rangesOf, type SideKeys, sideKeys, type SideSummary, sidesOf, summariesOf } from './change-sides.ts';
import { type ResolvedChange, resolveChanges } from './resolved-changes.ts';
import { type ArrivalsAt, type MatchedArrival, matchArrivals, type SummaryFilter } from './change-summary-rules.ts';
import { type EnvironmentLabel, environmentLabels } from '../measures/metrics.queries.ts';
import { directionOf, type Direction } from './package-change-rules.ts';
import { type Arrival, type BasePlace, joinedSteps, type ReleaseStep, stepOfArrival } from './release-bases.ts';

const CHANGE_TYPES: Record<Direction, 'added' | 'updated' | 'downgraded' | 'removed'> = {
  install: 'added',
  upgrade: 'updated',
  downgrade: 'downgraded',
  remove: 'removed',
};

export interface SummaryQuery extends SummaryFilter {
  domain?: string | undefined;
  environmentName?: string | undefined;
}

/** The most arrivals of releases in environments that one answer goes through: the newest. */
export const ARRIVALS_MAX = 2_000;

interface Place extends BasePlace, ArrivalsAt<LoggedDeployment> {
  environment: EnvironmentLabel;
}

/** How releases came to the environments of a project, those of one domain or environment or of all: the newest. */
async function arrivalsAt(
  tx: Tx,
  log: DeploymentLog,
  projectId: string,
  { domain, environmentName }: SummaryQuery,
): Promise<Place[]> {
  const environments = new Map((await environmentLabels(tx, projectId)).map((each) => [each.id, each]));
  const arrivals = log.places.flatMap((place) => {
    const environment = environments.get(place.environmentId);
    if (!environment || (domain !== undefined && place.domain !== domain)) return [];
    if (environmentName !== undefined && environment.name !== environmentName) return [];
    const at = { environment, environmentId: place.environmentId, domain: place.domain, place };
    return place.series.arrivals.map((arrival) => ({ at, arrival }));
  });
  const newest = arrivals.toSorted((a, b) => beginOf(a.arrival) - beginOf(b.arrival)).slice(-ARRIVALS_MAX);
  return [...Map.groupBy(newest, ({ at }) => at.place).values()].flatMap((own) => {
    const [first] = own;
    return first ? [{ ...first.at, arrivals: own.map(({ arrival }) => arrival) }] : [];
  });
}

const beginOf = ({ deployments }: Arrival): number => deployments[0]?.at ?? 0;

/** What a release changed as it came to some environments, the same in each. */
interface SummaryStep extends ReleaseStep {
  domain: string;
  releaseName: string;
  places: MatchedArrival<LoggedDeployment, Place>[];
}

const stepsOf = (log: DeploymentLog, matched: readonly MatchedArrival<LoggedDeployment, Place>[]): SummaryStep[] =>
  joinedSteps(
    matched
      .toSorted((a, b) => compareText(a.place.domain, b.place.domain) || beginOf(a.arrival) - beginOf(b.arrival))
      .map((each) => ({
        domain: each.place.domain,
        releaseName: each.arrival.releaseName,
        ...stepOfArrival(log, each.place, each.arrival),
        places: [each],
      })),
    ({ domain, releaseName }) => [domain, releaseName],
  );

/** What a step adds or takes back: totals and keys, without the commits. */
const sideOf = ({ totalCommits, workItems, pullRequests }: SideSummary): SideKeys => ({
  totalCommits,
  workItems,
  pullRequests,
});

/** What changed by the releases of a range or of a time, each held against what its environments ran before it. */
export async function changeSummary(
  tx: Tx,
  history: History,
  log: DeploymentLog,
  project: ProjectFacts,
  query: SummaryQuery,
) {
  const arrivals = await arrivalsAt(tx, log, project.id, query);
  const { matched, unmatchedRanges } = matchArrivals<LoggedDeployment, Place>(arrivals, query);
  const dependencies = dependenciesOf(history.packages);
  const steps = stepsOf(log, matched).map((each) => ({
    ...each,
    changes: inInstallOrder(each.changes, dependencies),
  }));
  const resolvedChanges = await resolveChanges(
    tx,
    history,
    steps.flatMap(({ changes }) => changes),
  );
  const ranges = await rangeFacts(tx, history, rangesOf(resolvedChanges));
  const parts = resolvedChanges.map((change) => ({ ...change, sides: sidesOf(ranges, change) }));
  let at = 0;
  const parted = steps.map((step) => ({ step, own: parts.slice(at, (at += step.changes.length)) }));
  const releases = parted.map(({ step, own }) => releaseView(step, own, ranges));
  const missing = parted.filter(({ own }) => own.some((change) => change.missing !== null));
  const keys = distinct(releases.flatMap(({ workItems }) => workItems));
  const releasesByItem = new Map<string, string[]>();
  for (const { releaseName, workItems } of releases)
    for (const key of workItems) releasesByItem.set(key, [...(releasesByItem.get(key) ?? []), releaseName]);
  return {
    summary: {
      totalReleases: new Set(releases.map(({ domain, releaseName }) => `${domain}\n${releaseName}`)).size,
      totalCommits: new Set(parts.flatMap(({ range }) => (range ? ranges.of(range).commits : []))).size,
      totalWorkItems: keys.length,
      totalPackageChanges: releases.reduce((sum, each) => sum + each.packageChanges.length, 0),
      ...summariesOf(parts.map(({ sides }) => sides)),
    },
    workItems: keys.map((key) => ({
      key,
      url: workItemUrl(key, project.configuration),
      releases: distinct(releasesByItem.get(key) ?? []),
    })),
    releases,
    missingChangelogReleases: missing.map(({ step: { releaseName, domain } }) => ({ releaseName, domain })),
    unmatchedRanges,
    repository: history.freshness,
  };
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)].toSorted();

type SidedChange = ResolvedChange & { sides: ReturnType<typeof sidesOf> };

/** What a release changed of a package. */
function packageView(change: SidedChange, ranges: Ranges) {
  const facts = change.range ? ranges.of(change.range) : undefined;
  return {
    packageName: change.name,
    changeType: CHANGE_TYPES[directionOf(change)],
    fromVersion: change.from,
    toVersion: change.to,
    commits: facts?.commits.length ?? 0,
    workItems: [...(facts?.workItems ?? [])],
    added: sideKeys(change.sides.added),
    removed: sideKeys(change.sides.removed),
  };
}

function releaseView(
  { releaseName, domain, baseName, places: arrivals }: SummaryStep,
  own: readonly SidedChange[],
  ranges: Ranges,
) {
  const packageChangeViews = own.map((change) => packageView(change, ranges));
  const ownSides = own.map(({ sides }) => sides);
  const { added, removed } = summariesOf(ownSides);
  return {
    releaseName,
    domain,
    matchedDeploymentDates: arrivals
      .flatMap(({ deployments }) => deployments.map((each) => each.at))
      .toSorted((a, b) => a - b)
      .map((moment) => new Date(moment).toISOString()),
    matchedEnvironments: distinct(arrivals.map(({ place }) => place.environment.name)),
    bases: arrivals.map(({ place: { environment } }) => ({
      environment: environment.name,
      environmentId: environment.id,
      releaseName: baseName,
    })),
    workItems: distinct(packageChangeViews.flatMap(({ workItems }) => workItems)),
    packageChanges: packageChangeViews,
    added: sideOf(added),
    removed: sideOf(removed),
    noLongerIncluded: lostKeys(ownSides),
  };
}
