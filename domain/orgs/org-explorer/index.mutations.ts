import type { Tx } from '../../unit-of-work.ts';
import { indexComponents, makeDue, removeUnlisted } from './component-index.queries.ts';
import { componentType, countTypes, removeType } from './component-types.queries.ts';
import { type ExplorerOrg, lockedOrgById, orgById } from './explorer-org.ts';
import { parentNameOf } from './explorer-rules.ts';
import type { IndexedComponent, PlannedType } from './listing-rules.ts';

/** Rows of one statement. */
const BATCH = 5_000;

/** What was read is that of an org which is not there any more: it was removed, or is a sandbox that was refreshed. */
export class OrgChanged extends Error {}

/** Throws `OrgChanged` unless the org is still the one that was read. @param isLocked it stays so until the transaction ends. */
export async function assertSameOrg(
  tx: Tx,
  { id, platformOrgId }: ExplorerOrg,
  { isLocked = false }: { isLocked?: boolean } = {},
): Promise<void> {
  const org = await (isLocked ? lockedOrgById(tx, id) : orgById(tx, id));
  if (org?.platformOrgId !== platformOrgId) throw new OrgChanged('The org is another one than was read');
}

/**
 * Makes the index of a type what the org listed: all of its components. What changed is noted as a change of the org if
 * the type was listed before, and makes the parents due that it is a part of. Throws `OrgChanged`.
 */
export async function indexType(
  tx: Tx,
  { org, syncId, type }: { org: ExplorerOrg; syncId: string; type: PlannedType },
  listed: readonly IndexedComponent[],
): Promise<void> {
  await assertSameOrg(tx, org);
  const { metadataType, description } = type;
  const isCompared = (await componentType(tx, org, metadataType))?.syncedAt != null;
  const scope = { org, syncId, metadataType, isCompared };
  const unique = [...new Map(listed.map((component) => [component.memberName, component])).values()];
  const changed: string[] = [];
  for (let start = 0; start < unique.length; start += BATCH)
    changed.push(...(await indexComponents(tx, scope, unique.slice(start, start + BATCH))));
  changed.push(
    ...(await removeUnlisted(
      tx,
      scope,
      unique.map(({ memberName }) => memberName),
    )),
  );
  if (isCompared && description.parentType !== null && changed.length > 0) {
    const parents = new Set(changed.map(parentNameOf));
    const names = parents.has(undefined) ? null : [...parents].flatMap((name) => name ?? []);
    await makeDue(tx, org, description.parentType, names);
  }
  await countTypes(tx, org, [metadataType], { syncedAt: tx.now, isListed: true });
}

/** Removes a type that the org does not have any more; its components are noted as deleted. Throws `OrgChanged`. */
export async function forgetType(
  tx: Tx,
  {
    org,
    syncId,
    type: { metadataType },
  }: { org: ExplorerOrg; syncId: string; type: Pick<PlannedType, 'metadataType'> },
): Promise<void> {
  await assertSameOrg(tx, org);
  await removeUnlisted(tx, { org, syncId, metadataType, isCompared: true }, []);
  await removeType(tx, org, metadataType);
}
