create or replace function event_group(event text) returns text language sql immutable parallel safe
  return case when strpos(event, '.') > 0 then split_part(event, '.', 1) || '.*' else event end;
