-- What the trail is counted by; without settings of its own, so that it is inlined.
create or replace function audit_facets(source text, action text, actor_email text, actor_id text,
  repository_identifier text)
  returns table (facet text, value text) language sql immutable as $$
  select kind.facet, kind.value
  from (values ('all', ''), ('source', source), ('action', action), ('actor', actor_email),
    ('actor', nullif(actor_id, actor_email)), ('repository', repository_identifier)) as kind (facet, value)
  where kind.value is not null $$;
revoke all on function audit_facets(text, text, text, text, text) from public;
