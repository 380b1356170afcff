import type { History } from '../git/histories.ts';
import { rangeFacts, type Ranges } from '../git/range-facts.queries.ts';
import type { Project } from '../projects/projects.entities.ts';
import type { ReleaseDefinition } from '../release-candidates/comparison-rules.ts';
import type { Tx } from '../unit-of-work.ts';
import { commitRange, rangeEnds, type ResolvedChange, resolveChanges } from './changelog.ts';
import { packageChanges } from './package-change-rules.ts';
import { deploymentCounts, deploymentState, packageStatuses } from './release-state-rules.ts';
import { type EnvironmentRecord, environmentRecords, type InstalledState, installedStates, type ReleaseFilter, releasePage, type ReleaseRow } from './releases.queries.ts';

export interface ChangelogTotals {
  totalCommits: number;
  totalWorkItems: number;
  totalPullRequests: number;
}

export interface PackageChangeView extends ChangelogTotals {
  packageName: string;
  fromVersion: string | null;
  toVersion: string | null;
  workItems: { issues: string[]; pullRequests: number[]; byType: Record<string, number> };
  commitRange: { from: string | null; to: string } | null;
  missingChangelog: string | null;
}

interface EnvironmentChanges {
  changes: PackageChangeView[];
  totals: ChangelogTotals;
}

export interface ReleaseListOptions extends ReleaseFilter {
  includeChangelog: boolean;
  /** Computes changelogs anew, though they are kept. */
  isForced: boolean;
  limit: number;
  offset: number;
}

/** What changed in environments by their last deployment of releases; changelogs are computed once and kept. */
async function changesOfRecords(tx: Tx, history: History, project: Project, records: readonly EnvironmentRecord[], isForced: boolean) {
  const steps = records.map((record) => ({
    record,
    changes: record.rollback?.skipAnalysis ? [] : packageChanges(record.previousPackages ?? {}, record.packages),
  }));
  const resolvedChanges = await resolveChanges(tx, history, steps.flatMap(({ changes }) => changes));
  const ranges = await rangeFacts(tx, history, resolvedChanges.flatMap(({ range }) => range ?? []), { isForced });
  const shas = await rangeEnds(tx, history, resolvedChanges);
  const provider = project.configuration.workItems?.provider ?? 'issue';
  const byRecord = new Map<EnvironmentRecord, EnvironmentChanges>();
  const views = new Map<string, PackageChangeView>();
  const viewOf = (change: ResolvedChange): PackageChangeView => {
    const key = `${change.name}\n${change.from}\n${change.to}`;
    const view = views.get(key) ?? changeView(change, ranges, shas, provider);
    views.set(key, view);
    return view;
  };
  let at = 0;
  for (const { record, changes } of steps) {
    const own = resolvedChanges.slice(at, (at += changes.length));
    byRecord.set(record, { changes: own.map(viewOf), totals: totalsOf(own, ranges) });
  }
  return { byRecord, uniqueDiffsCalculated: ranges.calculated, cacheHits: ranges.kept };
}

function changeView(change: ResolvedChange, ranges: Ranges, shas: ReadonlyMap<number, string>, provider: string): PackageChangeView {
  const { commits = [], workItems = [], pullRequests = [] } = change.range ? ranges.of(change.range) : {};
  return {
    packageName: change.name,
    fromVersion: change.from,
    toVersion: change.to,
    totalCommits: commits.length,
    totalWorkItems: workItems.length,
    totalPullRequests: pullRequests.length,
    workItems: { issues: [...workItems], pullRequests: [...pullRequests], byType: workItems.length === 0 ? {} : { [provider]: workItems.length } },
    commitRange: commitRange(change.range, shas),
    missingChangelog: change.missing,
  };
}

/** Distinct commits, work items and pull requests over several packages. */
function totalsOf(changes: readonly ResolvedChange[], ranges: Ranges): ChangelogTotals {
  const facts = changes.flatMap(({ range }) => (range ? ranges.of(range) : []));
  return {
    totalCommits: new Set(facts.flatMap(({ commits }) => commits)).size,
    totalWorkItems: new Set(facts.flatMap(({ workItems }) => workItems)).size,
    totalPullRequests: new Set(facts.flatMap(({ pullRequests }) => pullRequests)).size,
  };
}

const definitionOf = (release: ReleaseRow, records: readonly EnvironmentRecord[]): ReleaseDefinition | null =>
  records.findLast(({ definition }) => definition !== null)?.definition ?? release.definition;

/** The packages of a release: of its definition, else what was deployed under its name. */
const packagesOf = (definition: ReleaseDefinition | null, records: readonly EnvironmentRecord[]): Record<string, string> =>
  definition?.artifacts ?? Object.assign({}, ...records.map(({ packages }) => packages));

/** One page of a project's releases with their records in its environments. */
export async function listReleases(tx: Tx, history: History | undefined, project: Project, { limit, offset, isForced, ...filter }: ReleaseListOptions) {
  const startedAt = performance.now();
  const { releases, total } = await releasePage(tx, project.id, filter, { limit, offset });
  const records = releases.length === 0 ? [] : await environmentRecords(tx, project.id, releases);
  const states = await installedStates(tx, project.id);
  const changelogs = history && (await changesOfRecords(tx, history, project, records, isForced));
  const byRelease = Map.groupBy(records, ({ domain, releaseName }) => `${domain}\n${releaseName}`);
  return {
    total,
    records,
    releases: releases.map((release) => releaseView(release, byRelease.get(`${release.domain}\n${release.releaseName}`) ?? [], states, changelogs?.byRecord)),
    changelogStats: {
      uniqueDiffsCalculated: changelogs?.uniqueDiffsCalculated ?? 0,
      totalEnvironments: records.length,
      cacheHits: changelogs?.cacheHits ?? 0,
      processingTimeMs: Math.round(performance.now() - startedAt),
    },
  };
}

function releaseView(release: ReleaseRow, records: EnvironmentRecord[], states: readonly InstalledState[], changes: ReadonlyMap<EnvironmentRecord, EnvironmentChanges> | undefined) {
  const definition = definitionOf(release, records);
  const statuses = packageStatuses(packagesOf(definition, records), records, states);
  return {
    name: release.releaseName,
    domain: release.domain,
    environments: records.map((record) => ({
      record,
      changesFromPrevious: changes?.get(record)?.changes ?? null,
      releaseChangelog: changes?.get(record)?.totals ?? null,
      deploymentCounts: deploymentCounts(record),
    })),
    firstDeployedAt: release.firstDeployedAt,
    lastDeployedAt: release.lastDeployedAt,
    deploymentCount: release.deploymentCount,
    deploymentStatus: deploymentState(records, statuses, states),
    packageStatuses: statuses,
    releaseDefinition: definition,
    // The first environment of the way is where all that is new in a release arrives.
    releaseChangelog: (records[0] && changes?.get(records[0])?.totals) ?? null,
  };
}
