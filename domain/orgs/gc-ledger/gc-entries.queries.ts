import { sql } from 'kysely';
import { batch, insertBatch } from '../../kernel/data/batches.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { GcCause } from './gc-ledger.entities.ts';
import type { ComponentName, EntryState, GcStatus } from './gc-ledger-rules.ts';
import { COMPONENT, type GcBranch } from './gc-review.queries.ts';

const STATE = { status: 'text', movedTo: 'text', ownerProjectId: 'uuid' } as const;

export type NewEntry = ComponentName & EntryState & { id: string; detectedAt: Date | null };

export async function insertEntries(
  { db, tenantId, now }: Tx,
  { projectId, branch }: GcBranch,
  entries: readonly NewEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const times = { evidenceSince: now, lastEventAt: now, createdAt: now, updatedAt: now };
  const common = { tenantId, projectId, branch, ...times };
  const types = { id: 'uuid', ...COMPONENT, ...STATE, detectedAt: 'timestamptz' };
  await insertBatch(db, 'gc_entry', common, entries, types).execute();
}

export type ChangedEntry = EntryState & {
  id: string;
  isReported: boolean;
  isNewDetection: boolean;
  /** What orgs said of it is about an earlier time. */
  isEvidenceVoid: boolean;
};

/** Gives entries another state. */
export async function changeEntries({ db, tenantId, now }: Tx, entries: readonly ChangedEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const ids = entries.map(({ id }) => id);
  const changes = batch('c', entries, {
    id: 'uuid',
    ...STATE,
    isReported: 'boolean',
    isNewDetection: 'boolean',
    isEvidenceVoid: 'boolean',
  });
  await sql`
    update gc_entry e set status = c.status, moved_to = c.moved_to, owner_project_id = c.owner_project_id, updated_at = ${now},
      last_event_at = case when c.is_reported then ${now} else e.last_event_at end,
      detected_at = case when c.is_new_detection then ${now} else e.detected_at end,
      evidence_since = case when c.is_evidence_void then ${now} else e.evidence_since end
    from ${changes} where e.tenant_id = ${tenantId} and e.id = c.id and e.id = any (${ids}::uuid[])`.execute(db);
  const withoutEvidence = entries.filter(({ isEvidenceVoid }) => isEvidenceVoid).map(({ id }) => id);
  if (withoutEvidence.length === 0) return;
  await db
    .deleteFrom('gc_presence')
    .where('tenantId', '=', tenantId)
    .where('entryId', '=', sql<string>`any (${withoutEvidence}::uuid[])`)
    .execute();
}

/** Events that change nothing are remembered by their time alone. */
export async function touchEntries({ db, tenantId, now }: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('gc_entry')
    .set({ lastEventAt: now })
    .where('tenantId', '=', tenantId)
    .where('id', '=', sql<string>`any (${ids}::uuid[])`)
    .execute();
}

/** One step of an entry's history. */
export interface Step {
  entryId: string;
  fromStatus: GcStatus | null;
  toStatus: GcStatus;
  cause: GcCause;
  movedTo: string | null;
}

export async function recordSteps(
  { db, tenantId, now, actor }: Tx,
  { projectId }: GcBranch,
  steps: readonly Step[],
  { environment = null, reason = null }: { environment?: string | null; reason?: string | null } = {},
): Promise<void> {
  if (steps.length === 0) return;
  const common = { tenantId, projectId, occurredAt: now, changedBy: actor.email, environment, reason };
  const types = { entryId: 'uuid', fromStatus: 'text', toStatus: 'text', cause: 'text', movedTo: 'text' };
  await insertBatch(db, 'gc_event', common, steps, types).execute();
}

/** The entry of a component. */
export const findEntry = ({ db, tenantId }: Tx, { projectId, branch }: GcBranch, component: ComponentName) =>
  db
    .selectFrom('gc_entry')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('branch', '=', branch)
    .where('packageName', '=', component.packageName)
    .where('componentType', '=', component.componentType)
    .where('fullName', '=', component.fullName)
    .select(['id', 'status'])
    .executeTakeFirst();

/** The number of entries of a branch. */
export async function countEntries({ db, tenantId }: Tx, { projectId, branch }: GcBranch): Promise<number> {
  const { entries } = await db
    .selectFrom('gc_tally')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('branch', '=', branch)
    .select((eb) => sql<number>`coalesce(${eb.fn.sum('entries')}, 0)::int`.as('entries'))
    .executeTakeFirstOrThrow();
  return entries;
}

/** Removes entries; answers them with their whole history, the newest step last. */
export async function removeEntries({ db, tenantId }: Tx, ids: readonly string[]) {
  const removed = await db
    .selectFrom('gc_entry as e')
    .where('e.tenantId', '=', tenantId)
    .where('e.id', '=', sql<string>`any (${ids}::uuid[])`)
    .orderBy('e.packageName')
    .orderBy('e.componentType')
    .orderBy('e.fullName')
    .select((eb) => [
      'e.packageName',
      'e.componentType',
      'e.fullName',
      'e.status',
      'e.lastEventAt',
      sql<unknown[]>`(
        select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
          'at', to_char(v.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'from', v.from_status, 'to', v.to_status, 'cause', v.cause, 'by', v.changed_by, 'environment', v.environment,
          'movedTo', v.moved_to, 'reason', v.reason)) order by v.number), '[]')
        from gc_event v where v.tenant_id = ${eb.ref('e.tenantId')} and v.entry_id = ${eb.ref('e.id')})`.as('history'),
    ])
    .execute();
  await db
    .deleteFrom('gc_entry')
    .where('tenantId', '=', tenantId)
    .where('id', '=', sql<string>`any (${ids}::uuid[])`)
    .execute();
  return removed;
}
