import type { CommitView } from '../../../code/git/commits.queries.ts';
import { bitCount, CHANGES_MAX } from '../../../code/git/graph/counted-changes-rules.ts';
import type { PackageChanges } from '../../../code/git/work-item-changes.ts';
import { memoized } from '../../../kernel/caches/memoized.ts';
import type { PackageVersion } from '../versions/package-versions.queries.ts';
import { type CountedPart, isCarriedOver, withPicks } from './work-item-places-rules.ts';

/** The changes of a work item in a package. */
export interface CountedPackageChanges extends PackageChanges {
  /** Changes that count in any candidate, environment or releasable branch, as bits. */
  counted: number;
}

/** The places of the bits that are set. */
export function placesOf(bits: number): number[] {
  const places: number[] = [];
  for (let rest = bits; rest !== 0; rest &= rest - 1) places.push(31 - Math.clz32(rest & -rest));
  return places;
}

/** The commits whose changes count. */
export const countedCommits = ({ commits, counted }: CountedPackageChanges): number[] =>
  commits.filter((_, place) => ((counted >>> place) & 1) === 1);

/** How much of some changes there is where packages have some versions. */
export type PartsIn = (
  changes: readonly CountedPackageChanges[],
  versionOf: (name: string) => string | undefined,
) => CountedPart[];

/** Counts what versions have of the changes of a work item. @param ends commits of all versions and branches in question. */
export function heldParts(
  changes: readonly CountedPackageChanges[],
  ends: readonly number[],
  views: ReadonlyMap<number, CommitView>,
  commitOf: (version: PackageVersion) => number | undefined,
): PartsIn {
  const byPackage = Map.groupBy(changes, ({ packageName }) => packageName);
  const heldUpTo = (parts: readonly CountedPackageChanges[], end: number | undefined): number[] =>
    parts.map(({ countedUpTo, counted }) => (end === undefined ? 0 : countedUpTo(end) & counted));
  const othersOf = memoized((name: string) => {
    const parts = byPackage.get(name) ?? [];
    const picks = pickedChanges(parts, views);
    return { picks, others: ends.map((end) => withPicks(heldUpTo(parts, end), picks)) };
  });
  return (own, versionOf) =>
    [...Map.groupBy(own, ({ packageName }) => packageName)].flatMap(([name, parts]) => {
      const version = versionOf(name);
      const end = version === undefined ? undefined : commitOf({ name, version });
      const held = heldUpTo(parts, end);
      const isLacking = parts.some(({ counted }, at) => held[at] !== counted);
      const { picks, others } = isLacking ? othersOf(name) : { picks: [], others: [] };
      const isCarried = isCarriedOver(withPicks(held, picks), others);
      return parts.map(({ counted }, at) => ({
        present: version !== undefined && end === undefined ? undefined : bitCount(held[at] ?? 0),
        total: bitCount(counted),
        isCarriedOver: isCarried,
      }));
    });
}

/** Changes of a package that are picks of each other: of the same author, moment and subject. */
function pickedChanges(
  parts: readonly CountedPackageChanges[],
  views: ReadonlyMap<number, CommitView>,
): readonly (readonly number[])[] {
  const places = parts.flatMap(({ commits, counted }, part) =>
    commits.flatMap((commit, bit) => {
      const view = ((counted >>> bit) & 1) === 1 ? views.get(commit) : undefined;
      return view ? [{ view, place: part * CHANGES_MAX + bit }] : [];
    }),
  );
  const same = Map.groupBy(places, ({ view }) => JSON.stringify([view.authorEmail, view.authoredAt, view.message]));
  return [...same.values()].filter(({ length }) => length > 1).map((own) => own.map(({ place }) => place));
}
