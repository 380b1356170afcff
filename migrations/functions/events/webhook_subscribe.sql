-- An event that its group includes has no row of its own, so that nothing is delivered twice.
create or replace function webhook_subscribe() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'UPDATE' then
    delete from webhook_subscription where tenant_id = new.tenant_id and webhook_id = new.id;
  end if;
  if new.status = 'active' and new.deleted_at is null then
    insert into webhook_subscription (tenant_id, event, webhook_id)
    select distinct new.tenant_id, given.event, new.id from unnest(new.events) as given (event)
    where given.event = event_group(given.event) or event_group(given.event) <> all (new.events);
  end if;
  return null;
end $$;

create or replace trigger webhook_subscribe after insert or update of event, events, status, deleted_at on webhook
  for each row execute function webhook_subscribe();
