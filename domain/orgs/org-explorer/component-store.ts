import { createHash } from 'node:crypto';
import type { Tx } from '../../unit-of-work.ts';
import {
  type ComponentKey,
  componentsToChange,
  type FileToKeep,
  removeComponents,
  replaceFiles,
  setContents,
} from './component-files.queries.ts';
import { type NotedChange, noteChanges } from './component-changes.queries.ts';
import type { ExplorerOrg } from './explorer-org.ts';
import { type FileState, fileStateAfter } from './explorer-rules.ts';

/** A file of a component whose content is in the object store. */
export interface GivenFile {
  fileName: string;
  fullName: string;
  type: string;
  /** Absent: by comparison with what was kept. */
  state?: FileState;
  /** Null: it could not be retrieved; what was kept of it stays. */
  sha256: string | null;
  sizeBytes: number | null;
  /** Default: that of the component. */
  fetchedAt?: string;
}

export interface GivenComponent {
  /** Id of its row in the index. */
  id: string;
  files: readonly GivenFile[];
}

export interface StoreScope {
  org: ExplorerOrg;
  syncId: string | null;
  fetchedAt: Date;
  /** Whether components without earlier source are new in the org, rather than read for the first time. */
  isNew?: (id: string) => boolean;
}

/**
 * Replaces the files of components that are in the index, each as a whole; those that are not are passed over. A file
 * with state `Deleted` goes, and a component whose files are all deleted goes with them. Notes what changed since the
 * source was kept before; of components that are indexed only, changes are those of their dates, which listings find.
 * @returns how many files were written, and which components were removed.
 */
export async function storeComponents(
  tx: Tx,
  { org, syncId, fetchedAt, isNew = () => false }: StoreScope,
  given: readonly GivenComponent[],
): Promise<{ files: number; removed: ComponentKey[] }> {
  const givenById = new Map(given.map((component) => [component.id, component]));
  const moment = fetchedAt.toISOString();
  const kept: { id: string; contentHash: string | null; fetchedAt: string }[] = [];
  const removed: (ComponentKey & { id: string })[] = [];
  const files: FileToKeep[] = [];
  const changes: NotedChange[] = [];
  for (const row of await componentsToChange(tx, org, [...givenById.keys()])) {
    const component = givenById.get(row.id);
    if (!component) continue;
    const { metadataType, memberName } = row;
    const change = {
      metadataType,
      memberName,
      modifiedAt: row.lastModifiedAt,
      modifiedBy: row.lastModifiedBy,
      beforeHash: row.contentHash,
    };
    if (isDeleted(component.files)) {
      removed.push({ id: row.id, metadataType, memberName });
      changes.push({ ...change, change: 'deleted', afterHash: null });
      continue;
    }
    const own = filesAfter(row, component.files, moment);
    const contentHash = hashOf(own);
    files.push(...own);
    kept.push({ id: row.id, contentHash, fetchedAt: moment });
    if (isNew(row.id)) changes.push({ ...change, change: 'created', afterHash: contentHash });
    else if (row.contentHash !== null && row.contentHash !== contentHash && !(row.isIndexOnly && row.lastModifiedAt))
      changes.push({ ...change, change: 'changed', afterHash: contentHash });
  }
  if (removed.length > 0)
    await removeComponents(
      tx,
      removed.map(({ id }) => id),
    );
  if (kept.length > 0) {
    await replaceFiles(
      tx,
      kept.map(({ id }) => id),
      files,
    );
    await setContents(tx, kept);
  }
  await noteChanges(tx, { org, syncId }, changes);
  return { files: files.length, removed };
}

/** Whether a component goes because all of its files do. */
export const isDeleted = (files: readonly { state?: FileState }[]): boolean =>
  files.length > 0 && files.every(({ state }) => state === 'Deleted');

function filesAfter(
  {
    id,
    files,
  }: { id: string; files: readonly { fileName: string; sha256: string | null; sizeBytes: number | null }[] },
  given: readonly GivenFile[],
  fetchedAt: string,
): FileToKeep[] {
  const before = new Map(files.map((file) => [file.fileName, file]));
  return given
    .filter(({ state }) => state !== 'Deleted')
    .map((file) => {
      const known = before.get(file.fileName);
      const { sha256, sizeBytes } = file.sha256 === null ? { sha256: null, sizeBytes: null, ...known } : file;
      const state = file.state ?? (file.sha256 === null ? 'Failed' : fileStateAfter(known?.sha256, file.sha256));
      return {
        componentId: id,
        fileName: file.fileName,
        fullName: file.fullName,
        type: file.type,
        state,
        sha256,
        sizeBytes,
        fetchedAt: file.fetchedAt ?? fetchedAt,
      };
    });
}

/** Digest of files: the same for the same files, in whatever org and order. */
function hashOf(files: readonly { fileName: string; sha256: string | null }[]): string | null {
  if (files.length === 0) return null;
  const hash = createHash('sha256');
  for (const line of files.map(({ fileName, sha256 }) => `${fileName}\0${sha256 ?? ''}\n`).toSorted())
    hash.update(line);
  return hash.digest('hex');
}
