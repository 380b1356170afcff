import { eachAtOnce } from '../../../domain/kernel/shared/at-once-rules.ts';
import type { RetrievedArchive, ZipEntry } from '../../../domain/orgs/crm/crm-metadata.port.ts';
import { storeComponents } from '../../../domain/orgs/org-explorer/component-store.ts';
import { addProgress } from '../../../domain/orgs/org-explorer/syncs.queries.ts';
import { type Content, contentOf, storeContents } from '../../../domain/orgs/org-explorer/contents.ts';
import type { ExplorerOrg } from '../../../domain/orgs/org-explorer/explorer-org.ts';
import { createFileOwners, type FileOwner, packagePath } from '../../../domain/orgs/org-explorer/file-owner-rules.ts';
import { assertSameOrg } from '../../../domain/orgs/org-explorer/index.mutations.ts';
import type { UnitOfWork } from '../../../domain/unit-of-work.ts';
import type { Deps } from '../../deps.ts';

/** What is in memory at once: so many components, and contents of so many bytes (one that is larger comes alone). */
const BATCH_COMPONENTS = 500;
const BATCH_BYTES = 8 * 1024 * 1024;
/** A quarter of the time of one at a time. */
const READERS = 8;

interface ArchiveScope extends Pick<Deps, 'objects' | 'now'> {
  tx: UnitOfWork;
  tenantId: string;
  org: ExplorerOrg;
  syncId: string;
  signal: AbortSignal;
}

interface OwnedFiles<Owner> {
  owner: Owner;
  entries: ZipEntry[];
  bytes: number;
}

/**
 * Stores the files of an archive, each component as a whole: whatever interrupts it leaves no half component. Files of
 * no ordered component are passed over. Throws `ContentNotStored` and `OrgChanged`.
 * @returns the components that the archive has no file of.
 */
export async function storeArchive<Owner extends FileOwner & { id: string }>(
  scope: ArchiveScope,
  archive: RetrievedArchive,
  owners: readonly Owner[],
): Promise<{ files: number; missing: Owner[] }> {
  const ownerOf = createFileOwners(owners);
  const owned = new Map<Owner, OwnedFiles<Owner>>();
  for (const entry of archive.entries) {
    const owner = ownerOf(entry.path);
    if (!owner) continue;
    const known = owned.get(owner) ?? { owner, entries: [], bytes: 0 };
    known.entries.push(entry);
    known.bytes += entry.sizeBytes;
    owned.set(owner, known);
  }
  const properties = new Map(archive.files.map((file) => [packagePath(file.fileName ?? ''), file]));
  let files = 0;
  for (const batch of batchesOf([...owned.values()])) {
    scope.signal.throwIfAborted();
    files += await storeBatch(scope, batch, properties);
  }
  return { files, missing: owners.filter((owner) => !owned.has(owner)) };
}

function* batchesOf<Owner>(owned: readonly OwnedFiles<Owner>[]): Generator<OwnedFiles<Owner>[]> {
  let batch: OwnedFiles<Owner>[] = [];
  let bytes = 0;
  for (const files of owned) {
    if (batch.length > 0 && (batch.length >= BATCH_COMPONENTS || bytes + files.bytes > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(files);
    bytes += files.bytes;
  }
  if (batch.length > 0) yield batch;
}

async function storeBatch<Owner extends FileOwner & { id: string }>(
  scope: ArchiveScope,
  batch: readonly OwnedFiles<Owner>[],
  properties: ReadonlyMap<string, { fullName: string; type: string | null }>,
): Promise<number> {
  const { tx, org, syncId, now } = scope;
  const contents = await readAll(batch.flatMap(({ entries }) => entries));
  await storeContents(scope, [...contents.values()]);
  const components = batch.map(({ owner, entries }) => ({
    id: owner.id,
    files: entries.map((entry) => {
      const { sha256, sizeBytes } = contents.get(entry) as Content;
      const fileName = packagePath(entry.path);
      const { fullName = owner.memberName, type } = properties.get(fileName) ?? {};
      return { fileName, fullName, type: type ?? owner.metadataType, sha256, sizeBytes };
    }),
  }));
  return tx(async (work) => {
    await assertSameOrg(work, org);
    const { files } = await storeComponents(work, { org, syncId, fetchedAt: now() }, components);
    await addProgress(work, syncId, { files });
    return files;
  });
}

async function readAll(entries: readonly ZipEntry[]): Promise<Map<ZipEntry, Content>> {
  const contents = new Map<ZipEntry, Content>();
  await eachAtOnce(entries, READERS, async (entry) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of entry.content()) pieces.push(piece);
    contents.set(entry, contentOf(pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)));
  });
  return contents;
}
