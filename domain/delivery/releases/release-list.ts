import { reportsOfRemoved } from '../deployments/deployment-facts.queries.ts';
import { deploymentFacts, factsFrom } from '../deployments/deployment-facts.ts';
import type { DeploymentLog } from '../deployments/deployment-log-cache.ts';
import { lockStatuses } from '../environment-locks/environment-locks.queries.ts';
import type { History } from '../../code/git/graph/commit-graph-cache.ts';
import type { ProjectFacts } from '../../projects/projects/projects.queries.ts';
import type { ReleaseDefinition } from '../release-candidates/comparison-rules.ts';
import { type Hold, shownHold } from '../release-candidates/holds/hold-rules.ts';
import { holdsOf } from '../release-candidates/holds/holds.queries.ts';
import { requiredEnvironments } from '../release-candidates/finalization-rules.ts';
import { memoized } from '../../kernel/caches/memoized.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { activeReleaseNames } from './active-releases.ts';
import { type TwoSidedTotals, viewChanges } from './changelogs/change-views.ts';
import { installedStates } from './versions/installed-states.ts';
import type { PackageChange } from './changelogs/package-change-rules.ts';
import { changesOfDeployment, placesOf } from './changelogs/release-bases.ts';
import { approvalsOfReleases } from './release-approvals.ts';
import {
  deploymentCounts,
  deploymentState,
  lastContent,
  packageStatuses,
  type ReleaseFacts,
} from './release-state-rules.ts';
import { type EnvironmentRecord, environmentRecords } from './measures/environment-records.queries.ts';
import { type ReleaseFilter, releasePage, type ReleaseRow } from './releases.queries.ts';
import { verificationsOf } from '../verification/shown-verifications.queries.ts';
import { isSuperseded, newerReleases, keyOf } from './newer-releases.ts';

export interface ReleaseListOptions extends Omit<ReleaseFilter, 'names'> {
  /** Only those that run at this moment in at least one active environment. */
  activeOnly: boolean;
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
  log: DeploymentLog,
  project: ProjectFacts,
  records: readonly EnvironmentRecord[],
  isForced: boolean,
) {
  const placeOf = placesOf(log);
  // A release mostly changes the same in each environment.
  const same = memoized((changes: readonly PackageChange[]) => changes, JSON.stringify);
  const steps = records.map((record) =>
    same(
      record.rollback?.skipAnalysis
        ? []
        : changesOfDeployment(log, placeOf(record.environmentId, record.domain), record),
    ),
  );
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
  log: DeploymentLog,
  project: ProjectFacts,
  { limit, offset, activeOnly, isForced, includeApprovals, includeLockStatus, ...filter }: ReleaseListOptions,
) {
  const startedAt = performance.now();
  const names = activeOnly ? await activeReleaseNames(tx, project.id, filter.domain) : undefined;
  const { releases, total } = await releasePage(tx, project.id, { ...filter, names }, { limit, offset });
  const records = releases.length === 0 ? [] : await environmentRecords(tx, project.id, releases);
  const approvalOf = includeApprovals ? await approvalsOfReleases(tx, project.id, releases) : undefined;
  const environmentIds = [...new Set(records.map(({ environmentId }) => environmentId))];
  const lockStatusOf = includeLockStatus ? await lockStatuses(tx, environmentIds) : undefined;
  const verifications = await verificationsOf(
    tx,
    records.map(({ id }) => id),
  );
  const states = await installedStates(tx, log, project.id);
  const factsOf = await factsOfReleases(tx, project.id, releases, records);
  const newerThan = await newerReleases(tx, project, releases, states);
  const changelogs = history && (await changesOfRecords(tx, history, log, project, records, isForced));
  const holdsNow = await holdsOfReleases(tx, releases);
  const byRelease = Map.groupBy(records, keyOf);
  return {
    total,
    releases: releases.map((release) => {
      const own = byRelease.get(keyOf(release)) ?? [];
      const required = requiredEnvironments(states, release.branch ?? project.defaultBranch);
      const { artifacts, factOf } = factsOf(release);
      return releaseView(
        release,
        { records: own, states, required, artifacts, factOf, newerIn: newerThan(release) },
        holdsNow(release),
        (record) => {
          const changes = changelogs?.byRecord.get(record);
          return {
            ...record,
            supersededContent: isSuperseded(release, record),
            deployment: factOf(record.environmentId),
            changesFromPrevious: changes?.changes ?? null,
            releaseChangelog: changes?.totals ?? null,
            deploymentCounts: deploymentCounts(record),
            verification: verifications.get(record.id) ?? null,
            approval: approvalOf?.(record) ?? null,
            lockStatus: lockStatusOf ? { ...lockStatusOf(record.environmentId) } : null,
          };
        },
      );
    }),
    changelogStats: {
      uniqueDiffsCalculated: changelogs?.uniqueDiffsCalculated ?? 0,
      totalEnvironments: records.length,
      cacheHits: changelogs?.cacheHits ?? 0,
      processingTimeMs: Math.round(performance.now() - startedAt),
    },
  };
}

