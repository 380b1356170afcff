import { type RawBuilder, sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
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
  listed_name: string | null;
  is_unknown: boolean;
  total: number;
  unreadable: string[] | null;
  unreadable_elsewhere: number;
}

/** A detected component, and what is to be known before it is deleted. */
export interface Detection extends Deletion {
  keeper: Keeper | undefined;
  /** Name as an org lists it, where that escapes it differently: a deployment finds it by this name. */
  listedName: string | null;
  /** The org of the environment was asked, and could not say whether it has the component. */
  isUnknown: boolean;
}

/** What a branch would have deleted, and what cannot be known of it. */
export interface Detected {
  /** Sorted by type and name; those that nothing keeps come first. */
  components: Detection[];
  total: number;
  /** Packages of the branch whose manifest cannot be read. */
  unreadable: string[];
  /** How many manifests of other repositories cannot be read. */
  unreadableElsewhere: number;
}

/**
 * The detected components of a branch, each once, with what keeps them: the manifests of today, which its entries may not
 * have been derived from yet, and dismissals; at most `DELETIONS_MAX`, and how many there are. Names are compared without
 * case, and as they are read.
 * @param environmentId whose org does not have what valid evidence says is absent there.
 */
export async function detectedComponents(
  { db, tenantId }: Reads,
  { projectId, branch }: GcBranch,
  environmentId: string | undefined,
): Promise<Detected> {
  const ofBranch = sql`e.tenant_id = ${tenantId} and e.project_id = ${projectId} and e.branch = ${branch}`;
  // The deletion of an object includes its fields, layouts, tabs, translations and records: all whose names begin with its
  // name.
  const { rows } = await sql<DeletionRow>`
    with detected as materialized (
      select e.component_type, e.full_name, component_name_key(e.full_name) as name,
        coalesce(bool_or(org.is_unknown), false) as is_unknown
      from gc_entry e
      left join lateral (
        select bool_or(p.presence = 'absent') as is_absent, bool_or(p.presence = 'unknown') as is_unknown
        from gc_presence p
        join environment n on n.tenant_id = p.tenant_id and n.id = p.environment_id and lower(n.org_username) = p.org_username
        where p.tenant_id = e.tenant_id and p.entry_id = e.id and p.environment_id = ${environmentId ?? null}::uuid
          and p.checked_at > now() - make_interval(days => ${sql.lit(EVIDENCE_DAYS)})) org on true
      where ${ofBranch} and e.status = 'detected' and org.is_absent is not true
      group by 1, 2),
    ${keepers(tenantId, { projectId, branch }, ofBranch)},
    listed as materialized (
      select c.metadata_type, component_name_key(c.member_name) as name, min(c.member_name) as listed_name
      from org_component c
      where c.tenant_id = ${tenantId} and strpos(c.member_name, '%') > 0
        and c.metadata_type in (select component_type from detected)
        and c.org_id in (
          select o.id from crm_org o
          join environment n on n.tenant_id = o.tenant_id
            and lower(n.org_username) in (lower(o.username), lower(o.sandbox_name))
          where o.tenant_id = ${tenantId} and o.platform_org_id = c.platform_org_id and n.project_id = ${projectId}
            and (${environmentId === undefined} or n.id = ${environmentId ?? null}::uuid))
      group by 1, 2)
    select d.component_type, d.full_name, f.kind, f.keeper, f.child, l.listed_name, d.is_unknown, (count(d.component_type) over ())::int as total,
      (select array_agg(s.package_name order by s.package_name) from said s where s.kind = 'unreadable') as unreadable,
      gc_unreadable_elsewhere(${projectId}, ${branch}) as unreadable_elsewhere
    from (values (1)) always (n)
    left join (detected d left join first_keeper f on f.component_type = d.component_type and f.full_name = d.full_name
      left join listed l on l.metadata_type = d.component_type and l.name = d.name) on true
    order by f.kind is not null or d.is_unknown, d.component_type, d.full_name
    limit ${sql.lit(DELETIONS_MAX)}`.execute(db);
  return detectedOf(rows);
}

/** What keeps each of the components `detected`, in `first_keeper`. */
const keepers = (tenantId: string, { projectId, branch }: GcBranch, ofBranch: RawBuilder<unknown>) => sql`
    said as materialized (
      select s.kind, s.package_name, s.component_type, s.full_name from gc_manifests(${projectId}, ${branch}) s),
    kept as materialized (
      select k.*, component_name_key(k.full_name) as name from (
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
      select distinct on (component_type, full_name) * from keepers order by component_type, full_name, place, child, keeper)`;

const detectedOf = (rows: readonly DeletionRow[]): Detected => ({
  components: rows.flatMap(({ component_type: componentType, kind, keeper, child, ...row }) =>
    componentType === null
      ? []
      : {
          componentType,
          fullName: row.full_name,
          keeper: kind === null ? undefined : { kind, name: keeper, child },
          listedName: row.listed_name,
          isUnknown: row.is_unknown,
        },
  ),
  total: rows[0]?.total ?? 0,
  unreadable: rows[0]?.unreadable ?? [],
  unreadableElsewhere: rows[0]?.unreadable_elsewhere ?? 0,
});
