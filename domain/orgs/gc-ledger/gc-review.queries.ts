import { type RawBuilder, sql, type SqlBool } from 'kysely';
import { CHILDREN_OF_OBJECTS, CONTENTS_OF_FOLDERS } from '../crm/component-type-rules.ts';
import { batch } from '../../kernel/data/batches.ts';
import type { Tx } from '../../unit-of-work.ts';
import {
  type ComponentName,
  DERIVED_STATUSES,
  type EntryState,
  type GcEventType,
  type GcStatus,
  type ManifestFacts,
} from './gc-ledger-rules.ts';

/** The ledger of one branch. */
export interface GcBranch {
  projectId: string;
  branch: string;
}

/**
 * One change of a branch's ledger at a time, until this transaction ends. Its statements are planned for what they get, not
 * for what a small ledger once held; and hashed, since the planner does not know how many components manifests have. What
 * is better looked up in an index says so by `lateral` with `offset 0`.
 */
export async function lockGcBranch({ db, tenantId }: Tx, { projectId, branch }: GcBranch): Promise<void> {
  const key = `gc/${tenantId}/${projectId}/${branch}`;
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${key}, 3)), set_config('plan_cache_mode', 'force_custom_plan', true),
      set_config('enable_mergejoin', 'off', true), set_config('enable_nestloop', 'off', true)`.execute(db);
}

/** What a component is known by, in the database's types. */
export const COMPONENT = { packageName: 'text', componentType: 'text', fullName: 'text' } as const;

/** A component that something happened to; null: only the manifests are asked. */
export type Reported = ComponentName & { event: GcEventType | null };

/** A component with its entry, if there is one, and what the manifests say of it. */
export interface Reviewed extends Reported, ManifestFacts {
  id: string | null;
  status: GcStatus | null;
  movedTo: string | null;
  stateOwnerProjectId: string | null;
}

/** Whether `*` covers an entry: standard objects and contents of folders have to be named, as on the platform. */
export const coverable = (entry: string): RawBuilder<SqlBool> => {
  const [type, name] = [sql.ref(`${entry}.component_type`), sql.ref(`${entry}.full_name`)];
  return sql`not (${type} = any (${CONTENTS_OF_FOLDERS}::text[]) or (${type} = 'CustomObject' and strpos(${name}, '__') = 0))`;
};

interface ReviewRow {
  [column: string]: unknown;
  package_name: string | null;
  component_type: string;
  full_name: string;
  event: GcEventType | null;
  id: string | null;
  status: GcStatus | null;
  moved_to: string | null;
  state_owner: string | null;
  has_own_manifest: boolean;
  is_in_own_manifest: boolean;
  other_package: string | null;
  is_destroyed: boolean;
  owner: string | null;
  unreadable: string[] | null;
}

/**
 * The reported components, and the entries of the branch of which the manifests say something, each with what they say;
 * and the packages whose manifest cannot be read. `*` in a manifest of the branch covers all of its type, as on the platform.
 * @param isOfReported leaves out all other entries of the branch.
 */
export async function reviewEntries(
  { db, tenantId }: Tx,
  { projectId, branch }: GcBranch,
  reported: readonly Reported[],
  { isOfReported = false } = {},
): Promise<{ reviewed: Reviewed[]; unreadable: string[] }> {
  const given = batch('g', reported, { ...COMPONENT, event: 'text' });
  const { rows } = await sql<ReviewRow>`
    with given as materialized (select * from ${given}),
    known as materialized (
      select g.*, e.id, e.status, e.moved_to, e.owner_project_id
      from given g
      left join lateral (
        select e.id, e.status, e.moved_to, e.owner_project_id from gc_entry e
        where e.tenant_id = ${tenantId} and e.project_id = ${projectId} and e.branch = ${branch}
          and e.package_name = g.package_name and e.component_type = g.component_type and e.full_name = g.full_name
        offset 0) e on true),
    reviewed as materialized (
      select k.package_name, k.component_type, k.full_name, k.event, true as is_reported,
        k.id, k.status, k.moved_to, k.owner_project_id
      from known k
      union all
      select e.package_name, e.component_type, e.full_name, null, false, e.id, e.status, e.moved_to, e.owner_project_id
      from gc_entry e
      where e.tenant_id = ${tenantId} and e.project_id = ${projectId} and e.branch = ${branch}
        and e.status = any (${DERIVED_STATUSES}::text[]) and not ${isOfReported}
        and e.id not in (select k.id from known k where k.id is not null)),
    numbered as materialized (
      select r.*, row_number() over () as place,
        ${coverable('r')} as is_coverable
      from reviewed r),
    ${holders(projectId, branch)},
    open_here as materialized (
      select distinct component_type, full_name from here
      where has_own_manifest and not is_in_own_manifest and other_package is null and not is_destroyed),
    owned as (
      select u.component_type, u.full_name, min(x.project_id::text) as owner
      from open_here u
      join gc_components_elsewhere(${projectId}, ${branch}) x on x.component_type = u.component_type and x.full_name = u.full_name
      group by 1, 2),
    found as (
      select h.*, o.owner
      from here h
      left join owned o on o.component_type = h.component_type and o.full_name = h.full_name)
    select f.package_name, f.component_type, f.full_name, f.event, f.id, f.status, f.moved_to, f.owner_project_id as state_owner,
      f.has_own_manifest, f.is_in_own_manifest, f.other_package, f.is_destroyed, f.owner,
      (select array_agg(s.package_name order by s.package_name) from said s where s.kind = 'unreadable') as unreadable
    from (values (1)) always (n)
    left join found f
      on f.is_reported or f.is_in_own_manifest or f.other_package is not null or f.is_destroyed or f.owner is not null`.execute(
    db,
  );
  return { reviewed: rows.flatMap(reviewedOf), unreadable: rows[0]?.unreadable ?? [] };
}

/** The state of an entry that the ledger has. */
export const stateOf = ({ status, movedTo, stateOwnerProjectId }: Reviewed): EntryState | undefined =>
  status === null ? undefined : { status, movedTo, ownerProjectId: stateOwnerProjectId };

/** What the manifests of a branch say of the entries `numbered`, in `here`. */
const holders = (projectId: string, branch: string) => sql`
    said as materialized (select * from gc_manifests(${projectId}, ${branch})),
    named as (
      select n.place, bool_or(s.kind = 'has' and s.package_name = n.package_name) as is_held,
        min(s.package_name) filter (where s.kind = 'has') as holder, bool_or(s.kind = 'destroys') as is_destroyed
      from numbered n
      join said s on s.component_type = n.component_type and s.full_name = n.full_name
      group by n.place),
    wild as materialized (select distinct package_name, component_type from said where kind = 'has' and full_name = '*'),
    wild_holder as (select component_type, min(package_name) as package_name from wild group by 1),
    destroyed_object as (select distinct full_name from said where kind = 'destroys' and component_type = 'CustomObject'),
    here as materialized (
      select n.*, m.package_name is not null as has_own_manifest,
        coalesce(t.is_held, false) or (n.is_coverable and w.package_name is not null) as is_in_own_manifest,
        coalesce(t.holder, case when n.is_coverable then a.package_name end) as other_package,
        coalesce(t.is_destroyed, false) or o.full_name is not null as is_destroyed
      from numbered n
      left join said m on m.kind = 'manifest' and m.package_name = n.package_name
      left join named t on t.place = n.place
      left join wild w on w.package_name = n.package_name and w.component_type = n.component_type
      left join wild_holder a on a.component_type = n.component_type
      left join destroyed_object o on n.component_type = any (${CHILDREN_OF_OBJECTS}::text[])
        and o.full_name = split_part(n.full_name, '.', 1)
      where n.is_reported or m.package_name is not null)`;

const reviewedOf = ({ package_name: packageName, ...row }: ReviewRow): Reviewed[] =>
  packageName === null
    ? []
    : [
        {
          packageName,
          componentType: row.component_type,
          fullName: row.full_name,
          event: row.event,
          id: row.id,
          status: row.status,
          movedTo: row.moved_to,
          stateOwnerProjectId: row.state_owner,
          hasOwnManifest: row.has_own_manifest,
          isInOwnManifest: row.is_in_own_manifest,
          otherPackage: row.other_package,
          isDestroyed: row.is_destroyed,
          ownerProjectId: row.owner,
        },
      ];
