import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceProject, fenceTenant, privileged } from './fences.ts';

const PROJECT_KEY = 'foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade';

/** Components that packages have dropped, and what became of them in the orgs. */
export class GcLedger extends Migration {
  override up(): void {
    this.addTables();
    this.addTally();
    this.addManifests();
  }

  private addTables(): void {
    // Room on each page: repeated events change `last_event_at` alone, which no index has.
    this.addSql(`
      create table gc_entry (
        tenant_id uuid not null references tenant (id),
        id uuid not null,
        project_id uuid not null,
        branch text collate "C" not null,
        package_name text collate "C" not null,
        component_type text collate "C" not null,
        full_name text collate "C" not null,
        status text not null check (status in
          ('detected', 'moved', 'handled', 'restored', 'dismissed', 'owned-elsewhere', 'reclaimed')),
        moved_to text collate "C",
        owner_project_id uuid,
        detected_at timestamptz(3),
        last_event_at timestamptz(3) not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        primary key (tenant_id, id),
        unique (tenant_id, project_id, branch, package_name, component_type, full_name),
        ${PROJECT_KEY}) with (fillfactor = 75);
      create index gc_entry_by_status on gc_entry
        (tenant_id, project_id, status, branch, package_name, component_type, full_name);
      ${fenceTenant('gc_entry')}
      ${fenceProject('gc_entry')}`);
    // What belongs to an entry has no foreign key to it, which would be checked 10,000 times in a request: see `addTally`.
    this.addSql(`
      create table gc_event (
        tenant_id uuid not null,
        entry_id uuid not null,
        number bigint generated always as identity,
        project_id uuid not null,
        occurred_at timestamptz(3) not null,
        from_status text,
        to_status text not null,
        cause text not null check (cause in ('event', 'manifest', 'org_check', 'person')),
        moved_to text,
        environment text,
        reason text,
        changed_by text not null,
        primary key (tenant_id, entry_id, number));
      ${fenceTenant('gc_event')}
      ${fenceProject('gc_event')}`);
    this.addSql(`
      create table gc_presence (
        tenant_id uuid not null,
        entry_id uuid not null,
        environment_id uuid not null,
        project_id uuid not null,
        presence text not null check (presence in ('present', 'absent', 'unknown')),
        checked_at timestamptz(3) not null,
        primary key (tenant_id, entry_id, environment_id),
        foreign key (tenant_id, environment_id) references environment (tenant_id, id) on delete cascade);
      create index gc_presence_of_environment on gc_presence (tenant_id, environment_id);
      ${fenceTenant('gc_presence')}
      ${fenceProject('gc_presence')}`);
  }

  private addTally(): void {
    this.addSql(`
      create table gc_tally (
        tenant_id uuid not null,
        project_id uuid not null,
        branch text collate "C" not null,
        package_name text collate "C" not null,
        status text not null,
        entries bigint not null,
        primary key (tenant_id, project_id, branch, package_name, status),
        ${PROJECT_KEY}) with (fillfactor = 70);
      ${fenceTenant('gc_tally', ['select'])}
      ${fenceProject('gc_tally')}`);
    this.addSql(`
      create function follow_gc_entries() returns trigger
        language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
      begin
        -- In key order, so that writers of the same counts wait for each other and never in a circle.
        if tg_op <> 'INSERT' then
          update gc_tally t set entries = t.entries - gone.n
          from (select tenant_id, project_id, branch, package_name, status, count(*) as n
            from removed group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5) gone
          where (t.tenant_id, t.project_id, t.branch, t.package_name, t.status)
            = (gone.tenant_id, gone.project_id, gone.branch, gone.package_name, gone.status);
        end if;
        if tg_op <> 'DELETE' then
          insert into gc_tally as t
          select tenant_id, project_id, branch, package_name, status, count(*)
          from added group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
          on conflict (tenant_id, project_id, branch, package_name, status) do update set entries = t.entries + excluded.entries;
        end if;
        if tg_op = 'DELETE' then
          delete from gc_event v using removed r where v.tenant_id = r.tenant_id and v.entry_id = r.id;
          delete from gc_presence p using removed r where p.tenant_id = r.tenant_id and p.entry_id = r.id;
        end if;
        return null;
      end $$;
      revoke all on function follow_gc_entries() from public`);
    const follow = 'for each statement execute function follow_gc_entries()';
    this.addSql(`
      create trigger followed_on_insert after insert on gc_entry referencing new table as added ${follow};
      create trigger followed_on_update after update on gc_entry referencing old table as removed new table as added ${follow};
      create trigger followed_on_delete after delete on gc_entry referencing old table as removed ${follow}`);
  }

