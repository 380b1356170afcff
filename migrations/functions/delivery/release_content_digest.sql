create or replace function release_content_digest(commit_sha text, definition jsonb) returns text
  language sql immutable parallel safe as $$
  -- RFC 8785: members in order, no spaces.
  select encode(sha256(convert_to('{"artifacts":{' || coalesce((
      select string_agg(to_json(key)::text || ':' || to_json(value)::text, ',' order by key collate "C")
      from jsonb_each_text(case jsonb_typeof(definition -> 'artifacts') when 'object' then definition -> 'artifacts'
        else '{}' end)
    ), '') || '},"commitSha":' || to_json(lower(commit_sha)) || '}', 'UTF8')), 'hex') $$;
