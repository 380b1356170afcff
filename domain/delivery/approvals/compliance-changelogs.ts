import type { History } from '../../code/git/graph/commit-graph-cache.ts';
import type { ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { artifactsBefore, candidatesWithPrevious } from '../release-candidates/candidate-series.queries.ts';
import { type PackageChangeView, type TwoSidedTotals, viewChanges } from '../releases/changelogs/change-views.ts';
import { packageChanges } from '../releases/changelogs/package-change-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { ComplianceRow } from './compliance.queries.ts';

/** What was new in a release when its approval was asked for: its packages against those that candidates held before it. */
export interface ReleaseChangelog extends TwoSidedTotals {
  /** Name of the candidate before it in its domain and branch; null: it is the first. */
  since: string | null;
  /** At most `PACKAGES_MAX`; totals count all. */
  packages: PackageChangeView[];
  isTruncated: boolean;
  /** What the definition of the release itself holds as its changelog; null when it holds none. */
  definition: unknown;
}

const PACKAGES_MAX = 100;
const NO_TOTALS = { totalCommits: 0, totalWorkItems: 0, totalPullRequests: 0 };
const NO_KEYS = { ...NO_TOTALS, workItems: [], pullRequests: [] };
const NO_CHANGES: TwoSidedTotals = { ...NO_TOTALS, added: NO_KEYS, removed: NO_KEYS };

const keyOf = ({ domain, releaseName }: { domain: string | null; releaseName: string | null }): string =>
  `${domain}\n${releaseName}`;

/** Adds to steps of approvals what was new in the release of each, read for all of them together; null where there is no such candidate. */
export async function withChangelogs(
  tx: Tx,
  history: History,
  project: ProjectFacts,
  rows: readonly ComplianceRow[],
): Promise<ComplianceRow[]> {
  const named = rows.flatMap(({ projectId, domain, releaseName }) =>
    projectId === project.id && domain !== null && releaseName !== null ? [{ domain, releaseName }] : [],
  );
  const candidates = await candidatesWithPrevious(tx, project, [
    ...new Map(named.map((name) => [keyOf(name), name])).values(),
  ]);
  // A package that the candidate before it does not hold stayed as it was, and one that it does not hold itself stays.
  const earlier = await artifactsBefore(
    tx,
    project,
    candidates.flatMap(({ domain, releaseName, artifacts, previousName, previousArtifacts }) => {
      const names = Object.keys(artifacts ?? {}).filter((name) => !Object.hasOwn(previousArtifacts ?? {}, name));
      return previousName === null || names.length === 0 ? [] : [{ domain, releaseName, names }];
    }),
  );
  const earlierOf = new Map(earlier.map((each) => [keyOf(each), each.artifacts ?? {}]));
  const { views } = await viewChanges(
    tx,
    history,
    project,
    candidates.map(({ artifacts, previousArtifacts, ...candidate }) =>
      packageChanges({ ...earlierOf.get(keyOf(candidate)), ...previousArtifacts }, artifacts ?? {}),
    ),
  );
  const changelogs = new Map<string, ReleaseChangelog>();
  for (const [index, { previousName, changelog, ...candidate }] of candidates.entries()) {
    const { changes = [], totals } = views[index] ?? {};
    changelogs.set(keyOf(candidate), {
      since: previousName,
      packages: changes.slice(0, PACKAGES_MAX),
      isTruncated: changes.length > PACKAGES_MAX,
      ...(totals ?? NO_CHANGES),
      definition: changelog,
    });
  }
  return rows.map((row) => ({
    ...row,
    changelog: row.projectId === project.id ? (changelogs.get(keyOf(row)) ?? null) : null,
  }));
}
