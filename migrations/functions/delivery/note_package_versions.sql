-- A candidate that is cut anew takes its versions along to the new commit.
create or replace function note_package_versions() returns trigger
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into package_version (tenant_id, project_id, name, version, candidate_id, commit_sha, created_at)
  select * from (
    select tenant_id, project_id, a.key as name, a.value as version, id as candidate_id, commit_sha, created_at
    from (select new.*) c, jsonb_each_text(
      case jsonb_typeof(c.value -> 'artifacts') when 'object' then c.value -> 'artifacts' else '{}' end) a) held
  order by name, version
  on conflict (tenant_id, project_id, name, version) do update
    set commit_sha = excluded.commit_sha where package_version.candidate_id = excluded.candidate_id;
  return null;
end $$;
revoke all on function note_package_versions() from public;

create or replace trigger package_versions_on_insert after insert on release_candidate
  for each row execute function note_package_versions();
create or replace trigger package_versions_on_update after update on release_candidate
  for each row when (old.value is distinct from new.value or old.commit_sha is distinct from new.commit_sha)
  execute function note_package_versions();
