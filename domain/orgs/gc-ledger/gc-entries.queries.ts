import { sql } from 'kysely';
import { batch, insertBatch } from '../../kernel/data/batches.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { GcCause } from './gc-ledger.entities.ts';
import {
  type ComponentName,
  type EntryState,
  EVIDENCE_DAYS,
  type Evidence,
  type GcStatus,
  type Presence,
} from './gc-ledger-rules.ts';
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

export type Result = ComponentName & { presence: Presence };

/** An environment with the org that it names, in lower case. */
export interface AskedOrg {
  environmentId: string;
  orgUsername: string;
}

/**
 * Keeps what the org of an environment said of components, but of those of which such evidence became void since it was
 * asked, or about which it was asked again.
 * @returns the ids of their entries; components without one are passed over.
 */
export async function keepPresence(
  { db, tenantId }: Tx,
  { projectId, branch }: GcBranch,
  { environmentId, orgUsername }: AskedOrg,
  results: readonly Result[],
  checkedAt: Date,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with given as materialized (select * from ${batch('g', results, { ...COMPONENT, presence: 'text' })}),
    known as materialized (
      select e.id, g.presence, e.evidence_since from given g
      cross join lateral (
        select e.id, e.evidence_since from gc_entry e
        where e.tenant_id = ${tenantId} and e.project_id = ${projectId} and e.branch = ${branch}
          and e.package_name = g.package_name and e.component_type = g.component_type and e.full_name = g.full_name
        offset 0) e),
    kept as (
      insert into gc_presence (tenant_id, entry_id, environment_id, project_id, presence, org_username, checked_at)
      select ${tenantId}::uuid, k.id, ${environmentId}::uuid, ${projectId}::uuid, k.presence, ${orgUsername},
        ${checkedAt}::timestamptz
      from known k
      where k.evidence_since <= ${checkedAt}
      on conflict (tenant_id, entry_id, environment_id)
        do update set presence = excluded.presence, org_username = excluded.org_username, checked_at = excluded.checked_at
        where gc_presence.checked_at <= excluded.checked_at)
    select id from known`.execute(db);
  return rows.map(({ id }) => id);
}

/** Notes that nothing is known of the entries of a branch in an environment whose org could not be asked. */
export async function makePresenceUnknown(
  { db, tenantId, now }: Tx,
  { projectId, branch }: GcBranch,
  environmentId: string,
): Promise<void> {
  await sql`
    update gc_presence p set presence = 'unknown', checked_at = ${now}
    from gc_entry e
    where e.tenant_id = ${tenantId} and e.project_id = ${projectId} and e.branch = ${branch}
      and p.tenant_id = e.tenant_id and p.entry_id = e.id and p.environment_id = ${environmentId}
      and p.presence <> 'unknown'`.execute(db);
}

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

/** Forgets what an org said, by the names that environments may have for it. */
export async function forgetPresence(
  { db, tenantId }: Tx,
  names: readonly (string | null | undefined)[],
): Promise<void> {
  const lower = names.flatMap((name) => name?.toLowerCase() ?? []);
  await sql`
    delete from gc_presence p using environment n
    where n.tenant_id = ${tenantId} and lower(n.org_username) = any (${lower}::text[])
      and p.tenant_id = n.tenant_id and p.environment_id = n.id`.execute(db);
}

export type Checked = ComponentName & Evidence & { id: string; status: GcStatus };

/** An org that tracks the branch. */
export interface TrackingOrg extends AskedOrg {
  isRelease: boolean;
  /** What it said before does not count, since a check that began then asks it again; null: all counts. */
  askedSince: Date | null;
}

/**
 * Entries with the evidence that counts of the orgs that track their branch: of each environment, what the org said that it
 * names now.
 */
export async function evidenceOf(
  { db, tenantId, now }: Tx,
  ids: readonly string[],
  orgs: readonly TrackingOrg[],
): Promise<Checked[]> {
  const since = new Date(now.getTime() - EVIDENCE_DAYS * 86_400_000);
  const asked = batch('o', orgs, {
    environmentId: 'uuid',
    orgUsername: 'text',
    isRelease: 'boolean',
    askedSince: 'timestamptz',
  });
  const { rows } = await sql<Checked>`
    with asked as materialized (select * from ${asked}),
    found as materialized (
      select p.entry_id, p.environment_id, p.org_username, p.presence, p.checked_at from gc_presence p
      where p.tenant_id = ${tenantId} and p.entry_id = any (${ids}::uuid[]) and p.checked_at > ${since}),
    said as (
      select f.entry_id, f.presence, o.is_release from found f
      join asked o on o.environment_id = f.environment_id and o.org_username = f.org_username
      where o.asked_since is null or f.checked_at >= o.asked_since),
    counted as (
      select s.entry_id, count(*) filter (where s.presence = 'absent')::int as absent,
        count(*) filter (where s.presence = 'absent' and s.is_release)::int as "absentInRelease",
        count(*) filter (where s.presence = 'present' and s.is_release)::int as "presentInRelease"
      from said s group by s.entry_id)
    select e.id, e.package_name as "packageName", e.component_type as "componentType", e.full_name as "fullName", e.status,
      coalesce(c.absent, 0) as absent, coalesce(c."absentInRelease", 0) as "absentInRelease",
      coalesce(c."presentInRelease", 0) as "presentInRelease"
    from gc_entry e
    left join counted c on c.entry_id = e.id
    where e.tenant_id = ${tenantId} and e.id = any (${ids}::uuid[])`.execute(db);
  return rows;
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
