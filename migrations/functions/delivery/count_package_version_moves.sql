create or replace function count_package_version_moves() returns trigger language plpgsql as $$
begin
  new.moves := old.moves + 1;
  return new;
end $$;

create or replace trigger moved before update on package_version
  for each row when (old.commit_sha is distinct from new.commit_sha) execute function count_package_version_moves();