/** What holds releases now; one whose candidate was removed is not held. */
async function holdsOfReleases(tx: Tx, releases: readonly ReleaseRow[]): Promise<(release: ReleaseRow) => Hold[]> {
  const holdable = releases.flatMap(({ holds, contentDigest, ...release }) =>
    holds === null || contentDigest === null ? [] : [{ ...release, holds, contentDigest }],
  );
  const holdsNow = await holdsOf(tx, holdable, tx.now);
  const byKey = new Map(holdable.map((each) => [keyOf(each), holdsNow(each)]));
  return (release) => byKey.get(keyOf(release)) ?? [];
}

/** For each release the packages that it is about, and where it is deployed. */
async function factsOfReleases(
  tx: Tx,
  projectId: string,
  releases: readonly ReleaseRow[],
  records: readonly EnvironmentRecord[],
) {
  const factsOf = await deploymentFacts(
    tx,
    releases.flatMap(({ candidateId: id, contentDigest, definition: value }) =>
      id === null || contentDigest === null || value === null ? [] : [{ id, contentDigest, value }],
    ),
  );
  const removed = releases.filter(({ candidateId }) => candidateId === null);
  const removedFactsOf = removed.length === 0 ? undefined : await factsOfRemoved(tx, projectId, removed, records);
  return (release: ReleaseRow) => {
    const { candidateId, definition } = release;
    const known = removedFactsOf?.(release);
    if (known) return known;
    const factOf = (environmentId: string) => factsOf(candidateId ?? '', environmentId);
    return { artifacts: definition?.artifacts ?? {}, factOf };
  };
}

/** Facts of releases whose candidates were removed: as if they had the content that was deployed last. */
async function factsOfRemoved(
  tx: Tx,
  projectId: string,
  releases: readonly ReleaseRow[],
  records: readonly EnvironmentRecord[],
) {
  const reports = Map.groupBy(await reportsOfRemoved(tx, projectId, releases), keyOf);
  const recordsOf = Map.groupBy(records, keyOf);
  const contents = releases.map((release) => {
    const defined = definitionOf(release, recordsOf.get(keyOf(release)) ?? [])?.artifacts;
    return { id: newId(), release, ...lastContent(reports.get(keyOf(release)) ?? [], defined) };
  });
  const factsOf = await factsFrom(
    tx,
    contents.map(({ id, contentDigest, artifacts }) => ({ id, contentDigest, value: { artifacts } })),
    contents.flatMap(({ id, release }) =>
      (reports.get(keyOf(release)) ?? []).map((report) => ({
        ...report,
        candidateId: id,
        contentDigest: report.contentDigest ?? '',
      })),
    ),
  );
  const byRelease = new Map(contents.map(({ id, release, artifacts }) => [keyOf(release), { id, artifacts }]));
  return (release: ReleaseRow) => {
    const content = byRelease.get(keyOf(release));
    return (
      content && {
        artifacts: content.artifacts,
        factOf: (environmentId: string) => factsOf(content.id, environmentId),
      }
    );
  };
}

function releaseView<View extends { releaseChangelog: TwoSidedTotals | null }>(
  release: ReleaseRow,
  facts: ReleaseFacts & { records: readonly EnvironmentRecord[] },
  holds: readonly Hold[],
  environmentView: (record: EnvironmentRecord) => View,
) {
  const { records } = facts;
  const definition = definitionOf(release, records);
  const packages = release.candidateId === null ? facts.artifacts : packagesOf(definition, records);
  const statuses = packageStatuses(packages, facts);
  const environments = records.map(environmentView);
  return {
    name: release.releaseName,
    domain: release.domain,
    candidateId: release.candidateId,
    status: release.status,
    supersededBy: release.supersededBy,
    hold: shownHold(holds),
    environments,
    firstDeployedAt: release.firstDeployedAt,
    lastDeployedAt: release.lastDeployedAt,
    deploymentCount: release.deploymentCount,
    deploymentStatus: deploymentState(facts, statuses),
    packageStatuses: statuses,
    releaseDefinition: definition,
    // The first environment of the way is where all that is new in a release arrives.
    releaseChangelog: environments[0]?.releaseChangelog ?? null,
  };
}
