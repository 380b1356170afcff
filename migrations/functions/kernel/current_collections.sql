-- Regular expressions; none when they are not set, so that a token with projects then sees no documents.
create or replace function current_collections() returns text[] language sql stable parallel safe
  return array(select jsonb_array_elements_text(nullif(current_setting('app.collections', true), '')::jsonb));
