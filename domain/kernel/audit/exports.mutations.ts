import type { ActorReads } from '../data/fenced-reads.ts';
import type { ObjectStore } from '../objects/object-store.port.ts';
import { invalidField } from '../shared/errors.ts';
import type { Tx, UnitOfWork } from '../../unit-of-work.ts';
import { type AuditFilter, storedFilter } from './audit-filter.ts';
import { assertKnownRepository } from './audit-list.queries.ts';
import { exportKey } from './export-rules.ts';
import { type AuditExport, expiredExports, exportById, insertExport, updateExport } from './exports.queries.ts';

/** Exports that expire in one call; the next call takes the others. */
const EXPIRED_MAX = 500;

const EXPORT_NOTE = { source: 'system', entityType: 'audit_export' } as const;

/** What was made of the rows. */
export interface ExportFile {
  objectKey: string;
  fileName: string;
  rowCount: number;
  fileSizeBytes: number;
  sha256: string | null;
}

/** Records that an export is asked for. Throws `invalid_request` for a repository that the tenant never had. */
export async function requestExport(tx: Tx, filter: AuditFilter): Promise<AuditExport> {
  await assertKnownRepository(tx, filter.repositoryIdentifier);
  const made = await insertExport(tx, storedFilter(filter));
  const { id, filters, upperSequence } = made;
  tx.audit({
    ...EXPORT_NOTE,
    action: 'audit_export.requested',
    entityId: id,
    summary: `${tx.actor.email} asked for an export of the audit trail`,
    after: { filters, upperSequence: Number(upperSequence) },
  });
  return made;
}

/** A worker begins to write the file. Undefined for an export that is settled. */
export const beginExport = (tx: Tx, id: string): Promise<AuditExport | undefined> => updateExport(tx, id, 'running');

/** The file is there: the export can be fetched. False when it was settled before. */
export async function completeExport(tx: Tx, id: string, file: ExportFile): Promise<boolean> {
  const { rowCount, fileSizeBytes, sha256 } = file;
  const done = await updateExport(tx, id, 'completed', {
    ...file,
    rowCount: String(rowCount),
    fileSizeBytes: String(fileSizeBytes),
    completedAt: tx.now.toISOString(),
  });
  if (!done) return false;
  tx.audit({
    ...EXPORT_NOTE,
    action: 'audit_export.completed',
    entityId: id,
    summary: `An export of ${rowCount} entries is complete`,
    after: { rowCount, fileSizeBytes, sha256 },
  });
  tx.announce({
    event: 'audit_export.completed',
    data: { id, status: 'completed', requestedBy: done.requestedBy, rowCount, fileSizeBytes, error: null },
  });
  return true;
}

/**
 * Completes an export whose file a worker outside the service has stored. Throws `not_found`, or `invalid_request` when
 * the key is not the export's or the object in the store has another size.
 */
export async function completeStoredExport(
  { tx, reads }: { tx: UnitOfWork; reads: ActorReads },
  objects: ObjectStore,
  id: string,
  file: ExportFile,
): Promise<void> {
  await exportById(reads, id);
  const key = exportKey(reads.tenantId, id);
  if (file.objectKey !== key) throw invalidField('objectKey', `must be ${key}`);
  const sizeBytes = await objects.sizeOf(key);
  if (sizeBytes === undefined) throw invalidField('fileSizeBytes', 'there is no such object in the store');
  if (sizeBytes !== file.fileSizeBytes) throw invalidField('fileSizeBytes', `the object has ${sizeBytes} bytes`);
  await tx((work) => completeExport(work, id, file));
}

/** The export failed. False when it was settled before. Throws `not_found`. */
export async function failExport(tx: Tx, id: string, error: string): Promise<boolean> {
  const failed = await updateExport(tx, id, 'failed', { error, completedAt: tx.now.toISOString() });
  if (!failed) {
    await exportById(tx, id);
    return false;
  }
  tx.audit({
    ...EXPORT_NOTE,
    action: 'audit_export.failed',
    entityId: id,
    summary: `An export of the audit trail failed: ${error}`,
  });
  tx.announce({
    event: 'audit_export.completed',
    data: { id, status: 'failed', requestedBy: failed.requestedBy, rowCount: null, fileSizeBytes: null, error },
  });
  return true;
}

/** Removes the files of the tenant's exports that have expired; answers how many. */
export async function expireExports(tx: UnitOfWork, objects: ObjectStore): Promise<number> {
  const expired = await tx((work) => expiredExports(work, EXPIRED_MAX));
  for (const { id, objectKey } of expired) {
    // The file first: an export that is marked without it would leave it there for ever.
    if (objectKey !== null) await objects.remove(objectKey);
    await tx(async (work) => {
      const isMarked = await updateExport(work, id, 'expired', { objectKey: null });
      if (!isMarked) return;
      work.audit({
        ...EXPORT_NOTE,
        action: 'audit_export.expired',
        entityId: id,
        summary: 'The file of an export was removed because it has expired',
      });
    });
  }
  return expired.length;
}