  private addManifests(): void {
    // Converters from XML write a lone element without its array, and an empty one as an empty text: lax paths take both.
    this.addSql(`
      create function gc_is_package(package jsonb) returns boolean
        language sql immutable parallel safe
        return jsonb_typeof(package) = 'object'
          and not jsonb_path_exists(package, 'lax $.types[*] ? (!(@.type() == "object" || @.type() == "null" || (@.type() == "string" && @ == "")))')
          and not jsonb_path_exists(package, 'lax $.types[*] ? (@.type() == "object"
            && (!exists (@.name ? (@.type() == "string" && @ != ""))
              || exists (@.members[*] ? (@.type() != "string" && @.type() != "number" && @.type() != "null"))))');
      create function gc_components(package jsonb) returns table (component_type text, full_name text)
        language sql immutable parallel safe rows 500 as $$
          select jsonb_path_query_first(t, 'lax $.name[*]') #>> '{}', m #>> '{}'
          from jsonb_path_query(package, 'lax $.types[*] ? (@.type() == "object")') t,
            jsonb_path_query(t, 'lax $.members[*] ? (@.type() == "string" && @ != "" || @.type() == "number")') m $$;
      revoke all on function gc_is_package(jsonb), gc_components(jsonb) from public;
      grant execute on function gc_is_package(jsonb), gc_components(jsonb) to ${APP_ROLE}`);
    // A limited token has no manifests of other projects, and often none of its own: what they say of its entries it may know.
    this.addSql(`
      create function gc_manifests(of_project uuid, of_branch text)
        returns table (package_name text, kind text, component_type text, full_name text)
        language sql stable security definer set search_path = public, pg_temp rows 20000 as $$
          select d.key, c.kind, c.component_type, c.full_name
          from project p
          join document d on d.tenant_id = p.tenant_id and d.store = 'packages'
            and d.collection = 'manifests/' || p.identifier || ':' || of_branch
          cross join lateral (
            select d.value #> '{payload,Package}' as has, d.value->'destructiveChanges' as change,
              d.value #> '{destructiveChanges,Package}' as destroys offset 0) v
          cross join lateral (
            select gc_is_package(v.has) and (coalesce(jsonb_typeof(v.change), 'null') = 'null' or v.change = '""'
              or jsonb_typeof(v.change) = 'object' and (v.destroys is null or v.destroys = '""' or gc_is_package(v.destroys)))
              as is_readable offset 0) r
          cross join lateral (
            select case when r.is_readable then 'manifest' else 'unreadable' end as kind, null as component_type, null as full_name
            union all
            select 'has', h.component_type, h.full_name from gc_components(v.has) h where r.is_readable
            union all
            select 'destroys', h.component_type, h.full_name from gc_components(v.destroys) h where r.is_readable) c
          where p.tenant_id = current_tenant() and p.id = of_project
            and (current_projects() is null or p.id = any (current_projects())) $$;
      ${privileged('gc_manifests(uuid, text)')}`);
    this.addSql(`
      create function gc_components_elsewhere(of_project uuid, of_branch text)
        returns table (project_id uuid, component_type text, full_name text)
        language sql stable security definer set search_path = public, pg_temp rows 20000 as $$
          select p.id, c.component_type, c.full_name
          from project p
          join document d on d.tenant_id = p.tenant_id and d.store = 'packages'
            and d.collection = any (array['manifests/' || p.identifier || ':' || of_branch,
              'manifests/' || p.identifier || ':' || p.default_branch])
          cross join lateral (select d.value #> '{payload,Package}' as has offset 0) v
          cross join lateral (select h.* from gc_components(v.has) h where gc_is_package(v.has)) c
          where p.tenant_id = current_tenant() and p.id <> of_project
            and (current_projects() is null or of_project = any (current_projects())) $$;
      ${privileged('gc_components_elsewhere(uuid, text)')}`);
  }
}
