import { sql, type Updateable } from 'kysely';
import { json } from '../data/columns.ts';
import { isOneOf } from '../data/conditions.ts';
import type { ActorReads, Reads } from '../data/fenced-reads.ts';
import type { Database, Tables } from '../data/tables.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { entryConditions, facetConditions, filterOf, type StoredFilter, timeConditions } from './audit-filter.ts';
import { CELL_COLUMNS, ENTRY_COLUMNS, type EntryRow } from './audit-list.queries.ts';
import type { EntryCells } from './chain.queries.ts';
import { type ExportStatus, KEPT_DAYS, origins } from './export-rules.ts';
import { tenantSlugOf } from '../tenants/tenants.queries.ts';

const COLUMNS = [
  'id',
  'status',
  'filters',
  'requestedBy',
  'requestedAt',
  'completedAt',
  'expiresAt',
  'rowCount',
  'fileSizeBytes',
  'sha256',
  'error',
  'objectKey',
  'fileName',
  'upperSequence',
] as const;

/** An export; times and numbers of rows, bytes and entries are the database's text. */
export type AuditExport = Awaited<ReturnType<typeof exportById>>;

/** Inserts an export of what the trail holds at this time. */
export function insertExport({ db, tenantId, actor, now }: Tx, filters: StoredFilter): Promise<AuditExport> {
  const requestedAt = now.toISOString();
  return db
    .insertInto('audit_export')
    .values((eb) => ({
      id: newId(),
      tenantId,
      filters: json(filters),
      requestedBy: actor.email,
      requestedAt,
      upperSequence: eb.fn.coalesce(eb.selectFrom('audit_head').select('sequence'), sql<string>`0`),
      expiresAt: sql<string>`${requestedAt}::timestamptz + ${sql.lit(`${KEPT_DAYS} days`)}::interval`,
    }))
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

/** One page of exports, newest first, with how many there are. */
export async function listExports({ db }: Reads, { limit, offset }: { limit: number; offset: number }) {
  const { total } = await db
    .selectFrom('audit_export')
    .select(sql<number>`count(*)::int`.as('total'))
    .executeTakeFirstOrThrow();
  const items = await db
    .selectFrom('audit_export')
    .orderBy('requestedAt', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .select(COLUMNS)
    .execute();
  return { items, total };
}

/** Throws `not_found`. */
export async function exportById({ db }: Reads, id: string) {
  const found = await db.selectFrom('audit_export').where('id', '=', id).select(COLUMNS).executeTakeFirst();
  if (!found) throw notFound('The export');
  return found;
}

/** Changes an export that may reach the status from where it is; else undefined. */
export const updateExport = (
  { db }: Tx,
  id: string,
  status: ExportStatus,
  changes: Omit<Updateable<Tables['audit_export']>, 'status'> = {},
): Promise<AuditExport | undefined> =>
  db
    .updateTable('audit_export')
    .set({ ...changes, status, updatedAt: sql<string>`now()` })
    .where('id', '=', id)
    .where((eb) => isOneOf(eb, 'status', origins(status)))
    .returning(COLUMNS)
    .executeTakeFirst();

/** The completed exports of the tenant that have expired. */
export const expiredExports = ({ db }: Reads, limit: number) =>
  db
    .selectFrom('audit_export')
    .where('status', '=', 'completed')
    .where('expiresAt', '<=', sql<string>`now()`)
    .orderBy('expiresAt')
    .limit(limit)
    .select(['id', 'objectKey'])
    .execute();

/** Tenants with exports that have expired; `db` has the role of the system. */
export const tenantsWithExpiredExports = (db: Database, limit: number) =>
  db
    .selectFrom('audit_export')
    .where('status', '=', 'completed')
    .where('expiresAt', '<=', sql<string>`now()`)
    .distinct()
    .limit(limit)
    .select(['tenantId', tenantSlugOf('tenantId')])
    .execute();

type ExportScope = Pick<AuditExport, 'filters' | 'upperSequence'>;

/** The next entries of an export in the order of the trail, with JSON as the database's text: a million entries are not parsed to be printed again. */
export const exportCells = (
  reads: ActorReads,
  scope: ExportScope,
  afterSequence: number,
  limit: number,
): Promise<EntryCells[]> =>
  nextEntries(reads.with({ isPlannedAnew: true, timeoutMs: PAGE_TIMEOUT_MS }), scope, afterSequence, limit)
    .select(CELL_COLUMNS)
    .execute();

/** With a filter that few entries pass, much is read between them; nobody waits for a file. */
const PAGE_TIMEOUT_MS = 300_000;

/** To be planned for this very range: a plan for any range reads all that follows, for each page again. */
function nextEntries({ db }: Reads, { filters, upperSequence }: ExportScope, afterSequence: number, limit: number) {
  const filter = filterOf(filters);
  return db
    .selectFrom('audit_entry as e')
    .where('e.sequence', '>', String(afterSequence))
    .where('e.sequence', '<=', upperSequence)
    .where(entryConditions.and([...facetConditions(filter), ...timeConditions(filter)]))
    .orderBy('e.sequence')
    .limit(limit);
}

/** Where a page of an export ended: at the entry with this time and id. */
export interface EntryCursor {
  createdAt: Date;
  id: string;
}

/**
 * A page of the entries of an export in the order of the trail, from the beginning or behind a cursor.
 * Throws `not_found`, and `invalid_request` for a cursor that no page of this trail gave.
 */
export async function exportPage(
  reads: ActorReads,
  id: string,
  cursor: EntryCursor | undefined,
  limit: number,
): Promise<EntryRow[]> {
  const scope = await exportById(reads, id);
  const after = cursor ? await sequenceAt(reads, cursor) : 0;
  return nextEntries(reads.with({ isPlannedAnew: true, pace: 'varies' }), scope, after, limit)
    .select(ENTRY_COLUMNS)
    .execute();
}

async function sequenceAt({ db }: Reads, { id, createdAt }: EntryCursor): Promise<number> {
  const entry = await db
    .selectFrom('audit_entry')
    .where('id', '=', id)
    .where('occurredAt', '=', createdAt.toISOString())
    .select('sequence')
    .executeTakeFirst();
  if (!entry) throw new DomainError('invalid_request', 'The cursor is not one that a page of rows gave');
  return Number(entry.sequence);
}
