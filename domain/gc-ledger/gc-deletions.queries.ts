import { sql } from 'kysely';
import type { Reads } from '../data/fenced-reads.ts';
import { coverable } from './gc-review.queries.ts';
import { type Deletion, DELETIONS_MAX, type Keeper } from './gc-deletion-rules.ts';
import { EVIDENCE_DAYS } from './gc-ledger-rules.ts';
import type { GcBranch } from './gc-review.queries.ts';

interface DeletionRow {
  component_type: string | null;
  full_name: string;
  kind: Keeper['kind'] | null;
  keeper: string | null;
  child: string | null;
  total: number;
  unreadable: string[] | null;
  unreadable_elsewhere: number;
}

/** What a branch would have deleted, and what cannot be known of it. */
export interface Detected {
  /** Sorted by type and name; those that nothing keeps come first. */
  components: (Deletion & { keeper: Keeper | undefined })[];
  total: number;
  /** Packages of the branch whose manifest cannot be read. */
  unreadable: string[];
  /** How many manifests of other repositories cannot be read. */
  unreadableElsewhere: number;
}

/**
 * The detected components of a branch, each once, with what keeps them: the manifests of today, which its entries may not
 * have been derived from yet, and dismissals; at most `DELETIONS_MAX`, and how many there are. Names are compared without
 * case, as on the platform.
 * @param environmentId whose org does not have what valid evidence says is absent there.
 */
export async function detectedComponents(
  { db, tenantId }: Reads,
  { projectId, branch }: GcBranch,
  environmentId: string | undefined,
): Promise<Detected> {
  const ofBranch = sql`e.tenant_id = ${tenantId} and e.project_id = ${projectId} and e.branch = ${branch}`;
  const isThere =
    environmentId === undefined
      ? sql`true`
      : sql`not exists (
          select from gc_presence p
          join environment n on n.tenant_id = p.tenant_id and n.id = p.environment_id and lower(n.org_username) = p.org_username
          where p.tenant_id = e.tenant_id and p.entry_id = e.id and p.environment_id = ${environmentId}
            and p.presence = 'absent' and p.checked_at > now() - make_interval(days => ${sql.lit(EVIDENCE_DAYS)}))`;
  // Of an object that is deleted, fields, layouts, tabs, translations and records go, too: all that has its name in front.
  const { rows } = await sql<DeletionRow>`
    with detected as materialized (
      select e.component_type, e.full_name, lower(e.full_name collate "C") as name from gc_entry e
      where ${ofBranch} and e.status = 'detected' and ${isThere}
      group by 1, 2),
    said as materialized (
      select s.kind, s.package_name, s.component_type, s.full_name from gc_manifests(${projectId}, ${branch}) s),
    kept as materialized (
      select k.*, lower(k.full_name collate "C") as name from (
        select 1 as place, 'package' as kind, s.package_name as keeper, s.component_type, s.full_name
        from said s where s.kind = 'has'
        union all
        select 2, 'package', s.package_name, e.component_type, e.full_name
        from (select package_name, component_type from said where kind = 'has' and full_name = '*') s
        join gc_entry e on e.component_type = s.component_type and ${ofBranch} and ${coverable('e')}
        union all
        select 3, 'repository', o.identifier, x.component_type, x.full_name
        from gc_components_elsewhere(${projectId}, ${branch}) x
        left join project o on o.tenant_id = ${tenantId} and o.id = x.project_id
        union all
        select 4, 'dismissal', e.package_name, e.component_type, e.full_name
        from gc_entry e where ${ofBranch} and e.status = 'dismissed') k),
    keepers as (
      select d.component_type, d.full_name, k.place, k.kind, k.keeper, null as child
      from detected d
      join kept k on k.component_type = d.component_type and k.name = d.name
      union all
      select d.component_type, d.full_name, k.place + 10, k.kind, k.keeper, k.component_type || ' ' || k.full_name
      from detected d
      join kept k on d.name = split_part(translate(k.name, '-', '.'), '.', 1)
        || case k.component_type when 'CustomMetadata' then '__mdt' else '' end
      where d.component_type = 'CustomObject'),
    first_keeper as (
      select distinct on (component_type, full_name) * from keepers order by component_type, full_name, place, child, keeper)
    select d.component_type, d.full_name, f.kind, f.keeper, f.child, (count(d.component_type) over ())::int as total,
      (select array_agg(s.package_name order by s.package_name) from said s where s.kind = 'unreadable') as unreadable,
      gc_unreadable_elsewhere(${projectId}, ${branch}) as unreadable_elsewhere
    from (values (1)) always (n)
    left join (detected d left join first_keeper f on f.component_type = d.component_type and f.full_name = d.full_name) on true
    order by f.kind is not null, d.component_type, d.full_name
    limit ${sql.lit(DELETIONS_MAX)}`.execute(db);
  return {
    components: rows.flatMap(({ component_type: componentType, full_name: fullName, kind, keeper, child }) =>
      componentType === null
        ? []
        : { componentType, fullName, keeper: kind === null ? undefined : { kind, name: keeper, child } },
    ),
    total: rows[0]?.total ?? 0,
    unreadable: rows[0]?.unreadable ?? [],
    unreadableElsewhere: rows[0]?.unreadable_elsewhere ?? 0,
  };
}
