create or replace function auth_run_tokens(hashes text[])
  returns table (token_hash text, tenant_id uuid, run_id uuid, project_id uuid, repository_identifier text,
    domain text, release_name text, environment_names text[], pool_id text, session_id text)
  language sql stable security definer set search_path = public, pg_temp as $$
  select t.token_hash, t.tenant_id, r.id, r.project_id, p.identifier, r.domain, r.release_name,
    array(select e.name from environment e where e.tenant_id = r.tenant_id and e.project_id = r.project_id
      and (e.id = r.environment_id or e.id in (select l.environment_id from environment_lock_ticket l
        where l.tenant_id = r.tenant_id and l.run_id = r.id and l.state = 'held')) order by 1),
    (select o.id::text from review_pool o where o.tenant_id = r.tenant_id and o.prepare_run_id = r.id),
    (select s.id::text from browser_session s where s.tenant_id = r.tenant_id and s.flow_run_id = r.id limit 1)
  from run_token t
    join flow_run r on r.tenant_id = t.tenant_id and r.id = t.run_id
    left join project p on p.tenant_id = r.tenant_id and p.id = r.project_id
  where t.token_hash = any (hashes) and t.expires_at > now() and r.ended_at is null $$;
revoke all on function auth_run_tokens(text[]) from public;
grant execute on function auth_run_tokens(text[]) to :app_role;
