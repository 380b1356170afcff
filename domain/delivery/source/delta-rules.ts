import type { ComponentName } from './source-build.port.ts';
import type { SourceUnit } from './source-converter.port.ts';

/** A commit whose components are known. */
export interface KnownSource {
  units: readonly SourceUnit[];
  /** Path of each file of its packages to the id of its content. */
  blobs: ReadonlyMap<string, string>;
}

export const keyOf = ({ type, fullName }: ComponentName): string => `${type}\0${fullName}`;

/** Levels that a path of source may have. */
export const PATH_DEPTH_MAX = 50;

/** The innermost of some directories that a path is in; undefined: in none of them. */
export function directoryOf(directories: { has: (directory: string) => boolean }, path: string): string | undefined {
  let found = directories.has('') ? '' : undefined;
  for (let depth = 0, end = 0; depth < PATH_DEPTH_MAX && end < path.length; depth++) {
    const next = path.indexOf('/', end + 1);
    end = next < 0 ? path.length : next;
    const directory = path.slice(0, end);
    if (directories.has(directory)) found = directory;
  }
  return found;
}

/** Units of a name: those of several packages may have the same one. */
function unitsByKey(units: Iterable<SourceUnit>): Map<string, SourceUnit[]> {
  const byKey = new Map<string, SourceUnit[]>();
  for (const unit of units) {
    const others = byKey.get(keyOf(unit));
    if (others) others.push(unit);
    else byKey.set(keyOf(unit), [unit]);
  }
  return byKey;
}

/** What a component is made of: files with the ids of their contents. */
const stateOf = (units: readonly SourceUnit[], { blobs }: KnownSource): string =>
  [...new Set(units.flatMap(({ files }) => files.map((file) => `${file}\0${blobs.get(file) ?? ''}`)))]
    .toSorted()
    .join('\0');

/**
 * The units of the head that the base does not have, or has otherwise: moved to another folder counts as otherwise. With
 * an object come all its parts, as one with a master-detail field, for instance, is not created without it.
 */
export function changedUnits(head: KnownSource, base: KnownSource): SourceUnit[] {
  const before = unitsByKey(base.units);
  const after = unitsByKey(head.units);
  const changed = new Set(
    [...after.keys()].filter((key) => stateOf(after.get(key) ?? [], head) !== stateOf(before.get(key) ?? [], base)),
  );
  return head.units.filter((unit) => changed.has(keyOf(unit)) || (unit.parent && changed.has(keyOf(unit.parent))));
}

/**
 * Components of the base that are gone: there is none of their name, no part of it, and none of their files, as a package
 * may only have left the project file. What goes with its object is not listed.
 */
export function goneUnits(head: KnownSource, base: KnownSource): ComponentName[] {
  const after = new Set(head.units.flatMap((unit) => [keyOf(unit), ...(unit.parent ? [keyOf(unit.parent)] : [])]));
  const gone = [...unitsByKey(base.units)].flatMap(([key, units]) =>
    after.has(key) || units.some(({ files }) => files.some((file) => head.blobs.has(file))) ? [] : units.slice(0, 1),
  );
  const keys = new Set(gone.map(keyOf));
  return gone
    .filter(({ parent, innerTypes }) => innerTypes.length === 0 && !(parent && keys.has(keyOf(parent))))
    .map(({ type, fullName }) => ({ type, fullName }));
}

/** What files hold by name, such as labels, may differ in these: which of either commit are to be looked into. */
export function changedHolders(head: KnownSource, base: KnownSource): { head: SourceUnit[]; base: SourceUnit[] } {
  const holds = ({ innerTypes }: SourceUnit) => innerTypes.length > 0;
  const [before, after] = [unitsByKey(base.units.filter(holds)), unitsByKey(head.units.filter(holds))];
  const differing = [...before].filter(([key, units]) => stateOf(after.get(key) ?? [], head) !== stateOf(units, base));
  return { head: differing.flatMap(([key]) => after.get(key) ?? []), base: differing.flatMap(([, units]) => units) };
}

/** Units that hold components of some types, such as labels. */
export const holdersOf = (units: readonly SourceUnit[], types: ReadonlySet<string>): SourceUnit[] =>
  units.filter(({ innerTypes }) => innerTypes.some((type) => types.has(type)));

/**
 * Where several packages have a component of the same name, the last is deployed, as if each package was deployed after the
 * one before; parts of objects and labels of all of them come together.
 */
export function withoutTwins(units: readonly SourceUnit[]): { units: SourceUnit[]; twins: ComponentName[] } {
  const kept: SourceUnit[] = [];
  const twins: ComponentName[] = [];
  for (const same of unitsByKey(units).values()) {
    const isOne = same.every(({ isMerged }) => isMerged) || same.length === 1;
    if (!isOne) twins.push({ type: same[0]?.type ?? '', fullName: same[0]?.fullName ?? '' });
    kept.push(...(isOne ? same : same.slice(-1)));
  }
  return { units: kept, twins };
}

const STANDARD_FIELD = /\.(?!.*__)[^.]+$/;
const STANDARD_NAME = /^(?!.*__)[^.]+$/;
/** What the Metadata API does not delete, whoever asks for it. */
const NEVER_DELETED: Readonly<Record<string, RegExp>> = {
  RecordType: /./,
  Settings: /./,
  StandardValueSet: /./,
  CustomObject: STANDARD_NAME,
  CustomField: STANDARD_FIELD,
  CustomObjectTranslation: /./,
  Translations: /./,
};

export const isNeverDeleted = ({ type, fullName }: ComponentName): boolean =>
  NEVER_DELETED[type]?.test(fullName) ?? false;

/** What is deleted now and what is left for later, of what is gone now or was left before. @param isThere in the head. */
export function plannedDeletions(
  gone: readonly ComponentName[],
  pending: readonly ComponentName[],
  { deletions, isThere }: { deletions: boolean; isThere: (name: ComponentName) => boolean },
): { deletions: ComponentName[]; pending: ComponentName[]; never: ComponentName[] } {
  const all = new Map([...pending, ...gone].filter((name) => !isThere(name)).map((name) => [keyOf(name), name]));
  const possible = [...all.values()].filter((name) => !isNeverDeleted(name));
  const never = gone.filter(isNeverDeleted);
  return deletions ? { deletions: possible, pending: [], never } : { deletions: [], pending: possible, never };
}
