import { lockStatuses } from '../environment-locks/environment-locks.queries.ts';
import type { History } from '../git/commit-graph-cache.ts';
import type { ProjectFacts } from '../projects/projects.queries.ts';
import type { ReleaseDefinition } from '../release-candidates/comparison-rules.ts';
import { memoized } from '../shared/memoized.ts';
import type { Tx } from '../unit-of-work.ts';
import { type ChangelogTotals, viewChanges } from './change-views.ts';
import { packageChanges } from './package-change-rules.ts';
import { approvalsOfReleases } from './release-approvals.ts';
import { deploymentCounts, deploymentState, packageStatuses } from './release-state-rules.ts';
import {
  type EnvironmentRecord,
  environmentRecords,
  type InstalledState,
  installedStates,
} from './environment-records.queries.ts';
import { type ReleaseFilter, releasePage, type ReleaseRow } from './releases.queries.ts';

export interface ReleaseListOptions extends ReleaseFilter {
  /** Computes changelogs anew, though they are kept. */
  isForced: boolean;
  includeApprovals: boolean;
  includeLockStatus: boolean;
  limit: number;
  offset: number;
}

/** What changed in environments by their last deployment of releases; changelogs are computed once and kept. */
async function changesOfRecords(
  tx: Tx,
  history: History,
  project: ProjectFacts,
  records: readonly EnvironmentRecord[],
  isForced: boolean,
) {
  // A release mostly changes the same in each environment.
  const stepOf = memoized(
    ({ rollback, previousPackages, packages }: EnvironmentRecord) =>
      rollback?.skipAnalysis ? [] : packageChanges(previousPackages ?? {}, packages),
    ({ rollback, previousPackages, packages }) => JSON.stringify([rollback?.skipAnalysis, previousPackages, packages]),
  );
  const steps = records.map(stepOf);
  const { views, calculated, kept } = await viewChanges(tx, history, project, steps, { isForced });
  const byRecord = new Map(records.flatMap((record, index) => (views[index] ? [[record, views[index]] as const] : [])));
  return { byRecord, uniqueDiffsCalculated: calculated, cacheHits: kept };
}

const definitionOf = (release: ReleaseRow, records: readonly EnvironmentRecord[]): ReleaseRow['definition'] =>
  records.findLast(({ definition }) => definition !== null)?.definition ?? release.definition;

/** The packages of a release: of its definition, else what was deployed under its name. */
const packagesOf = (
  definition: ReleaseDefinition | null,
  records: readonly EnvironmentRecord[],
): Record<string, string> => definition?.artifacts ?? Object.assign({}, ...records.map(({ packages }) => packages));

/**
 * One page of a project's releases with their records in its environments.
 * @param history for changelogs; without one they are left out.
 */
export async function listReleases(
  tx: Tx,
  history: History | undefined,
  project: ProjectFacts,
  { limit, offset, isForced, includeApprovals, includeLockStatus, ...filter }: ReleaseListOptions,
) {
  const startedAt = performance.now();
  const { releases, total } = await releasePage(tx, project.id, filter, { limit, offset });
  const records = releases.length === 0 ? [] : await environmentRecords(tx, project.id, releases);
  const approvalOf = includeApprovals ? await approvalsOfReleases(tx, project.id, releases) : undefined;
  const environmentIds = [...new Set(records.map(({ environmentId }) => environmentId))];
  const lockStatusOf = includeLockStatus ? await lockStatuses(tx, environmentIds) : undefined;
  const states = await installedStates(tx, project.id);
  const changelogs = history && (await changesOfRecords(tx, history, project, records, isForced));
  const byRelease = Map.groupBy(records, ({ domain, releaseName }) => `${domain}\n${releaseName}`);
  return {
    total,
    releases: releases.map((release) =>
      releaseView(release, byRelease.get(`${release.domain}\n${release.releaseName}`) ?? [], states, (record) => {
        const changes = changelogs?.byRecord.get(record);
        return {
          ...record,
          changesFromPrevious: changes?.changes ?? null,
          releaseChangelog: changes?.totals ?? null,
          deploymentCounts: deploymentCounts(record),
          approval: approvalOf?.(record) ?? null,
          lockStatus: lockStatusOf ? { ...lockStatusOf(record.environmentId) } : null,
        };
      }),
    ),
    changelogStats: {
      uniqueDiffsCalculated: changelogs?.uniqueDiffsCalculated ?? 0,
      totalEnvironments: records.length,
      cacheHits: changelogs?.cacheHits ?? 0,
      processingTimeMs: Math.round(performance.now() - startedAt),
    },
  };
}

function releaseView<View extends { releaseChangelog: ChangelogTotals | null }>(
  release: ReleaseRow,
  records: EnvironmentRecord[],
  states: readonly InstalledState[],
  environmentView: (record: EnvironmentRecord) => View,
) {
  const definition = definitionOf(release, records);
  const statuses = packageStatuses(packagesOf(definition, records), records, states);
  const environments = records.map(environmentView);
  return {
    name: release.releaseName,
    domain: release.domain,
    environments,
    firstDeployedAt: release.firstDeployedAt,
    lastDeployedAt: release.lastDeployedAt,
    deploymentCount: release.deploymentCount,
    deploymentStatus: deploymentState(records, statuses, states),
    packageStatuses: statuses,
    releaseDefinition: definition,
    // The first environment of the way is where all that is new in a release arrives.
    releaseChangelog: environments[0]?.releaseChangelog ?? null,
  };
}
