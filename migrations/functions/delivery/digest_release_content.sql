create or replace function digest_release_content() returns trigger language plpgsql as $$
begin
  new.content_digest := release_content_digest(new.commit_sha, new.value);
  return new;
end $$;

create or replace trigger digested before insert or update of commit_sha, value on release_candidate
  for each row execute function digest_release_content();
