create or replace function fill_deployed_commit() returns trigger language plpgsql as $$
begin
  new.commit_sha := (
    select c.commit_sha from release_candidate c
    where c.tenant_id = new.tenant_id and c.id = new.candidate_id and c.content_digest = new.content_digest);
  return new;
end $$;

create or replace trigger filled_commit before insert on release_deployment
  for each row when (new.commit_sha is null) execute function fill_deployed_commit();
