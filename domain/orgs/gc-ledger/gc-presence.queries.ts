import { sql } from 'kysely';
import { batch } from '../../kernel/data/batches.ts';
import type { Tx } from '../../unit-of-work.ts';
import { type ComponentName, EVIDENCE_DAYS, type Evidence, type GcStatus, type Presence } from './gc-ledger-rules.ts';
import { COMPONENT, type GcBranch } from './gc-review.queries.ts';

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
