import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant } from './fences.ts';

const ARTIFACTS = `
  select tenant_id, project_id, a.key as name, a.value as version, id as candidate_id, commit_sha, created_at
  from %s c, jsonb_each_text(case jsonb_typeof(c.value -> 'artifacts') when 'object' then c.value -> 'artifacts' else '{}' end) a`;

/** Of which commit a package version is: that of the first release candidate that held it. */
export class PackageVersions extends Migration {
  override up(): void {
    this.addSql(`
      create table package_version (
        tenant_id uuid not null,
        project_id uuid not null,
        name text not null,
        version text not null,
        candidate_id uuid not null,
        commit_sha text not null,
        created_at timestamptz(3) not null,
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade,
        primary key (tenant_id, project_id, name, version));
      ${fenceTenant('package_version', ['select'])}
      ${fenceProject('package_version')}`);
    // A candidate that is cut anew takes its versions along to the new commit.
    const keep = `on conflict (tenant_id, project_id, name, version) do update
      set commit_sha = excluded.commit_sha where package_version.candidate_id = excluded.candidate_id`;
    this.addSql(`
      insert into package_version (tenant_id, project_id, name, version, candidate_id, commit_sha, created_at)
        select distinct on (tenant_id, project_id, name, version) * from (${ARTIFACTS.replace('%s', 'release_candidate')}) held
        order by tenant_id, project_id, name, version, created_at, candidate_id;
      create function note_package_versions() returns trigger
        language plpgsql security definer set search_path = public, pg_temp as $$
      begin
        insert into package_version (tenant_id, project_id, name, version, candidate_id, commit_sha, created_at)
          select * from (${ARTIFACTS.replace('%s', '(select new.*)')}) held order by name, version ${keep};
        return null;
      end $$;
      revoke all on function note_package_versions() from public;
      create trigger package_versions_on_insert after insert on release_candidate
        for each row execute function note_package_versions();
      create trigger package_versions_on_update after update on release_candidate
        for each row when (old.value is distinct from new.value or old.commit_sha is distinct from new.commit_sha)
        execute function note_package_versions()`);
  }
}
