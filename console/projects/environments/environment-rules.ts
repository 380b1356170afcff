import type { CompareSidesResponses } from '@quayside/client';

type Comparison = Pick<CompareSidesResponses[200], 'comparison' | 'onlyRight'>;

export interface PackageDifference {
  name: string;
  /** Version on the right side; undefined: it is not installed there. */
  here: string | undefined;
  /** Version on the left side. */
  there: string | undefined;
}

/** The packages in which two sides differ, by name. */
export function differences({ comparison, onlyRight }: Comparison): PackageDifference[] {
  const changed = [...comparison.packagesToInstall, ...comparison.packagesToUpdate].map(({ name, versions }) => ({
    name,
    here: versions.from ?? undefined,
    there: versions.to,
  }));
  const only = onlyRight.map(({ name, version }) => ({ name, here: version, there: undefined }));
  return [...changed, ...only].toSorted((a, b) => a.name.localeCompare(b.name));
}
