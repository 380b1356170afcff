import type { ObjectStore } from '../objects/object-store.port.ts';
import { objectKey } from '../objects/object-key-rules.ts';
import type { Tx, UnitOfWork } from '../unit-of-work.ts';
import { type AuditExport, type ExportFile, moveExport, outlivedExports } from './exports.queries.ts';

/** At once; the next turn takes on the others. */
const MOST_EXPIRED = 500;

export const exportKey = (tenantId: string, exportId: string): string =>
  objectKey(tenantId, 'audit-exports', `${exportId}.csv`);

export const exportFileName = ({ id, requestedAt }: Pick<AuditExport, 'id' | 'requestedAt'>): string =>
  `audit-${requestedAt.slice(0, 10)}-${id.slice(-12)}.csv`;

const EXPORT_NOTE = { source: 'system', entityType: 'audit_export' } as const;

/** Notes that an export is asked for. */
export function noteRequested(tx: Tx, { id, filters, upperSequence }: AuditExport): void {
  tx.audit({
    ...EXPORT_NOTE,
    action: 'audit_export.requested',
    entityId: id,
    summary: `${tx.actor.email} asked for an export of the audit trail`,
    after: { filters, upperSequence: Number(upperSequence) },
  });
}

/** The file is there: the export can be fetched. False when it was settled before. */
export async function completeExport(tx: Tx, id: string, file: ExportFile): Promise<boolean> {
  const done = await moveExport(tx, id, { to: 'completed', file });
  if (!done) return false;
  const { rowCount, fileSizeBytes, sha256 } = file;
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

/** The export comes to nothing. False when it was settled before. */
export async function failExport(tx: Tx, id: string, error: string): Promise<boolean> {
  const failed = await moveExport(tx, id, { to: 'failed', error });
  if (!failed) return false;
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

/** Removes the files of the tenant's exports whose time is over; answers how many. */
export async function expireExports(tx: UnitOfWork, objects: ObjectStore): Promise<number> {
  const outlived = await tx((work) => outlivedExports(work, MOST_EXPIRED));
  for (const { id, objectKey: key } of outlived) {
    // The file first: an export that is marked without it would leave it there for ever.
    if (key !== null) await objects.remove(key);
    await tx(async (work) => {
      const expired = await moveExport(work, id, { to: 'expired' });
      if (expired)
        work.audit({
          ...EXPORT_NOTE,
          action: 'audit_export.expired',
          entityId: id,
          summary: 'The file of an export was removed, its time was over',
        });
    });
  }
  return outlived.length;
}
