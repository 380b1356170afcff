import type { History } from '../git/commit-graph-cache.ts';
import { inInstallOrder } from '../git/install-order-rules.ts';
import { dependenciesOf } from '../git/packages.queries.ts';
import { rangeFacts } from '../git/range-facts.ts';
import { workItemUrl } from '../git/work-item-rules.ts';
import type { ProjectFacts } from '../projects/projects.queries.ts';
import type { Tx } from '../unit-of-work.ts';
import { lostKeys, rangesOf, type SideKeys, sideKeys, type SideSummary, sidesOf, summariesOf } from './change-sides.ts';
import { resolveChanges } from './changelog.ts';
import { matchReleases, type SummaryFilter } from './change-summary-rules.ts';
import { directionOf, type Direction, packageChanges } from './package-change-rules.ts';
import { releaseSeries } from './releases.queries.ts';

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

/** What a step adds or takes back: totals and keys, without the commits. */
const sideOf = ({ totalCommits, workItems, pullRequests }: SideSummary): SideKeys => ({
  totalCommits,
  workItems,
  pullRequests,
});

/** What changed by the releases of a range or of a time, each held against what the releases before it left. */
export async function changeSummary(tx: Tx, history: History, project: ProjectFacts, query: SummaryQuery) {
  const series = await releaseSeries(tx, project.id, query);
  const { matched, unmatchedRanges } = matchReleases(series, query);
  const dependencies = dependenciesOf(history.packages);
  const steps = matched.map((each) => ({
    ...each,
    changes: inInstallOrder(packageChanges(each.before, each.release.packages), dependencies),
  }));
  const resolvedChanges = await resolveChanges(
    tx,
    history,
    steps.flatMap(({ changes }) => changes),
  );
  const ranges = await rangeFacts(tx, history, rangesOf(resolvedChanges));
  const parts = resolvedChanges.map((change) => ({ ...change, sides: sidesOf(ranges, change) }));
  const commits = new Set<number>();
  const missing: { releaseName: string; domain: string }[] = [];
  let at = 0;
  const releases = steps.map(({ release, deployments, changes }) => {
    const own = parts.slice(at, (at += changes.length));
    const { releaseName, domain } = release;
    if (own.some((change) => change.missing !== null)) missing.push({ releaseName, domain });
    const packageChangeViews = own.map((change) => {
      const facts = change.range ? ranges.of(change.range) : undefined;
      for (const commit of facts?.commits ?? []) commits.add(commit);
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
    });
    const ownSides = own.map(({ sides }) => sides);
    const { added, removed } = summariesOf(ownSides);
    return {
      releaseName,
      domain,
      matchedDeploymentDates: deployments.map(({ deployedAt }) => deployedAt),
      matchedEnvironments: [...new Set(deployments.map(({ environment }) => environment))],
      workItems: distinct(packageChangeViews.flatMap(({ workItems }) => workItems)),
      packageChanges: packageChangeViews,
      added: sideOf(added),
      removed: sideOf(removed),
      noLongerIncluded: lostKeys(ownSides),
    };
  });
  const keys = distinct(releases.flatMap(({ workItems }) => workItems));
  const releasesByItem = new Map<string, string[]>();
  for (const { releaseName, workItems } of releases)
    for (const key of workItems) releasesByItem.set(key, [...(releasesByItem.get(key) ?? []), releaseName]);
  return {
    summary: {
      totalReleases: releases.length,
      totalCommits: commits.size,
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
    missingChangelogReleases: missing,
    unmatchedRanges,
    repository: history.freshness,
  };
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)].toSorted();
