import type { PlaceCursor } from '../../../kernel/data/conditions.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import { shownHold } from '../../release-candidates/holds/hold-rules.ts';
import { holdsOf } from '../../release-candidates/holds/holds.queries.ts';
import { placesByInstallations } from '../active-releases.ts';
import { installationsNow } from '../measures/environment-records.queries.ts';
import { columnEnvironments, matrixColumns } from './matrix-columns.ts';
import { matrixCells } from './matrix-cells.ts';
import { countRows, type MatrixFilter, matrixPage, openRunsIn } from './matrix.queries.ts';

export interface MatrixOptions extends MatrixFilter {
  /** Names or ids of environments; none: all active ones. */
  environments: readonly string[];
  limit: number;
  cursor?: PlaceCursor | undefined;
}

/**
 * One page of where the candidates of a project are: a row for each, newest first, a column for each environment. What
 * runs in one of the environments, and what last succeeded there, is a row however old it is. Throws `invalid_request`
 * for columns that cannot be shown.
 */
export async function releaseMatrix(
  reads: Reads,
  project: ProjectFacts,
  { environments: named, limit, cursor, ...filter }: MatrixOptions,
  now: Date,
) {
  const environments = await columnEnvironments(reads, project.id, named);
  const environmentIds = environments.map(({ id }) => id);
  const place = { domain: filter.domain, environmentIds };
  const openRuns = openRunsIn(reads, project.id, environmentIds);
  const [{ installations, succeeded }, columns, runs] = await Promise.all([
    installationsNow(reads, project.id, place, { isWithSucceeded: true }),
    matrixColumns(reads, environments, openRuns, now),
    openRuns,
  ]);
  const places = await placesByInstallations(reads, installations);
  const running = places.flatMap(({ domain, releaseNames }) =>
    [...releaseNames].map((releaseName) => ({ domain, releaseName })),
  );
  const names = [...running, ...succeeded].map((each) => [`${each.domain}\n${each.releaseName}`, each] as const);
  const standing = [...new Map(names).values()];
  const [{ candidates, hasMore }, total] = await Promise.all([
    matrixPage(reads, project.id, filter, standing, { cursor, limit }),
    countRows(reads, project.id, filter, standing),
  ]);
  const holdsOn = await holdsOf(reads, candidates, now);
  const happening = { places, openRuns: runs, holdsOn };
  const cellsOf = await matrixCells(reads, project.defaultBranch, candidates, environments, happening);
  return {
    repositoryIdentifier: project.identifier,
    at: now.toISOString(),
    columns,
    rows: candidates.map((candidate) => {
      const { id, domain, releaseName, status, supersededBy, commitSha, createdAt, artifacts } = candidate;
      return {
        domain,
        releaseName,
        candidateId: id,
        status,
        hold: shownHold(holdsOn(candidate)),
        isSuperseded: supersededBy !== null,
        supersededBy,
        commitSha,
        createdAt,
        packages: artifacts,
        cells: cellsOf(candidate),
      };
    }),
    next: hasMore ? candidates.at(-1) : undefined,
    total,
  };
}
