-- A deployment counts with the present content of its candidate, unless its packages or the commit that it names show
-- another.
create or replace function fill_deployed_content() returns trigger language plpgsql as $$
declare
  artifacts jsonb := '{}';
  digest text := 'unknown';
  commit text;
  told text := coalesce(new.metadata ->> 'commitSha', new.release_definition ->> 'commitSha');
  failed text[];
begin
  select case jsonb_typeof(c.value -> 'artifacts') when 'object' then c.value -> 'artifacts' else '{}' end,
    c.content_digest, c.commit_sha
  into artifacts, digest, commit
  from release_candidate c where c.tenant_id = new.tenant_id and c.id = new.candidate_id;
  artifacts := coalesce(artifacts, '{}');
  select coalesce(array_agg(d ->> 'name'), '{}') into failed from jsonb_array_elements(new.package_details) d
  where coalesce(d ->> 'error', '') <> '' or d ->> 'status' ~* '^(fail|error)';
  new.content_digest := case
    when commit is null or not artifacts @> new.packages then 'unknown'
    when told ~* '^[0-9a-f]{7,64}$' and not (commit like lower(told) || '%' or lower(told) like commit || '%')
      then 'unknown'
    else digest end;
  new.installed := case
    when new.status = 'Success' then new.packages - failed
    when new.status <> 'Partial' then '{}'
    -- Packages that were not named were stored as all those of the candidate.
    when artifacts @> new.packages and artifacts <> new.packages then new.packages
    else coalesce((
      select jsonb_object_agg(d ->> 'name', coalesce(d ->> 'version', artifacts ->> (d ->> 'name')))
      from jsonb_array_elements(new.package_details) d
      where d ->> 'name' <> all (failed) and coalesce(d ->> 'version', artifacts ->> (d ->> 'name')) is not null
        and (lower(d ->> 'status') in ('success', 'succeeded', 'installed', 'deployed')
          or (d -> 'skipped' = 'true' and d ->> 'version' is not null))), '{}') end;
  new.installs_all := new.status = 'Success' and cardinality(failed) = 0
    and (new.content_digest = 'unknown' or new.installed @> artifacts);
  return new;
end $$;

create or replace trigger filled before insert or update on release_deployment
  for each row when (new.content_digest is null) execute function fill_deployed_content();
