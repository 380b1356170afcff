import type { PackageArrivals } from '../../deployments/package-arrivals.ts';
import type { PackageVersion } from '../versions/package-versions.queries.ts';
import type { VersionState } from '../versions/version-commit-cache.ts';

type Arrival = PackageArrivals['arrivals'][number];

/** Commits of the first versions that came to an environment, as many as are known, by the first arrival. */
const arrivedCommits = new WeakMap<Arrival, { known: string; commits: number[] }>();

/** The commits that are known already of the versions that came to an environment, in order; `arrivalCommits` adds to them. */
export function keptCommits({ arrivals }: PackageArrivals, { known }: VersionState): number[] {
  const [first] = arrivals;
  const kept = first && arrivedCommits.get(first);
  if (kept?.known === known) return kept.commits;
  const commits: number[] = [];
  if (first) arrivedCommits.set(first, { known, commits });
  return commits;
}

/** The commits of the versions that came to an environment, in order; there may be more, of later ones. */
export function arrivalCommits(
  name: string,
  { arrivals }: PackageArrivals,
  kept: number[],
  commitOf: (version: PackageVersion) => number | undefined,
): readonly (number | undefined)[] {
  for (const { version } of arrivals.slice(kept.length)) {
    const commit = commitOf({ name, version });
    if (commit === undefined) return arrivals.map((each, at) => kept[at] ?? commitOf({ name, version: each.version }));
    kept.push(commit);
  }
  return kept;
}
