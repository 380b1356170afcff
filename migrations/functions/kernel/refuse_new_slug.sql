create or replace function refuse_new_slug() returns trigger language plpgsql as $$
begin raise exception 'the slug of a tenant never changes: ids of workflows contain it'; end $$;

create or replace trigger slug_is_fixed before update of slug on tenant
  for each row when (old.slug <> new.slug) execute function refuse_new_slug();
