-- What becomes of a candidate, for its timeline. Content is noted by its commit.
create or replace function note_release_candidate() returns trigger
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    insert into release_candidate_event (id, tenant_id, project_id, candidate_id, type, after, by, at)
    values (gen_random_uuid(), new.tenant_id, new.project_id, new.id, 'created', new.commit_sha, new.created_by, new.created_at);
    return null;
  end if;
  -- A longer id of the same commit is no change.
  if new.content_digest <> old.content_digest and not (
    (starts_with(new.commit_sha, old.commit_sha) or starts_with(old.commit_sha, new.commit_sha))
    and coalesce(new.value -> 'artifacts', '{}') = coalesce(old.value -> 'artifacts', '{}')) then
    insert into release_candidate_event (id, tenant_id, project_id, candidate_id, type, before, after, by, at)
    values (gen_random_uuid(), new.tenant_id, new.project_id, new.id, 'content_changed', old.commit_sha, new.commit_sha,
      new.updated_by, new.updated_at);
  end if;
  if new.status <> old.status or new.superseded_by is distinct from old.superseded_by then
    insert into release_candidate_event
      (id, tenant_id, project_id, candidate_id, type, before, after, superseded_by, by, at)
    values (gen_random_uuid(), new.tenant_id, new.project_id, new.id, 'status_changed', old.status, new.status,
      new.superseded_by, new.status_changed_by, coalesce(new.status_changed_at, new.updated_at));
  end if;
  return null;
end $$;
revoke all on function note_release_candidate() from public;

create or replace trigger noted_on_insert after insert on release_candidate
  for each row execute function note_release_candidate();
create or replace trigger noted_on_update after update on release_candidate
  for each row when (new.content_digest <> old.content_digest or new.status <> old.status
    or new.superseded_by is distinct from old.superseded_by)
  execute function note_release_candidate();
