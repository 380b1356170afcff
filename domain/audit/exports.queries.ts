import type { ActorReads } from '../data/fenced-reads.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { textArray } from '../shared/text-array.ts';
import type { Tx } from '../unit-of-work.ts';
import { allOf, type AuditFilter, facetConditions, timeConditions } from './audit-filter.ts';
import { CELL_COLUMNS, ENTRY_COLUMNS, type EntryCells, type EntryRow } from './audit-list.queries.ts';
import { type ExportStatus, KEPT_DAYS, origins } from './export-rules.ts';

/** An export as it is stored; times are the database's text, counts too. */
export interface AuditExport {
  id: string;
  status: ExportStatus;
  filters: Record<string, string>;
  requestedBy: string;
  requestedAt: string;
  completedAt: string | null;
  expiresAt: string;
  rowCount: string | null;
  fileSizeBytes: string | null;
  sha256: string | null;
  error: string | null;
  objectKey: string | null;
  fileName: string | null;
  /** The last entry that belongs to it: what came later does not. */
  upperSequence: string;
}

const COLUMNS = `id, status, filters, requested_by as "requestedBy", requested_at as "requestedAt", completed_at as "completedAt",
  expires_at as "expiresAt", row_count as "rowCount", file_size_bytes as "fileSizeBytes", sha256, error, object_key as "objectKey",
  file_name as "fileName", upper_sequence as "upperSequence"`;

/** Anything that runs statements in one tenant. */
type Sql = Pick<ActorReads, 'sql'> | Pick<Tx, 'sql'>;

/** Takes on an export of what the trail holds at this moment. */
export async function insertExport(tx: Tx, filters: Record<string, string>): Promise<AuditExport> {
  const [made] = await tx.sql<AuditExport>(
    `insert into audit_export (id, tenant_id, filters, requested_by, requested_at, upper_sequence, expires_at)
     values (?, ?, ?::jsonb, ?, ?, coalesce((select sequence from audit_head), 0), ?::timestamptz + interval '${KEPT_DAYS} days') returning ${COLUMNS}`,
    [newId(), tx.tenantId, JSON.stringify(filters), tx.actor.email, tx.now.toISOString(), tx.now.toISOString()],
  );
  return made as AuditExport;
}

/** Throws `not_found`. */
export async function exportById({ sql }: Sql, id: string): Promise<AuditExport> {
  const [found] = await sql<AuditExport>(`select ${COLUMNS} from audit_export where id = ?`, [id]);
  if (!found) throw notFound('Export');
  return found;
}

/** What was made of the rows. */
export interface ExportFile {
  objectKey: string;
  fileName: string;
  rowCount: number;
  fileSizeBytes: number;
  sha256: string | null;
}

type Move =
  | { to: 'running' }
  | { to: 'failed'; error: string }
  | { to: 'completed'; file: ExportFile }
  | { to: 'expired' };

/** Moves an export; undefined when it may not go there from where it is, or is there already. */
export async function moveExport(tx: Tx, id: string, move: Move): Promise<AuditExport | undefined> {
  const changes = changesOf(move, tx.now);
  const [moved] = await tx.sql<AuditExport>(
    `update audit_export set status = ?, updated_at = now()${changes.map(({ column }) => `, ${column} = ?`).join('')}
     where id = ? and status = any (?::text[]) returning ${COLUMNS}`,
    [move.to, ...changes.map(({ value }) => value), id, textArray(origins(move.to))],
  );
  return moved;
}

function changesOf(move: Move, now: Date): { column: string; value: unknown }[] {
  switch (move.to) {
    case 'running':
      return [];
    case 'failed':
      return [
        { column: 'error', value: move.error },
        { column: 'completed_at', value: now.toISOString() },
      ];
    case 'expired':
      return [{ column: 'object_key', value: null }];
    case 'completed':
      return [
        { column: 'object_key', value: move.file.objectKey },
        { column: 'file_name', value: move.file.fileName },
        { column: 'row_count', value: move.file.rowCount },
        { column: 'file_size_bytes', value: move.file.fileSizeBytes },
        { column: 'sha256', value: move.file.sha256 },
        { column: 'completed_at', value: now.toISOString() },
      ];
  }
}

/** The completed exports of the tenant whose time is over. */
export const outlivedExports = ({ sql }: Sql, most: number): Promise<AuditExport[]> =>
  sql<AuditExport>(
    `select ${COLUMNS} from audit_export where status = 'completed' and expires_at <= now() order by expires_at limit ?`,
    [most],
  );

/** A filter as it is kept with an export. */
export const filterOf = ({ from, to, ...others }: Record<string, string>): AuditFilter => ({
  ...others,
  ...(from !== undefined && { from: new Date(from) }),
  ...(to !== undefined && { to: new Date(to) }),
});

type ExportScope = Pick<AuditExport, 'filters' | 'upperSequence'>;

/** The next rows of an export in the order of the trail. */
export const exportRows = (
  reads: ActorReads,
  scope: ExportScope,
  afterSequence: number,
  limit: number,
): Promise<EntryRow[]> => nextRows(reads, ENTRY_COLUMNS, scope, afterSequence, limit);

/** The same with all cells as the database's text: a million rows are not parsed to be printed again. */
export const exportCells = (
  reads: ActorReads,
  scope: ExportScope,
  afterSequence: number,
  limit: number,
): Promise<EntryCells[]> => nextRows(reads, CELL_COLUMNS, scope, afterSequence, limit, { timeoutMs: PAGE_TIMEOUT_MS });

/** A filter that few entries pass has long ways between them; nobody waits for a file. */
const PAGE_TIMEOUT_MS = 300_000;

function nextRows<Row>(
  reads: ActorReads,
  columns: string,
  { filters, upperSequence }: ExportScope,
  afterSequence: number,
  limit: number,
  options: { timeoutMs?: number } = {},
): Promise<Row[]> {
  const filter = filterOf(filters);
  const condition = allOf([
    { sql: 'e.sequence > ? and e.sequence <= ?', parameters: [afterSequence, upperSequence] },
    ...facetConditions(filter),
    ...timeConditions(filter),
  ]);
  // Planned for this very range: the plan for any range reads all that follows, for each page again.
  const statement = `select ${columns} from audit_entry e where ${condition.sql} order by e.sequence limit ?`;
  return reads.once<Row>(statement, [...condition.parameters, limit], options);
}

/** Where in the trail a cursor stands. Throws `invalid_request` when it is none of this trail. */
export async function sequenceAt({ sql }: Sql, cursor: { createdAt: Date; id: string }): Promise<number> {
  const [entry] = await sql<{ sequence: string }>('select sequence from audit_entry where id = ? and occurred_at = ?', [
    cursor.id,
    cursor.createdAt.toISOString(),
  ]);
  if (!entry) throw new DomainError('invalid_request', 'The cursor is not one that a page of rows gave');
  return Number(entry.sequence);
}
