-- As `groupOf` says: what is too frequent for most is in no group.
create or replace function event_group(event text) returns text language sql immutable parallel safe
  return case when event <> 'flow.progress' and strpos(event, '.') > 0 then split_part(event, '.', 1) || '.*' else event end;
