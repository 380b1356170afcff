import type { Tx } from '../../unit-of-work.ts';
import type { LedgerBranch } from './gc-announcements.ts';
import { removeEntries } from './gc-entries.queries.ts';
import type { Checked } from './gc-presence.queries.ts';

/** How many removed components one entry of the audit trail has, and how many steps each of them. */
const REMOVED_PER_ENTRY = 100;
/** How large the components of one entry are, in characters of JSON; a single one may be larger. */
const REMOVED_LENGTH = 500_000;

export async function removeWithHistory(
  tx: Tx,
  { project, branch }: LedgerBranch,
  gone: readonly Checked[],
): Promise<void> {
  for (let start = 0; start < gone.length; start += REMOVED_PER_ENTRY) {
    const part = gone.slice(start, start + REMOVED_PER_ENTRY);
    const removed = await removeEntries(
      tx,
      part.map(({ id }) => id),
    );
    for (const components of bundled(removed.flatMap(inParts))) {
      tx.audit({
        source: 'crm',
        action: 'gc.removed',
        entityType: 'gc_ledger',
        entityId: branch,
        repositoryIdentifier: project.identifier,
        summary: `${components.length} components of branch ${branch} are gone from all orgs and were removed from the ledger`,
        before: { branch, components },
      });
    }
  }
}

type Removed = Awaited<ReturnType<typeof removeEntries>>[number];

/** A component, again for each further part of its history. */
function inParts({ history, ...component }: Removed): Removed[] {
  const parts = [{ ...component, history: history.slice(0, REMOVED_PER_ENTRY) }];
  for (let start = REMOVED_PER_ENTRY; start < history.length; start += REMOVED_PER_ENTRY)
    parts.push({ ...component, history: history.slice(start, start + REMOVED_PER_ENTRY) });
  return parts;
}

/** Components as entries of the audit trail take them, none of which is too large. */
function bundled(components: readonly Removed[]): Removed[][] {
  const bundles: Removed[][] = [];
  let room = 0;
  for (const component of components) {
    const { length } = JSON.stringify(component);
    const last = bundles.at(-1);
    if (last && last.length < REMOVED_PER_ENTRY && length <= room) last.push(component);
    else {
      bundles.push([component]);
      room = REMOVED_LENGTH;
    }
    room -= length;
  }
  return bundles;
}
