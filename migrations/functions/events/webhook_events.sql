-- Processes of the version before, which go on during a rolling upgrade, write `event` alone.
create or replace function webhook_events() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if new.events is null or (tg_op = 'UPDATE' and new.event <> old.event and new.events = old.events) then
    new.events := array[new.event];
  end if;
  return new;
end $$;

create or replace trigger webhook_events before insert or update of event, events on webhook
  for each row execute function webhook_events();
