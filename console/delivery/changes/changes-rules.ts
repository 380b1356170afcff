import type { PackageComparison } from '@quayside/client';
import type { Tone } from '../../kernel/parts/tone.ts';

export interface ChangedPackage {
  name: string;
  from: string | null;
  to: string | null;
  kind: 'install' | 'update' | 'older' | 'otherContent' | 'onlyThere';
  tone: Tone;
}

/** The packages that are another one, in the order in which they would be installed; those only there at the end. */
export function changedPackages(
  { packagesToInstall, packagesToUpdate, installOrder }: PackageComparison,
  onlyRight: readonly { name: string; version: string }[],
): readonly ChangedPackage[] {
  const place = (name: string) => installOrder.indexOf(name);
  const changed: ChangedPackage[] = [
    ...packagesToInstall.map(({ name, versions }) => ({ name, ...versions, kind: 'install', tone: 'busy' }) as const),
    ...packagesToUpdate.map(({ name, versions, isOutOfSync, isOtherContent }): ChangedPackage => {
      if (isOtherContent) return { name, ...versions, kind: 'otherContent', tone: 'wait' };
      return isOutOfSync
        ? { name, ...versions, kind: 'older', tone: 'bad' }
        : { name, ...versions, kind: 'update', tone: 'busy' };
    }),
  ];
  const own = changed.toSorted((a, b) => place(a.name) - place(b.name));
  return [
    ...own,
    ...onlyRight.map(
      ({ name, version }) => ({ name, from: version, to: null, kind: 'onlyThere', tone: 'idle' }) as const,
    ),
  ];
}
