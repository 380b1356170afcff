import {
  changedHolders,
  goneUnits,
  holdersOf,
  keyOf,
  plannedDeletions,
} from '../../../domain/delivery/source/delta-rules.ts';
import type { ComponentName } from '../../../domain/delivery/source/source-build.port.ts';
import type { SourceUnit } from '../../../domain/delivery/source/source-converter.port.ts';
import { checkOutUnits, type CommitSource, type SourceWork, valueOf } from './read-commit.ts';

const NONE = { head: [], base: [] };
const idsOf = (units: readonly SourceUnit[]): number[] => units.map(({ id }) => id);

/** Puts the files of the commit into the place that are read from now on, and finds what is gone since the base. */
export async function planDeletions(
  work: SourceWork,
  {
    head,
    base,
    units,
    areMade,
  }: { head: CommitSource; base: CommitSource | undefined; units: readonly SourceUnit[]; areMade: boolean },
): Promise<{ deletions: ComponentName[]; pending: ComponentName[]; undeletable: ComponentName[] }> {
  const { place, order, warnings } = work;
  const { pending: before = [] } = order;
  const changed = base ? changedHolders(head, base) : NONE;
  const ofPending = holdersOf(head.units, new Set(before.map(({ type }) => type)));
  const holders = [...new Set([...changed.head, ...ofPending])];
  await checkOutUnits(work, 'head', head.sha, [...units, ...holders]);
  const held = holders.length > 0 ? valueOf(await place.inner('head', idsOf(holders))) : [];
  const there = new Set([...head.units, ...held].map(keyOf));
  const gone = base ? goneUnits(head, base) : [];
  if (base && changed.base.length > 0) {
    await checkOutUnits(work, 'base', base.sha, changed.base);
    const heldBefore = await place.inner('base', idsOf(changed.base));
    if (heldBefore.isOk) gone.push(...heldBefore.value);
    else warnings.push(`What is gone from files such as those of labels is not known: ${heldBefore.reason}`);
  }
  const isThere = (name: ComponentName) => there.has(keyOf(name));
  const { deletions, pending, never } = plannedDeletions(gone, before, { deletions: areMade, isThere });
  for (const { type, fullName } of never)
    warnings.push(`${type} ${fullName} is gone from the source; the platform deletes none by a deployment`);
  return { deletions, pending, undeletable: never };
}
