import { objectKey } from '../objects/object-key-rules.ts';
import { DomainError, notFound } from '../shared/errors.ts';

export const EXPORT_STATUSES = ['queued', 'running', 'completed', 'failed', 'expired'] as const;
export type ExportStatus = (typeof EXPORT_STATUSES)[number];

/** Where an export may go from where it is. A worker that died leaves it running; the next one begins anew. */
const TRANSITIONS: Record<ExportStatus, readonly ExportStatus[]> = {
  queued: ['running', 'completed', 'failed'],
  running: ['running', 'completed', 'failed'],
  completed: ['expired'],
  failed: [],
  expired: [],
};

/** The statuses from which an export may reach a status. */
export const origins = (to: ExportStatus): ExportStatus[] =>
  EXPORT_STATUSES.filter((from) => TRANSITIONS[from].includes(to));

/** How long the file of an export is kept. */
export const KEPT_DAYS = 7;

export const exportKey = (tenantId: string, exportId: string): string =>
  objectKey(tenantId, 'audit-exports', `${exportId}.csv`);

/** @param requestedAt begins with the day. */
export const exportFileName = ({ id, requestedAt }: { id: string; requestedAt: string }): string =>
  `audit-${requestedAt.slice(0, 10)}-${id.slice(-12)}.csv`;

interface ExportToFetch {
  id: string;
  requestedAt: string;
  status: ExportStatus;
  error: string | null;
  objectKey: string | null;
  fileName: string | null;
}

/**
 * The file of an export. Throws `not_found` for one that has expired, `invalid_transition` for one that failed, and
 * `in_progress` for one without a file yet.
 */
export function fileToFetch(found: ExportToFetch): { key: string; fileName: string } {
  if (found.status === 'expired') throw notFound('The file of this export');
  if (found.status === 'failed') throw new DomainError('invalid_transition', `The export failed: ${found.error}`);
  if (found.objectKey === null)
    throw new DomainError('in_progress', `The export is ${found.status}: its file is not complete`);
  return { key: found.objectKey, fileName: found.fileName ?? exportFileName(found) };
}
