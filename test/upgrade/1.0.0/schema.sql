CREATE FUNCTION public.accept_invitation(invitation uuid, person uuid) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  invited invited_user;
  account uuid;
begin
  select * into invited from invited_user where id = invitation for update;
  if not found then return null; end if;
  loop
    select user_id into account from user_alias where email = invited.email;
    if coalesce(account, invited.id) <> person then return null; end if;
    exit when account is not null;
    begin
      insert into user_account (id, email) values (invited.id, invited.email);
    exception when unique_violation then
      -- Somebody made the account, or the alias, at this moment: the next look finds it.
      null;
    end;
  end loop;
  -- A member who is invited by another address keeps a higher role: the tenant's last owner, for one.
  insert into membership as m (id, tenant_id, team_id, user_id, role)
    select i.id, i.tenant_id, i.team_id, account, i.role from invited_membership i
    where i.tenant_id = invited.tenant_id and i.user_id = invited.id
    on conflict (tenant_id, team_id, user_id) do update set role = excluded.role, updated_at = now()
      where role_rank(excluded.role) > role_rank(m.role);
  insert into user_profile (tenant_id, user_id, first_name, last_name)
    values (invited.tenant_id, account, invited.first_name, invited.last_name) on conflict do nothing;
  delete from invited_user where id = invited.id;
  return account;
end $$;
COMMENT ON FUNCTION public.accept_invitation(invitation uuid, person uuid) IS '26d853b60f326efb6f4578725632bfb20aec24db6ab15b7b871df75af0bbd567';
CREATE FUNCTION public.audit_append(for_tenant uuid, entries jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  before_first bigint;
  last_hash text;
  -- That of the entry before the first, then one for each entry.
  hashes text[];
  place int := 0;
  head text;
  middle text;
  tail text;
begin
  if for_tenant is distinct from current_tenant() then
    raise insufficient_privilege using message = 'an audit entry belongs to the tenant that is set';
  end if;
  select sequence, hash into before_first, last_hash from audit_head where tenant_id = for_tenant for update;
  if not found then
    insert into audit_head values (for_tenant, 0, repeat('0', 64)) on conflict do nothing;
    select sequence, hash into before_first, last_hash from audit_head where tenant_id = for_tenant for update;
  end if;
  hashes[1] := last_hash;
  for head, middle, tail in
    select e.value->>'head', e.value->>'middle', e.value->>'tail' from jsonb_array_elements(entries) as e
  loop
    place := place + 1;
    last_hash := encode(sha256(convert_to(
      last_hash || head || last_hash || middle || (before_first + place) || tail, 'UTF8')), 'hex');
    hashes[place + 1] := last_hash;
  end loop;
  with appended as (
    insert into audit_entry (tenant_id, sequence, id, occurred_at, source, action, actor, repository_identifier,
      entity_type, entity_id, summary, before, after, request_id, prev_hash, hash)
    select for_tenant, before_first + e.place, e.id, e."occurredAt", e.source, e.action, e.actor,
      e."repositoryIdentifier",
      e."entityType", e."entityId", e.summary, nullif(e.before, 'null'), nullif(e.after, 'null'), e."requestId",
      hashes[e.place], hashes[e.place + 1]
    from rows from (jsonb_to_recordset(entries) as (id uuid, "occurredAt" timestamptz, source text, action text,
      actor jsonb,
      "repositoryIdentifier" text, "entityType" text, "entityId" text, summary text, before jsonb, after jsonb,
        "requestId" text))
      with ordinality as e (id, "occurredAt", source, action, actor, "repositoryIdentifier", "entityType", "entityId",
        summary,
        before, after, "requestId", place)
    returning occurred_at, source, action, actor_email, actor_id, repository_identifier)
  insert into audit_tally (tenant_id, facet, value, hour, entries)
  select for_tenant, kind.facet, kind.value, date_trunc('hour', a.occurred_at, 'UTC'), count(*)
  from appended a
  cross join lateral audit_facets(a.source, a.action, a.actor_email, a.actor_id, a.repository_identifier) as kind
  group by 2, 3, 4
  on conflict (tenant_id, facet, value, hour) do update set entries = audit_tally.entries + excluded.entries;
  update audit_head set sequence = before_first + place, hash = last_hash where tenant_id = for_tenant;
end $$;
COMMENT ON FUNCTION public.audit_append(for_tenant uuid, entries jsonb) IS 'd5e23bbd9dcd75e26f81059e3347154e658659b63d41e9653ac05a4b965b9715';
CREATE FUNCTION public.audit_append_of_browsers(for_tenant uuid, entries jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  if exists (
    select from jsonb_to_recordset(entries) as e (source text, action text, "entityType" text, "entityId" text)
    where e.source is distinct from 'browser' or e."entityType" is distinct from 'browser_session'
      or coalesce(e.action, '') not in
        ('browser_session.live', 'browser_session.control_taken', 'browser_session.recording_ready')
      or not exists (select from browser_session s
        where s.tenant_id = for_tenant and s.id::text = e."entityId" and provider = 'local'
          and (ended_at is null or updated_at > now() - interval '1 day' or recording_state = 'processing'
            or removed_at is not null))) then
    raise insufficient_privilege using message = 'a host of browsers audits what it does with its sessions alone';
  end if;
  perform audit_append(for_tenant, entries);
end $$;
COMMENT ON FUNCTION public.audit_append_of_browsers(for_tenant uuid, entries jsonb) IS '5754b187fb399ae81812ec7f22e74ab06bad45784b822d1010883c837e043607';
CREATE FUNCTION public.audit_count(for_tenant uuid, first_sequence bigint) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  insert into audit_tally (tenant_id, facet, value, hour, entries)
  select e.tenant_id, kind.facet, kind.value, date_trunc('hour', e.occurred_at, 'UTC'), count(*)
  from audit_entry e
  cross join lateral audit_facets(e.source, e.action, e.actor_email, e.actor_id, e.repository_identifier) as kind
  where e.tenant_id = for_tenant and e.sequence >= first_sequence
  group by 1, 2, 3, 4
  on conflict (tenant_id, facet, value, hour) do update set entries = audit_tally.entries + excluded.entries $$;
COMMENT ON FUNCTION public.audit_count(for_tenant uuid, first_sequence bigint) IS '29848fb78ede8ce862c8b7e26659dea4dc77f5a68ad4e83a1d91e044cd87f073';
CREATE FUNCTION public.audit_facets(source text, action text, actor_email text, actor_id text, repository_identifier text) RETURNS TABLE(facet text, value text)
    LANGUAGE sql IMMUTABLE
    AS $$
  select kind.facet, kind.value
  from (values ('all', ''), ('source', source), ('action', action), ('actor', actor_email),
    ('actor', nullif(actor_id, actor_email)), ('repository', repository_identifier)) as kind (facet, value)
  where kind.value is not null $$;
COMMENT ON FUNCTION public.audit_facets(source text, action text, actor_email text, actor_id text, repository_identifier text) IS '53605e9c396ec8b9ebd36c47d6b4d73be4d1f0990fad5e812408a63e704ef724';
CREATE FUNCTION public.auth_application_tokens(hashes text[]) RETURNS TABLE(token_hash text, id uuid, tenant_id uuid, name text, project_ids uuid[], collection_names jsonb, is_use_stale boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select t.token_hash, t.id, t.tenant_id, t.name, t.project_ids,
    case when t.project_ids is not null then collection_names(t.tenant_id, t.project_ids) end,
    t.last_used_at is null or t.last_used_at < now() - interval '1 minute'
  from application_token t
  where t.token_hash = any (hashes) and t.revoked_at is null and t.expires_at > now()
  union all
  select t.previous_hash, t.id, t.tenant_id, t.name, t.project_ids,
    case when t.project_ids is not null then collection_names(t.tenant_id, t.project_ids) end,
    t.last_used_at is null or t.last_used_at < now() - interval '1 minute'
  from application_token t
  where t.previous_hash = any (hashes) and t.revoked_at is null and t.expires_at > now()
    and t.previous_until > now() $$;
COMMENT ON FUNCTION public.auth_application_tokens(hashes text[]) IS '8053d478a19f60cb86b46b7f92a41ed3f13b57c8011e1b651e6e6546fcf19c26';
CREATE FUNCTION public.auth_cookie_sessions(hashes text[]) RETURNS TABLE(cookie_hash text, id uuid, user_id uuid, tenant_id uuid, email text, role text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
  select s.cookie_hash, a.* from auth_session s, auth_sessions(array[s.id]) a where s.cookie_hash = any (hashes) $$;
COMMENT ON FUNCTION public.auth_cookie_sessions(hashes text[]) IS '83bc947f9f9870bdc846f3702220b25cb88ef18f373d4e9f3b1971a31bf891db';
CREATE FUNCTION public.auth_login(login_email text, tenant_slug text) RETURNS TABLE(user_id uuid, email text, password_hash text, tenant_id uuid, role text, invitation_id uuid, tenants text[], invited_to text[])
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select u.id, u.email, u.password_hash, p.tenant_id, p.role, p.invitation_id, p.tenants, p.invited_to
  from user_account u cross join lateral auth_place(u.id, u.email, tenant_slug) p
  where u.email = lower(login_email) $$;
COMMENT ON FUNCTION public.auth_login(login_email text, tenant_slug text) IS '14dee0f6691a5f4de4eb38a50eaf322213d6bf02f196d1b67b9b496002e2f7f1';
CREATE FUNCTION public.auth_people(emails text[], tenant_slug text DEFAULT NULL::text) RETURNS TABLE(known_by text, user_id uuid, email text, is_new boolean, tenant_id uuid, role text, invitation_id uuid, tenants text[], invited_to text[])
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
  select e.known_by, coalesce(u.id, p.invitation_id), coalesce(u.email, lower(e.known_by)), u.id is null,
    p.tenant_id, p.role, p.invitation_id, p.tenants, p.invited_to
  from unnest(emails) as e (known_by)
  left join user_alias a on a.email = lower(e.known_by)
  left join user_account u on u.id = a.user_id
  cross join lateral auth_place(u.id, e.known_by, tenant_slug) p
  where u.id is not null or cardinality(p.invited_to) > 0 $$;
COMMENT ON FUNCTION public.auth_people(emails text[], tenant_slug text) IS '76f506d4fcc20bf2c075aa3bab0d49cee6ca352863d86c9364e6fd82b8aa9b76';
CREATE FUNCTION public.auth_place(person uuid, address text, wanted text) RETURNS TABLE(tenant_id uuid, role text, invitation_id uuid, tenants text[], invited_to text[])
    LANGUAGE sql STABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with member as materialized (
    select t.id, t.slug, j.accepted_at, j.chosen_at, (select m.role from membership m where m.tenant_id = t.id
      and m.user_id = person order by role_rank(m.role) desc limit 1) as role
    from tenant_user j join tenant t on t.id = j.tenant_id
    where j.user_id = person and exists (
      select from membership m where m.tenant_id = j.tenant_id and m.user_id = person)),
  invited as materialized (
    select v.id as invitation_id, t.id, t.slug, (select m.role from invited_membership m where m.tenant_id = t.id
      and m.user_id = v.id order by role_rank(m.role) desc limit 1) as role
    from invited_user v join tenant t on t.id = v.tenant_id
    where v.email = any (array(
      select lower(address) union select a.email from user_alias a where a.user_id = person))),
  chosen as (
    select id, role from member where wanted is null or slug = wanted
    order by chosen_at desc nulls last, accepted_at, id limit 1),
  opened as (
    select id, role, invitation_id from invited
    where slug = wanted or (wanted is null and person is null and (select count(*) from invited) = 1)
    order by invitation_id limit 1),
  place as (
    select id, role, null::uuid as invitation_id from chosen
    union all select id, role, invitation_id from opened where not exists (select from chosen))
  select p.id, p.role, p.invitation_id, array(select slug from member order by slug),
    array(select distinct slug from invited order by slug)
  from (select) one left join place p on true $$;
COMMENT ON FUNCTION public.auth_place(person uuid, address text, wanted text) IS '4576a15aafd7f1d89eaece87046ab3cf5268b576ac6890ad0907998cbc2b38a3';
CREATE FUNCTION public.auth_recovery_code_spend(person uuid, hash text) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with spent as (delete from user_recovery_code where user_id = person and code_hash = hash returning 1)
  select exists (select from spent) $$;
COMMENT ON FUNCTION public.auth_recovery_code_spend(person uuid, hash text) IS 'ca3f3f681475233a74ea7c8c94069721ddf5621f00c788f1915cbc737ee468d6';
CREATE FUNCTION public.auth_refresh(hash text) RETURNS TABLE(tenant_id uuid, session_id uuid, user_id uuid, email text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select r.tenant_id, r.session_id, s.user_id, u.email
  from refresh_token r join auth_session s on s.id = r.session_id join user_account u on u.id = s.user_id
  where r.token_hash = hash $$;
COMMENT ON FUNCTION public.auth_refresh(hash text) IS '8b5cb083946faae5ea1d6da9a79c0131d8f7942b229eef94cd1cbe23f02d0188';
CREATE FUNCTION public.auth_run_tokens(hashes text[]) RETURNS TABLE(token_hash text, tenant_id uuid, run_id uuid, project_id uuid, repository_identifier text, domain text, release_name text, environment_names text[], pool_id text, session_id text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION public.auth_run_tokens(hashes text[]) IS 'ae1567c847a3d0d9659073f349b39d68e694c5e3734b035b26d855b8e9081ba6';
CREATE FUNCTION public.auth_sessions(ids uuid[]) RETURNS TABLE(id uuid, user_id uuid, tenant_id uuid, email text, role text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
  select s.id, s.user_id, s.tenant_id, u.email,
    (select m.role from membership m where m.user_id = s.user_id and m.tenant_id = s.tenant_id
      order by role_rank(m.role) desc limit 1)
  from auth_session s join user_account u on u.id = s.user_id
  where s.id = any (ids) and s.revoked_at is null and s.expires_at > now() $$;
COMMENT ON FUNCTION public.auth_sessions(ids uuid[]) IS 'e9e6bfc07bdcc8f2c75913f07d355820cad6e9604e450933b75d0d6a907733da';
CREATE FUNCTION public.auth_totp(person uuid) RETURNS TABLE(secret text, is_confirmed boolean)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select secret, confirmed_at is not null from user_totp where user_id = person $$;
COMMENT ON FUNCTION public.auth_totp(person uuid) IS '3a2ca399d01b00fe429b49fe758896c306b1550896af0f0fddb082b2d243d001';
CREATE FUNCTION public.auth_totp_confirm(person uuid, code_hashes text[]) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with confirmed as (update user_totp set confirmed_at = now() where user_id = person and confirmed_at is null
  returning user_id),
    codes as (insert into user_recovery_code (user_id, code_hash) select user_id, unnest(code_hashes) from confirmed)
  select exists (select from confirmed) $$;
COMMENT ON FUNCTION public.auth_totp_confirm(person uuid, code_hashes text[]) IS '630f292cff5be3d706eb5c79b75033e2c8cfa11fec702851d4e145ed0a8b9f3b';
CREATE FUNCTION public.auth_totp_offer(person uuid, new_secret text) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with offered as (
    insert into user_totp as t (user_id, secret) values (person, new_secret)
    on conflict (user_id) do update set secret = new_secret, last_step = 0, created_at = now()
      where t.confirmed_at is null
    returning 1)
  select exists (select from offered) $$;
COMMENT ON FUNCTION public.auth_totp_offer(person uuid, new_secret text) IS '353b7b3e66d71af1e08417a39e028c4ee3b9e6fa816ec4921bc65617d5865cf1';
CREATE FUNCTION public.auth_totp_remove(person uuid) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with removed as (delete from user_totp where user_id = person returning 1) select exists (select from removed) $$;
COMMENT ON FUNCTION public.auth_totp_remove(person uuid) IS '4f8b1e0db4c4bb0203d43f8c7ab0152ab5f550525f455cc86c1a57efc61d100f';
CREATE FUNCTION public.auth_totp_spend(person uuid, step bigint) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with spent as (update user_totp set last_step = step where user_id = person and last_step < step returning 1)
  select exists (select from spent) $$;
COMMENT ON FUNCTION public.auth_totp_spend(person uuid, step bigint) IS '93fff44cd019846c655c44690b8e3ac6f113fce1f7e6fb9640b9a8703ef7af7e';
CREATE FUNCTION public.auth_touch_application_tokens(ids uuid[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  update application_token set last_used_at = now()
  where id = any (ids) and (last_used_at is null or last_used_at < now() - interval '1 minute') $$;
COMMENT ON FUNCTION public.auth_touch_application_tokens(ids uuid[]) IS 'd81b46d66aa86eaf0da7e40ed143ddf7c620cbf07ec9753597d1b9f8a02386c3';
CREATE FUNCTION public.chat_workspaces_of(of_key text) RETURNS TABLE(tenant_id uuid, workspace_id uuid, team_id text, signing_secret text, is_active boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select w.tenant_id, w.id, w.team_id, w.signing_secret, w.is_active
  from tenant t join chat_workspace w on w.tenant_id = t.id where t.chat_key = of_key $$;
COMMENT ON FUNCTION public.chat_workspaces_of(of_key text) IS '0d4308043a77564b4d64f51167314bffc4007601074bf62580997001cd8412ea';
CREATE FUNCTION public.claim_aliases(for_user uuid, from_provider text, addresses text[]) RETURNS TABLE(email text, user_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  insert into user_alias (email, user_id, provider)
  select distinct lower(a), for_user, from_provider from unnest(addresses) a order by 1
  on conflict do nothing;
  return query select x.email, x.user_id from user_alias x
    where x.email = any (select lower(a) from unnest(addresses) a) order by 1;
end $$;
COMMENT ON FUNCTION public.claim_aliases(for_user uuid, from_provider text, addresses text[]) IS '2c8754c2930d2b4518ebb1e2b43090cca0e4e49a9a6173efade8f40a25f6beb5';
CREATE FUNCTION public.collection_names(for_tenant uuid, of_projects uuid[]) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with own as (
    select p.identifier, p.configuration->'documentCollections' as patterns
    from project p where p.tenant_id = for_tenant and p.id = any (of_projects))
  select jsonb_build_object(
    'identifiers', array(select o.identifier from own o order by 1),
    'patterns', array(select distinct n from own o, jsonb_array_elements_text(o.patterns) n order by 1),
    'others', array(
      select p.identifier from project p
      where p.tenant_id = for_tenant and p.id <> all (of_projects)
        and exists (select from own o where starts_with(p.identifier, o.identifier || '/'))
      order by 1)) $$;
COMMENT ON FUNCTION public.collection_names(for_tenant uuid, of_projects uuid[]) IS '7c3bb4e22af3a55361fcff882a57431f60dcd020e18dc906168847cc5a7ccd8a';
CREATE FUNCTION public.component_name_key(name text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
  select lower((case when strpos(name, '%') = 0 then name else decoded_component_name(name) end) collate pg_c_utf8) $$;
COMMENT ON FUNCTION public.component_name_key(name text) IS '04069f1025079100c8c447bec32f35bcc8f965f89601284c75c58e7e10a58a5a';
CREATE FUNCTION public.count_package_version_moves() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.moves := old.moves + 1;
  return new;
end $$;
COMMENT ON FUNCTION public.count_package_version_moves() IS '75ac983a0228634b5a2037c15f38f9d59312278476abe478629cdec750409fab';
CREATE FUNCTION public.count_release_candidates() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  -- In key order, so that writers of the same counts wait for each other and never in a circle.
  if tg_op <> 'INSERT' then
    update release_candidate_count c set candidates = c.candidates - gone.n
    from (select tenant_id, project_id, domain, coalesce(branch, '') as branch, status, count(*) as n
      from removed group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5) gone
    where (c.tenant_id, c.project_id, c.domain, c.branch, c.status)
      = (gone.tenant_id, gone.project_id, gone.domain, gone.branch, gone.status);
  end if;
  if tg_op <> 'DELETE' then
    insert into release_candidate_count as c
    select tenant_id, project_id, domain, coalesce(branch, ''), status, count(*)
    from added group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict (tenant_id, project_id, domain, branch, status)
      do update set candidates = c.candidates + excluded.candidates;
  end if;
  return null;
end $$;
COMMENT ON FUNCTION public.count_release_candidates() IS 'f9e5e33e03da52a03dd20e27ee447e89561cfb4add3f202ef40ef18c94323673';
CREATE FUNCTION public.count_work_item_requests() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
  -- In key order, so that writers of the same counts wait for each other and never in a circle.
  if tg_op = 'INSERT' then
    insert into work_item_request_count as t (tenant_id, project_id, kind, value, status, requests)
    select tenant_id, project_id, kind, value, status, sum(n) as n
    from (select *, 1 as n from added) r
    cross join lateral (values
      ('creator', r.created_by), ('month', to_char(r.created_at at time zone 'UTC', 'YYYY-MM'))) v (kind, value)
    group by 1, 2, 3, 4, 5 having sum(n) <> 0 order by 1, 2, 3, 4, 5
    on conflict (tenant_id, project_id, kind, value, status) do update set requests = t.requests + excluded.requests;
  elsif tg_op = 'UPDATE' then
    insert into work_item_request_count as t (tenant_id, project_id, kind, value, status, requests)
    select tenant_id, project_id, kind, value, status, sum(n) as n
    from (select *, -1 as n from removed union all select *, 1 from added) r
    cross join lateral (values
      ('creator', r.created_by), ('month', to_char(r.created_at at time zone 'UTC', 'YYYY-MM'))) v (kind, value)
    group by 1, 2, 3, 4, 5 having sum(n) <> 0 order by 1, 2, 3, 4, 5
    on conflict (tenant_id, project_id, kind, value, status) do update set requests = t.requests + excluded.requests;
  else
    -- With a project its counts are removed, too.
    update work_item_request_count t set requests = t.requests - gone.n
    from (
      select tenant_id, project_id, kind, value, status, sum(n) as n
      from (select *, 1 as n from removed) r
      cross join lateral (values
        ('creator', r.created_by), ('month', to_char(r.created_at at time zone 'UTC', 'YYYY-MM'))) v (kind, value)
      group by 1, 2, 3, 4, 5 having sum(n) <> 0 order by 1, 2, 3, 4, 5) gone
    where (t.tenant_id, t.project_id, t.kind, t.value, t.status)
      = (gone.tenant_id, gone.project_id, gone.kind, gone.value, gone.status);
  end if;
  return null;
end $$;
COMMENT ON FUNCTION public.count_work_item_requests() IS '5fa411dcf15f7802006577ca3fd447af6e13a756452c1080f9bd6af964b132f9';
CREATE FUNCTION public.current_collections() RETURNS text[]
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ARRAY(SELECT jsonb_array_elements_text((NULLIF(current_setting('app.collections'::text, true), ''::text))::jsonb) AS jsonb_array_elements_text);
COMMENT ON FUNCTION public.current_collections() IS '150527f731bf3465e089fce25a1d9c950ed29375a852bbb67c32c3b55d9ba0f0';
CREATE FUNCTION public.current_projects() RETURNS uuid[]
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(current_setting('app.project_ids'::text, true), ''::text))::uuid[];
COMMENT ON FUNCTION public.current_projects() IS 'dab9dad5a3f3ae2e3b9e8ba56d174e5bc87cf031f6b5d63a7f622d010854d706';
CREATE FUNCTION public.current_run() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(current_setting('app.run_id'::text, true), ''::text))::uuid;
COMMENT ON FUNCTION public.current_run() IS '498b092ac70ba68c6b2af1b984017641de136cbf2f55cd4fdb395ec3f35004ae';
CREATE FUNCTION public.current_tenant() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid;
COMMENT ON FUNCTION public.current_tenant() IS '551156111356801c6ec012fa67964ce6c2821207261edddc3f38cd5bad476db6';
CREATE FUNCTION public.decoded_component_name(name text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
declare parts text[];
begin
  parts := array(select m[1] from regexp_matches(name, '(%[0-9A-Fa-f]{2}|[^%]+|%)', 'g') m);
  if '%' = any (parts) then return name; end if;
  return convert_from(decode((
    select string_agg(case when part like '\%%' then substr(part, 2) else encode(convert_to(part, 'UTF8'), 'hex') end,
      '' order by place)
    from unnest(parts) with ordinality p (part, place)), 'hex'), 'UTF8');
exception when character_not_in_repertoire or untranslatable_character then return name;
end $$;
COMMENT ON FUNCTION public.decoded_component_name(name text) IS '1aee37a18b3c50881772d396052a8cae60a75c4bc424176e8bf5f31c9de52c7d';
CREATE FUNCTION public.digest_release_content() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.content_digest := release_content_digest(new.commit_sha, new.value);
  return new;
end $$;
COMMENT ON FUNCTION public.digest_release_content() IS '498ccf9dcbae67f517277a9c14b51ccd1c0a8e728c62800170cd3efd96fbe099';
CREATE FUNCTION public.document_matches(in_store text, content jsonb, at_most integer) RETURNS TABLE(collection text, key text, version integer, value jsonb, size_bytes integer)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 100
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
  select d.collection, d.key, d.version, d.value, d.size_bytes from document d
  where jsonb_set('{}', array[d.tenant_id::text || d.store], d.value)
      @> jsonb_build_object(coalesce(current_tenant()::text, '') || in_store, content)
    and d.tenant_id is not distinct from current_tenant()
    and case when (select current_projects()) is null then true
      else d.collection ~ any ((select current_collections())::text[]) end
  limit at_most $$;
COMMENT ON FUNCTION public.document_matches(in_store text, content jsonb, at_most integer) IS '3cfff5403129ad219bdca27fa0d1f18f04edc21d30b0fd25c0cbdb08971e781a';
CREATE FUNCTION public.document_read(requests jsonb) RETURNS TABLE(request integer, version integer, value text, created_at timestamp with time zone, updated_at timestamp with time zone)
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  item record;
begin
  for item in
    select o.ordinality::int as place, (o.value->>'tenant')::uuid as tenant, o.value->>'store' as store,
      o.value->>'collection' as collection, o.value->>'key' as key
    from jsonb_array_elements(requests) with ordinality as o
  loop
    perform set_config('app.tenant_id', item.tenant::text, true);
    return query
      select item.place, d.version, d.value::text, d.created_at, d.updated_at from document d
      where d.tenant_id = item.tenant and d.store = item.store and d.collection = item.collection and d.key = item.key;
  end loop;
end $$;
COMMENT ON FUNCTION public.document_read(requests jsonb) IS '722cb022f56a954dfd11139167a4eb000a5fb9e7bbf8de0f90ca3a4e6fd80178';
CREATE FUNCTION public.document_write(for_tenant uuid, requests jsonb, written_at timestamp with time zone) RETURNS TABLE(request integer, is_written boolean, version integer, created_at timestamp with time zone, webhook_ids uuid[])
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  item record;
  done record;
  written int[] := '{}';
  places int[] := '{}';
  versions int[] := '{}';
  moments timestamptz[] := '{}';
  to_wake uuid[];
begin
  perform set_config('app.tenant_id', for_tenant::text, true);
  insert into document_collection (tenant_id, id, name)
    select for_tenant, uuidv7(), n.name
    from (select distinct o->>'collection' collate "C" as name from jsonb_array_elements(requests) o
      where o->>'expected' is null) n
    order by n.name
    on conflict do nothing;
  perform from document_collection c
    where c.tenant_id = for_tenant
      and c.name = any (array(select distinct o->>'collection' collate "C" from jsonb_array_elements(requests) o))
    order by c.name for key share;
  for item in
    select o.ordinality::int as place, o.value->>'store' as store, o.value->>'collection' as collection,
      o.value->>'key' as key, o.value->'value' as value, (o.value->>'size')::int as size_bytes,
      (o.value->>'expected')::int as expected, (o.value->>'kept')::int as kept, o.value->>'writer' as writer
    from jsonb_array_elements(requests) with ordinality as o
    order by o.value->>'collection' collate "C", o.value->>'store' collate "C", o.value->>'key' collate "C",
      o.ordinality
  loop
    if item.expected is null then
      insert into document values (for_tenant, item.store, item.collection, item.key, 1, item.value, item.size_bytes,
          written_at, written_at, item.writer)
        on conflict do nothing
        returning document.version, document.created_at into done;
    elsif item.kept = 0 then
      update document d
        set value = item.value, version = d.version + 1, size_bytes = item.size_bytes, updated_at = written_at,
          updated_by = item.writer
        where d.tenant_id = for_tenant and d.store = item.store and d.collection = item.collection
          and d.key = item.key and d.version = item.expected
        returning d.version, d.created_at into done;
    else
      with changed as (
        update document d
        set value = item.value, version = d.version + 1, size_bytes = item.size_bytes, updated_at = written_at,
          updated_by = item.writer
        where d.tenant_id = for_tenant and d.store = item.store and d.collection = item.collection
          and d.key = item.key and d.version = item.expected
        returning new.version, new.created_at, old.value as old_value, old.size_bytes as old_size,
          old.updated_at as old_at, old.updated_by as old_by),
      kept as (
        insert into document_version
        select for_tenant, item.store, item.collection, item.key, item.expected, c.old_value, c.old_size, c.old_at,
          c.old_by
        from changed c)
      select c.version, c.created_at from changed c into done;
      delete from document_version v
        where v.tenant_id = for_tenant and v.store = item.store and v.collection = item.collection and v.key = item.key
          and v.version <= item.expected - item.kept and done.version is not null;
    end if;
    places := places || item.place;
    moments := moments || done.created_at;
    if done.version is not null then
      written := written || item.place;
      versions := versions || done.version;
    else
      versions := versions || (
        select d.version from document d where d.tenant_id = for_tenant and d.store = item.store
          and d.collection = item.collection and d.key = item.key);
    end if;
  end loop;
  if cardinality(written) > 0 then
    with queued as materialized (
      select uuidv7() as id, s.webhook_id, o.value->>'event' as event, o.value->'data' as data,
        o.value->>'traceparent' as traceparent
      from jsonb_array_elements(requests) with ordinality as o
      join webhook_subscription s on s.tenant_id = for_tenant
        and s.event in (o.value->>'event', event_group(o.value->>'event'))
      where o.ordinality = any (written)
      order by o.ordinality),
    inserted as (
      insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, traceparent)
      select q.id, for_tenant, q.webhook_id, q.event, q.data::json, q.traceparent from queued q)
    select array_agg(distinct q.webhook_id) from queued q into to_wake;
    perform audit_append(for_tenant, (
      select jsonb_agg(o.value->'audit' order by o.ordinality)
      from jsonb_array_elements(requests) with ordinality as o where o.ordinality = any (written)));
  end if;
  return query
    select o.place, o.moment is not null, o.version, o.moment, to_wake
    from unnest(places, versions, moments) as o (place, version, moment);
end $$;
COMMENT ON FUNCTION public.document_write(for_tenant uuid, requests jsonb, written_at timestamp with time zone) IS '8069f41cd8d7d38dcbda26d9a25b2f9ae342f588698bffe44e67bf4c55cd618b';
CREATE FUNCTION public.event_group(event text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (strpos(event, '.'::text) > 0) THEN (split_part(event, '.'::text, 1) || '.*'::text) ELSE event END;
COMMENT ON FUNCTION public.event_group(event text) IS '9d665f91d979e87be3b95fac01f3f013905dcea897143d83d8b43d35ba06bc74';
CREATE FUNCTION public.expiring_application_tokens(max_rows integer) RETURNS TABLE(id uuid, tenant_id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select t.id, t.tenant_id from application_token t
  where t.revoked_at is null and t.expiry_announced_at is null
    and t.expires_at > now() and t.expires_at < now() + interval '7 days'
    and t.expires_at - now() < (t.expires_at - coalesce(t.rotated_at, t.created_at)) / 4
  order by row_number() over (partition by t.tenant_id order by t.expires_at), t.expires_at
  limit max_rows $$;
COMMENT ON FUNCTION public.expiring_application_tokens(max_rows integer) IS '113401942ee60958f1ad65ef8c7dca8cae360649e863ef7d6d254efcc0e43d3f';
CREATE FUNCTION public.fill_deployed_commit() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.commit_sha := (
    select c.commit_sha from release_candidate c
    where c.tenant_id = new.tenant_id and c.id = new.candidate_id and c.content_digest = new.content_digest);
  return new;
end $$;
COMMENT ON FUNCTION public.fill_deployed_commit() IS '9560222bbec603ced8de8ec33e60d694211e11758e45f6281d82b1470366a924';
CREATE FUNCTION public.fill_deployed_content() RETURNS trigger
    LANGUAGE plpgsql
    AS $_$
declare
  artifacts jsonb := '{}';
  digest text := 'unknown';
  commit text;
  told text := coalesce(new.metadata ->> 'commitSha', new.release_definition ->> 'commitSha');
  failed text[];
begin
  select case jsonb_typeof(c.value -> 'artifacts') when 'object' then c.value -> 'artifacts' else '{}' end,
    c.content_digest, c.commit_sha
  into artifacts, digest, commit
  from release_candidate c where c.tenant_id = new.tenant_id and c.id = new.candidate_id;
  artifacts := coalesce(artifacts, '{}');
  select coalesce(array_agg(d ->> 'name'), '{}') into failed from jsonb_array_elements(new.package_details) d
  where coalesce(d ->> 'error', '') <> '' or d ->> 'status' ~* '^(fail|error)';
  new.content_digest := case
    when commit is null or not artifacts @> new.packages then 'unknown'
    when told ~* '^[0-9a-f]{7,64}$' and not (commit like lower(told) || '%' or lower(told) like commit || '%')
      then 'unknown'
    else digest end;
  new.installed := case
    when new.status = 'Success' then new.packages - failed
    when new.status <> 'Partial' then '{}'
    -- Packages that were not named were stored as all those of the candidate.
    when artifacts @> new.packages and artifacts <> new.packages then new.packages
    else coalesce((
      select jsonb_object_agg(d ->> 'name', coalesce(d ->> 'version', artifacts ->> (d ->> 'name')))
      from jsonb_array_elements(new.package_details) d
      where d ->> 'name' <> all (failed) and coalesce(d ->> 'version', artifacts ->> (d ->> 'name')) is not null
        and (lower(d ->> 'status') in ('success', 'succeeded', 'installed', 'deployed')
          or (d -> 'skipped' = 'true' and d ->> 'version' is not null))), '{}') end;
  new.installs_all := new.status = 'Success' and cardinality(failed) = 0
    and (new.content_digest = 'unknown' or new.installed @> artifacts);
  return new;
end $_$;
COMMENT ON FUNCTION public.fill_deployed_content() IS '481b8242651734a4dcce82587d2b938e5d056c8802ab66ceb22f5907533c5ea0';
CREATE FUNCTION public.follow_gc_entries() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
  -- In key order, so that writers of the same counts wait for each other and never in a circle.
  if tg_op <> 'INSERT' then
    update gc_tally t set entries = t.entries - gone.n
    from (select tenant_id, project_id, branch, package_name, status, count(*) as n
      from removed group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5) gone
    where (t.tenant_id, t.project_id, t.branch, t.package_name, t.status)
      = (gone.tenant_id, gone.project_id, gone.branch, gone.package_name, gone.status);
  end if;
  if tg_op <> 'DELETE' then
    insert into gc_tally as t
    select tenant_id, project_id, branch, package_name, status, count(*)
    from added group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict (tenant_id, project_id, branch, package_name, status)
      do update set entries = t.entries + excluded.entries;
  end if;
  if tg_op = 'DELETE' then
    delete from gc_event v using removed r where v.tenant_id = r.tenant_id and v.entry_id = r.id;
    delete from gc_presence p using removed r where p.tenant_id = r.tenant_id and p.entry_id = r.id;
  end if;
  return null;
end $$;
COMMENT ON FUNCTION public.follow_gc_entries() IS 'f723aa5ecf36dc46e7b9fc225a0d590e88af486bd09c83ca544cdbe52c6fdcdc';
CREATE FUNCTION public.follow_work_item_requests() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
  -- In key order, so that writers of the same counts wait for each other and never in a circle.
  if tg_op = 'INSERT' then
    insert into work_item_request_tally as t
      (tenant_id, project_id, repository_identifier, platform, status, task_type, requests)
    select tenant_id, project_id, repository_identifier, platform, status, coalesce(task_type, '') as task_type,
      sum(n) as n
    from (select *, 1 as n from added) changed
    group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0 order by 1, 2, 3, 4, 5, 6
    on conflict (tenant_id, project_id, repository_identifier, platform, status, task_type)
      do update set requests = t.requests + excluded.requests;
  elsif tg_op = 'UPDATE' then
    insert into work_item_request_tally as t
      (tenant_id, project_id, repository_identifier, platform, status, task_type, requests)
    select tenant_id, project_id, repository_identifier, platform, status, coalesce(task_type, '') as task_type,
      sum(n) as n
    from (select *, -1 as n from removed union all select *, 1 from added) changed
    group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0 order by 1, 2, 3, 4, 5, 6
    on conflict (tenant_id, project_id, repository_identifier, platform, status, task_type)
      do update set requests = t.requests + excluded.requests;
  else
    -- With a project its counts are removed, too.
    update work_item_request_tally t set requests = t.requests - gone.n
    from (
      select tenant_id, project_id, repository_identifier, platform, status, coalesce(task_type, '') as task_type,
        sum(n) as n
      from (select *, 1 as n from removed) changed
      group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0 order by 1, 2, 3, 4, 5, 6) gone
    where (t.tenant_id, t.project_id, t.repository_identifier, t.platform, t.status, t.task_type)
      = (gone.tenant_id, gone.project_id, gone.repository_identifier, gone.platform, gone.status, gone.task_type);
  end if;
  return null;
end $$;
COMMENT ON FUNCTION public.follow_work_item_requests() IS 'c402bc1175b2c063f09846c83c329f7b2aeb7365bbf1937751dc7feb74f0b932';
CREATE FUNCTION public.gc_components(package jsonb) RETURNS TABLE(component_type text, full_name text)
    LANGUAGE sql IMMUTABLE ROWS 500 PARALLEL SAFE
    AS $_$
  select jsonb_path_query_first(t, 'lax $.name[*]') #>> '{}', m #>> '{}'
  from jsonb_path_query(package, 'lax $.types[*] ? (@.type() == "object")') t,
    jsonb_path_query(t, 'lax $.members[*] ? (@.type() == "string" && @ != "" || @.type() == "number")') m $_$;
COMMENT ON FUNCTION public.gc_components(package jsonb) IS '89582bc5903585dab5792bf87ca22098c5bcb5ea824ba90a1e2ee3941955bba3';
CREATE FUNCTION public.gc_components_elsewhere(of_project uuid, of_branch text) RETURNS TABLE(project_id uuid, component_type text, full_name text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 20000
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select p.id, c.component_type, c.full_name
  from project p
  join document d on d.tenant_id = p.tenant_id and d.store = 'packages'
    and d.collection = any (array['manifests/' || p.identifier || ':' || of_branch,
      'manifests/' || p.identifier || ':' || p.default_branch])
  cross join lateral (select d.value #> '{payload,Package}' as has offset 0) v
  cross join lateral (select h.* from gc_components(v.has) h where gc_is_package(v.has)) c
  where p.tenant_id = current_tenant() and p.id <> of_project
    and (current_projects() is null or of_project = any (current_projects())) $$;
COMMENT ON FUNCTION public.gc_components_elsewhere(of_project uuid, of_branch text) IS 'd08283e87171bc2b46a8dfb4fc9d45c57db4529c39fc519ed714a8dedf01aa93';
CREATE FUNCTION public.gc_is_package(package jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((jsonb_typeof(package) = 'object'::text) AND (NOT jsonb_path_exists(package, '$."types"[*]?(!((@.type() == "object" || @.type() == "null") || @.type() == "string" && @ == ""))'::jsonpath)) AND (NOT jsonb_path_exists(package, '$."types"[*]?(@.type() == "object" && (!(exists (@."name"?(@.type() == "string" && @ != ""))) || exists (@."members"[*]?((@.type() != "string" && @.type() != "number") && @.type() != "null"))))'::jsonpath)));
COMMENT ON FUNCTION public.gc_is_package(package jsonb) IS '64028ce7676cdde044a26d20c41cabbb2524d099111b652e473738043de2f619';
CREATE FUNCTION public.gc_manifests(of_project uuid, of_branch text) RETURNS TABLE(package_name text, kind text, component_type text, full_name text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 20000
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select d.key, c.kind, c.component_type, c.full_name
  from project p
  join document d on d.tenant_id = p.tenant_id and d.store = 'packages'
    and d.collection = 'manifests/' || p.identifier || ':' || of_branch
  cross join lateral (
    select d.value #> '{payload,Package}' as has, d.value->'destructiveChanges' as change,
      d.value #> '{destructiveChanges,Package}' as destroys offset 0) v
  cross join lateral (
    select gc_is_package(v.has) and (coalesce(jsonb_typeof(v.change), 'null') = 'null' or v.change = '""'
      or jsonb_typeof(v.change) = 'object' and (v.destroys is null or v.destroys = '""' or gc_is_package(v.destroys)))
      as is_readable offset 0) r
  cross join lateral (
    select case when r.is_readable then 'manifest' else 'unreadable' end as kind, null as component_type,
      null as full_name
    union all
    select 'has', h.component_type, h.full_name from gc_components(v.has) h where r.is_readable
    union all
    select 'destroys', h.component_type, h.full_name from gc_components(v.destroys) h where r.is_readable) c
  where p.tenant_id = current_tenant() and p.id = of_project
    and (current_projects() is null or p.id = any (current_projects())) $$;
COMMENT ON FUNCTION public.gc_manifests(of_project uuid, of_branch text) IS '1f2ba6ff75e9dc2e4f3d7bc80b40759d7dde94630b7c2b38ebd807525ad1984c';
CREATE FUNCTION public.gc_unreadable_elsewhere(of_project uuid, of_branch text) RETURNS integer
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select count(*)::int
  from project p
  join document d on d.tenant_id = p.tenant_id and d.store = 'packages'
    and d.collection = any (array['manifests/' || p.identifier || ':' || of_branch,
      'manifests/' || p.identifier || ':' || p.default_branch])
  where p.tenant_id = current_tenant() and p.id <> of_project
    and (current_projects() is null or of_project = any (current_projects()))
    and gc_is_package(d.value #> '{payload,Package}') is not true $$;
COMMENT ON FUNCTION public.gc_unreadable_elsewhere(of_project uuid, of_branch text) IS 'db4db9405e8c2dd45be6103f4c2405b4e5b97cc6f6f582c2f3c06112f61cc48c';
CREATE FUNCTION public.hook_secrets_of(of_platform text, of_identifier text) RETURNS TABLE(tenant_id uuid, project_id uuid, secret text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select f.tenant_id, f.project_id, good.secret from (
    select s.*, row_number() over (partition by s.tenant_id order by p.identifier = of_identifier desc, p.id) as place
    from project p join hook_secret s on s.tenant_id = p.tenant_id and s.project_id = p.id
    where p.platform in ('host-a', 'host-b', 'host-c') and lower(p.identifier) = lower(of_identifier)
      and (p.platform = of_platform or p.configuration #>> '{workItems,provider}' = of_platform)) f
  cross join lateral (
    select f.secret
    union all
    select f.previous_secret where f.previous_secret is not null and f.previous_until > now()) good
  where f.place <= 3 $$;
COMMENT ON FUNCTION public.hook_secrets_of(of_platform text, of_identifier text) IS 'ff00d464342c2c7d2943e379f03cf300146a208a2b8e584e408da3d6adebd9cf';
CREATE FUNCTION public.invitations_of(person uuid) RETURNS TABLE(id uuid, tenant_id uuid, email text, invited_by text, role text, teams text[], created_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select v.id, v.tenant_id, v.email, v.invited_by, (select m.role from invited_membership m
    where m.tenant_id = v.tenant_id and m.user_id = v.id order by role_rank(m.role) desc limit 1),
    array(select t.slug from invited_membership m join team t on t.tenant_id = m.tenant_id and t.id = m.team_id
      where m.tenant_id = v.tenant_id and m.user_id = v.id order by t.slug),
    v.created_at
  from invited_user v
  where v.email in (select a.email from user_alias a where a.user_id = person)
  order by v.created_at, v.id $$;
COMMENT ON FUNCTION public.invitations_of(person uuid) IS 'add2b54f52e7c5ed7d7c8121f8baab4911ec99a27165b8d83d2c2c6c1dbfc55c';
CREATE FUNCTION public.keep_account_address() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  if tg_op = 'UPDATE' then
    delete from user_alias where email = old.email and user_id = old.id;
  end if;
  insert into user_alias (email, user_id, provider) values (new.email, new.id, 'account');
  return null;
end $$;
COMMENT ON FUNCTION public.keep_account_address() IS '8ad6e3c7747a8f49af74849bbbc0166b4c3a62acae1afa674a23ea68346e0100';
CREATE FUNCTION public.keep_tenant_user() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  insert into tenant_user (tenant_id, user_id) values (new.tenant_id, new.user_id) on conflict do nothing;
  return null;
end $$;
COMMENT ON FUNCTION public.keep_tenant_user() IS 'fca18aea6cddf39348e3e8a3fe822f2e051ea8aa679bc19b821b8e2794ac5a44';
CREATE FUNCTION public.link_identity(for_user uuid, at_provider text, its_id text, its_username text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  holder uuid;
begin
  perform pg_advisory_xact_lock(hashtextextended('identity:' || at_provider, 0));
  select user_id into holder from user_identity where provider = at_provider and external_id = its_id;
  if holder is distinct from for_user and holder is not null then
    return false;
  end if;
  delete from user_identity where provider = at_provider and username = lower(its_username) and external_id <> its_id;
  insert into user_identity (provider, username, external_id, user_id)
  values (at_provider, lower(its_username), its_id, for_user)
  on conflict (provider, external_id) do update set username = excluded.username, updated_at = now();
  return true;
end $$;
COMMENT ON FUNCTION public.link_identity(for_user uuid, at_provider text, its_id text, its_username text) IS '52ceb6a7e587618768a145fc4e560efd701b784137ab748c329c45a8638a80d1';
CREATE FUNCTION public.mock_workspace_of(hash text) RETURNS TABLE(tenant_id uuid, workspace_id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select w.tenant_id, w.id from mock_workspace w where w.key_hash = hash $$;
COMMENT ON FUNCTION public.mock_workspace_of(hash text) IS 'ed85b91c5224a4a4c89355178d36c3bd9065f582ba286bcdaaf440368cfe6b47';
CREATE FUNCTION public.name_sandbox_in_environments(org uuid) RETURNS TABLE(id uuid, name text, repository_identifier text, short_name text)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  update environment e set org_username = naming.username, version = e.version + 1, updated_at = now()
  from (
    select n.id, n.org_username, o.username, p.identifier
    from crm_org o
    join environment n on n.tenant_id = o.tenant_id and lower(n.org_username) = lower(o.sandbox_name)
    join project p on p.tenant_id = n.tenant_id and p.id = n.project_id
    where o.tenant_id = current_tenant() and o.id = org
      and not exists (select from crm_org other where other.tenant_id = o.tenant_id and other.id <> o.id
        and lower(o.sandbox_name) in (lower(other.username), lower(other.sandbox_name)))
    order by n.id
    for update of n) naming
  where e.tenant_id = current_tenant() and e.id = naming.id
  returning e.id, e.name, naming.identifier, naming.org_username $$;
COMMENT ON FUNCTION public.name_sandbox_in_environments(org uuid) IS '04fd1c970ddd5525a194aba023f1506d57dcdee84acb05ff419044df8398e311';
CREATE FUNCTION public.named_orgs() RETURNS SETOF text
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select lower(e.org_username) from environment e
  where e.tenant_id = (select current_tenant()) and e.org_username is not null
  union
  select lower(e.dev_hub_username) from environment e
  where e.tenant_id = (select current_tenant()) and e.dev_hub_username is not null
  union
  select lower(hub) from project p,
    jsonb_array_elements_text(case jsonb_typeof(p.configuration->'devHubs') when 'array'
      then p.configuration->'devHubs' else '[]' end) hub
  where p.tenant_id = (select current_tenant()) $$;
COMMENT ON FUNCTION public.named_orgs() IS 'a63268b68fc10ce9fe58dd8d9798b9c8e4889295dccb36eb7b9a1055f743f62e';
CREATE FUNCTION public.note_package_versions() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  insert into package_version (tenant_id, project_id, name, version, candidate_id, commit_sha, created_at)
  select * from (
    select tenant_id, project_id, a.key as name, a.value as version, id as candidate_id, commit_sha, created_at
    from (select new.*) c, jsonb_each_text(
      case jsonb_typeof(c.value -> 'artifacts') when 'object' then c.value -> 'artifacts' else '{}' end) a) held
  order by name, version
  on conflict (tenant_id, project_id, name, version) do update
    set commit_sha = excluded.commit_sha where package_version.candidate_id = excluded.candidate_id;
  return null;
end $$;
COMMENT ON FUNCTION public.note_package_versions() IS '23f46fa06db7ae0c9862655d01689f62c83c57f3cef7967d0583b4cfb60f64dd';
CREATE FUNCTION public.open_invitation(hash text) RETURNS TABLE(tenant_id uuid, invitation_id uuid, user_id uuid, email text, role text, has_password boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select i.tenant_id, v.id, coalesce(u.id, v.id), coalesce(v.email, u.email),
    case when v.id is null then (select m.role from membership m where m.tenant_id = i.tenant_id and m.user_id = u.id
      order by role_rank(m.role) desc limit 1)
      else (select m.role from invited_membership m where m.tenant_id = i.tenant_id and m.user_id = v.id
        order by role_rank(m.role) desc limit 1) end,
    coalesce(u.password_hash is not null, false)
  from invitation i
  left join invited_user v on v.id = i.invited_user_id
  left join user_alias a on a.email = v.email
  left join user_account u on u.id = coalesce(i.user_id, a.user_id)
  where i.token_hash = hash and i.used_at is null and i.expires_at > now()
    and (v.id is not null or (u.password_hash is null
      and exists (select from membership m where m.tenant_id = i.tenant_id and m.user_id = u.id))) $$;
COMMENT ON FUNCTION public.open_invitation(hash text) IS '852674c37a05363398aa71fb059b21b88272ba2319bef159a0bcd6a12d37a2c1';
CREATE FUNCTION public.people_of_token(token uuid) RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select people_ids from application_token where id = token and tenant_id = current_tenant() $$;
COMMENT ON FUNCTION public.people_of_token(token uuid) IS '8bae90863abb45998ca14ea7d9721780eba0983dc0b10232437a29d9bacf1064';
CREATE FUNCTION public.person_of_address(address text, new_id uuid) RETURNS TABLE(user_id uuid, is_new boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  loop
    return query select a.user_id, false from user_alias a where a.email = lower(address);
    if found then return; end if;
    begin
      insert into user_account (id, email) values (new_id, lower(address));
      return query select new_id, true;
      return;
    exception when unique_violation then
      -- Somebody else made the person, or the alias, at this moment: the next look finds it.
      null;
    end;
  end loop;
end $$;
COMMENT ON FUNCTION public.person_of_address(address text, new_id uuid) IS '4566a1020822e8c55c3e496949f13fcad28cd5e309f77af42413f2ee07a1e3b0';
CREATE FUNCTION public.possible_approvers(approvers text[]) RETURNS TABLE(id text, email text, is_owner boolean, is_sole_owner boolean, teams text[])
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select u.id::text, u.email, bool_or(m.role = 'owner'),
    bool_or(m.role = 'owner') and not exists (
      select from membership o where o.tenant_id = current_tenant() and o.role = 'owner' and o.user_id <> u.id),
    coalesce(array_agg(t.slug) filter (where t.slug is not null), '{}')
  from membership m
  join user_account u on u.id = m.user_id
  left join team t on t.tenant_id = m.tenant_id and t.id = m.team_id
  where m.tenant_id = current_tenant() and m.role <> 'application'
  group by u.id
  having case when cardinality(approvers) = 0 then bool_or(m.role = 'owner')
    else exists (select from unnest(approvers) a where lower(a) = lower(u.email))
      or array_agg(t.slug) && approvers end $$;
COMMENT ON FUNCTION public.possible_approvers(approvers text[]) IS 'e0db9c34944c6f4aa8ea7f07bbbbf0c9894fe8dfb918ad12894e0ee22b25a801';
CREATE FUNCTION public.purge_build_previews() RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with removed as (
    delete from build_preview where ctid = any (array(
      select ctid from build_preview where requested_at < now() - interval '30 days' limit 10000)) returning 1)
  select count(*)::int from removed $$;
COMMENT ON FUNCTION public.purge_build_previews() IS 'ede5e1546e645dbc4495c93205cc06845351fcab69188974d93f11fbac56efc0';
CREATE FUNCTION public.purge_chat_actions() RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with removed as (
    delete from chat_action where ctid = any (array(
      select ctid from chat_action where created_at < now() - interval '8 days' limit 10000)) returning 1)
  select count(*)::int from removed $$;
COMMENT ON FUNCTION public.purge_chat_actions() IS 'a8c65f1903d3dcc440ab751f8d64e14ecab58b95f80b8323819a65158688f4af';
CREATE FUNCTION public.purge_hook_deliveries() RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with removed as (
    delete from hook_delivery where ctid = any (array(
      select ctid from hook_delivery where received_at < now() - interval '8 days' limit 10000)) returning 1)
  select count(*)::int from removed $$;
COMMENT ON FUNCTION public.purge_hook_deliveries() IS '38370ed484da8ac1404a5341cc6eba2bb4369faf90f7b4e1900747bafe48b8a1';
CREATE FUNCTION public.purge_idempotency_keys() RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with removed as (
    delete from idempotency_key where ctid = any (array(select ctid from idempotency_key
      where started_at < now() - interval '24 hours' limit 10000)) returning 1)
  select count(*)::int from removed $$;
COMMENT ON FUNCTION public.purge_idempotency_keys() IS '368e0913f9841bb49ae05c178efacccf7911d780904f3c096f83dc6369a36c70';
CREATE FUNCTION public.purge_invitations() RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with removed as (
    delete from invitation where ctid = any (array(
      select ctid from invitation where created_at < now() - interval '30 days' limit 10000)) returning 1)
  select count(*)::int from removed $$;
COMMENT ON FUNCTION public.purge_invitations() IS '05c2e8deafc4a014c65610a4fabd5a0bfb1ed574dde9c1f7b58b05f873ecb80b';
CREATE FUNCTION public.purge_known_sign_ins() RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with removed as (
    delete from known_sign_in where ctid = any (array(
      select ctid from known_sign_in where expires_at < now() limit 10000)) returning 1)
  select count(*)::int from removed $$;
COMMENT ON FUNCTION public.purge_known_sign_ins() IS '99dbac166e8d38f0387c2dbef427c494dd34eb53a1ccc70f2a5cd35710dab499';
CREATE FUNCTION public.purge_lock_tickets() RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with removed as (
    delete from environment_lock_ticket where ctid = any (array(
      select ctid from environment_lock_ticket where ended_at < now() - interval '90 days' limit 10000)) returning 1)
  select count(*)::int from removed $$;
COMMENT ON FUNCTION public.purge_lock_tickets() IS 'a6fa49bdde51502f023e2b16fbad16d62abb7db3c9e6422dbd49391e5187cb5a';
CREATE FUNCTION public.purge_pull_requests(days integer) RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with removed as (
    delete from pull_request where ctid = any (array(
      select ctid from pull_request
      where coalesce(ended_at, changed_at) < now() - make_interval(days => days) and state in ('closed', 'merged')
      limit 5000)) returning 1)
  select count(*)::int from removed $$;
COMMENT ON FUNCTION public.purge_pull_requests(days integer) IS 'ced84d1efd8e777ed49abbc7b93cb85ef83092191c41f88927837df8b1c74b6a';
CREATE FUNCTION public.purge_rate_limits() RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with removed as (
    delete from rate_limit where ctid = any (array(
      select ctid from rate_limit where expires_at < now() limit 10000)) returning 1)
  select count(*)::int from removed $$;
COMMENT ON FUNCTION public.purge_rate_limits() IS 'd58e92dd8be1d728a30fde5bc1d850669305d3e2de123f919378062b670bfe5f';
CREATE FUNCTION public.purge_reviews(days integer) RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with assignments as (
    delete from review_assignment where ctid = any (array(
      select ctid from review_assignment
      where ended_at < now() - make_interval(days => days) and state in ('released', 'expired', 'failed')
      limit 5000)) returning 1),
  orgs as (
    delete from review_instance where ctid = any (array(
      select ctid from review_instance
      where state_changed_at < now() - make_interval(days => days) and state in ('expired', 'failed')
      limit 5000)) returning 1)
  select (select count(*) from assignments)::int + (select count(*) from orgs)::int $$;
COMMENT ON FUNCTION public.purge_reviews(days integer) IS 'c57ab0016116e1d2bfc9ae78932eed27e0295eeaf572a77623f8daf6ee635672';
CREATE FUNCTION public.purge_run_tokens() RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with removed as (
    delete from run_token where ctid = any (array(
      select ctid from run_token where expires_at < now() limit 10000)) returning 1)
  select count(*)::int from removed $$;
COMMENT ON FUNCTION public.purge_run_tokens() IS '48cb90d57e844f941d6b53fe44ca6c0660b4ce2307076e2c7d1fec4541ab52eb';
CREATE FUNCTION public.purge_sessions() RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with removed as (
    delete from auth_session where ctid = any (array(
      select ctid from auth_session where expires_at < now()
        or revoked_at < now() - interval '30 days' limit 10000)) returning 1)
  select count(*)::int from removed $$;
COMMENT ON FUNCTION public.purge_sessions() IS '307a4c650b0fcdc6749f17e6e5fc65d1f8d76577d784d066d514f58f015b0fa4';
CREATE FUNCTION public.purge_sign_in_failures() RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with removed as (
    delete from sign_in_failure where ctid = any (array(
      select ctid from sign_in_failure where expire < extract(epoch from now()) * 1000 limit 10000)) returning 1)
  select count(*)::int from removed $$;
COMMENT ON FUNCTION public.purge_sign_in_failures() IS 'f2ea0ecd6c0b39bd27aa183af77833a76085c37d4995bb267cd7bdaced1677af';
CREATE FUNCTION public.refuse_new_slug() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin raise exception 'the slug of a tenant never changes: ids of workflows contain it'; end $$;
COMMENT ON FUNCTION public.refuse_new_slug() IS 'be769f2b33997d6248b3748e598646e012a6cf826171e4eaae4b093b2bb0fa49';
CREATE FUNCTION public.release_content_digest(commit_sha text, definition jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  -- RFC 8785: members in order, no spaces.
  select encode(sha256(convert_to('{"artifacts":{' || coalesce((
      select string_agg(to_json(key)::text || ':' || to_json(value)::text, ',' order by key collate "C")
      from jsonb_each_text(case jsonb_typeof(definition -> 'artifacts') when 'object' then definition -> 'artifacts'
        else '{}' end)
    ), '') || '},"commitSha":' || to_json(lower(commit_sha)) || '}', 'UTF8')), 'hex') $$;
COMMENT ON FUNCTION public.release_content_digest(commit_sha text, definition jsonb) IS '7b5ee900b3dca7b70a12d824ac9b35a25ba481b6da0a18582c7c6ecba6cc70b9';
CREATE FUNCTION public.role_rank(role text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE role WHEN 'owner'::text THEN 3 WHEN 'application'::text THEN 2 ELSE 1 END;
COMMENT ON FUNCTION public.role_rank(role text) IS '53d11ae1ff98bee08d1102317782e3454eeb575c1d959abde11266070707780d';
CREATE FUNCTION public.set_password(person uuid, new_hash text, kept_session uuid) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  update user_account set password_hash = new_hash, updated_at = now() where id = person;
  update auth_session set revoked_at = now()
    where user_id = person and revoked_at is null and id is distinct from kept_session;
end $$;
COMMENT ON FUNCTION public.set_password(person uuid, new_hash text, kept_session uuid) IS '39339bea3f46e39226a4501cff8a6968d25ea0ed91ad98fbd12c545c598d8851';
CREATE FUNCTION public.settle_flow_run_tally() RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  with gone as (delete from flow_run_tally where not is_settled returning *),
    summed as (
      insert into flow_run_tally as t (tenant_id, project_id, status, display_status, category, task_type, flow_path,
        execution_mode, work_item_type, is_internal, is_scheduled, runs, is_settled)
      select tenant_id, project_id, status, display_status, category, task_type, flow_path,
        execution_mode, work_item_type, is_internal, is_scheduled, sum(runs), true
      from gone
      group by tenant_id, project_id, status, display_status, category, task_type, flow_path,
        execution_mode, work_item_type, is_internal, is_scheduled
      having sum(runs) <> 0
      on conflict (tenant_id, project_id, status, display_status, category, task_type, flow_path,
        execution_mode, work_item_type, is_internal, is_scheduled) where is_settled
        do update set runs = t.runs + excluded.runs)
  select count(*)::int from gone $$;
COMMENT ON FUNCTION public.settle_flow_run_tally() IS '1638fc62eba1061fe8920c8fcc0dc34d32703cb9df59a290951fb13d39e0eddd';
CREATE FUNCTION public.tally_flow_run() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  if tg_op <> 'INSERT' then
    insert into flow_run_tally (tenant_id, project_id, status, display_status, category, task_type, flow_path,
      execution_mode, work_item_type, is_internal, is_scheduled, runs)
    values (old.tenant_id, old.project_id, old.status, old.display_status, old.category, old.task_type, old.flow_path,
      old.execution_mode, old.work_item_type, old.is_internal, old.is_scheduled, -1);
  end if;
  if tg_op <> 'DELETE' then
    insert into flow_run_tally (tenant_id, project_id, status, display_status, category, task_type, flow_path,
      execution_mode, work_item_type, is_internal, is_scheduled, runs)
    values (new.tenant_id, new.project_id, new.status, new.display_status, new.category, new.task_type, new.flow_path,
      new.execution_mode, new.work_item_type, new.is_internal, new.is_scheduled, 1);
  end if;
  return null;
end $$;
COMMENT ON FUNCTION public.tally_flow_run() IS 'bb651f1d297f66686cd4febdfe736bb1e4973f7783b735eaabfefe248e70aff2';
CREATE FUNCTION public.tenant_slug(tenant uuid) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select slug from tenant t where t.id = tenant $$;
COMMENT ON FUNCTION public.tenant_slug(tenant uuid) IS 'b14dc4293e141378a391bb569b191efd11bd36c4822dce2a63c925bc65bafe11';
CREATE FUNCTION public.use_invitation(hash text, new_hash text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  opened record;
begin
  -- Of two that use a link at once, the second finds it used.
  perform from invitation where token_hash = hash for update;
  select * into opened from open_invitation(hash);
  if not found or (not opened.has_password and new_hash is null) then return false; end if;
  if opened.invitation_id is not null and accept_invitation(opened.invitation_id, opened.user_id) is null then
    return false;
  end if;
  update invitation set used_at = now(), updated_at = now() where token_hash = hash;
  -- Of two that use links of the same person at once, the second finds a password.
  perform from user_account where id = opened.user_id and password_hash is null for no key update;
  if found and new_hash is not null then
    perform set_password(opened.user_id, new_hash, null);
    return true;
  end if;
  return opened.invitation_id is not null;
end $$;
COMMENT ON FUNCTION public.use_invitation(hash text, new_hash text) IS '6965efa76d27b3a169eb5df11cc3be84192b421734bf5ce6b27356a83ca35962';
CREATE FUNCTION public.user_of_address(address text) RETURNS uuid
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select user_id from user_alias where email = lower(address) $$;
COMMENT ON FUNCTION public.user_of_address(address text) IS '56bc5c8f1c7a6406d6cbd666d25772d71277a1faa93df24f70c2aa71e37a8628';
CREATE FUNCTION public.waiting_metric_windows() RETURNS TABLE(tenant_id uuid, windows integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
  select w.tenant_id, count(*)::int from metric_window w where not w.is_sent group by w.tenant_id $$;
COMMENT ON FUNCTION public.waiting_metric_windows() IS '9151d7b65eb0f999876317789e15d4fd65bfdc98d6dda43f107e037f2e20eb6f';
CREATE FUNCTION public.webhook_deliver(for_tenant uuid, delivery_ids uuid[], webhook_ids uuid[], payloads text[], traceparents text[], audit_entries jsonb[]) RETURNS TABLE(request integer, status text, failure_reason text, event text, url text, method text)
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  perform set_config('app.tenant_id', for_tenant::text, true);
  return query
    with asked as materialized (
      select r.ordinality::int as request, r.id, r.payload, r.traceparent, r.entry, w.id as webhook_id,
        w.repository_identifier,
        'Webhook ' || w.name || ': delivery queued' as summary, w.status, w.failure_reason, w.event, w.url, w.method
      from unnest(delivery_ids, webhook_ids, payloads, traceparents, audit_entries)
        with ordinality as r (id, webhook_id, payload, traceparent, entry)
      join webhook w on w.tenant_id = for_tenant and w.id = r.webhook_id and w.deleted_at is null),
    inserted as (
      insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, traceparent)
      select a.id, for_tenant, a.webhook_id, a.event, a.payload::json, a.traceparent from asked a
        where a.status = 'active'),
    audited as materialized (
      select audit_append(for_tenant, jsonb_agg(a.entry || jsonb_build_object(
        'repositoryIdentifier', a.repository_identifier,
        'summary', a.summary,
        'middle', '","repositoryIdentifier":' || coalesce(to_json(a.repository_identifier)::text, 'null')
          || ',"requestId":' || coalesce(to_json(a.entry->>'requestId')::text, 'null') || ',"sequence":',
        'tail', ',"source":' || to_json(a.entry->>'source') || ',"summary":' || to_json(a.summary) || '}')
        order by a.request))
      from asked a where a.status = 'active' having count(*) > 0)
    select a.request, a.status, a.failure_reason, a.event, a.url, a.method from asked a left join audited on true;
end $$;
COMMENT ON FUNCTION public.webhook_deliver(for_tenant uuid, delivery_ids uuid[], webhook_ids uuid[], payloads text[], traceparents text[], audit_entries jsonb[]) IS '55d19d913636da2498b5d2d822a8225a07a951f4d20699d7b13d1416ff2f5f77';
CREATE FUNCTION public.webhook_events() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  if new.events is null or (tg_op = 'UPDATE' and new.event <> old.event and new.events = old.events) then
    new.events := array[new.event];
  end if;
  return new;
end $$;
COMMENT ON FUNCTION public.webhook_events() IS '3bb0c22b562b23f89ea8725204ec48384747e939e0541ee77c41b769d85776f8';
CREATE FUNCTION public.webhook_lane_names(webhooks uuid[]) RETURNS TABLE("webhookId" uuid, "laneName" text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
  select id, lane_name from webhook where tenant_id = current_tenant() and id = any(webhooks) $$;
COMMENT ON FUNCTION public.webhook_lane_names(webhooks uuid[]) IS 'a71d1e9e92aa0ddc745ca721ddeb7841138d0fd78ff2f8e8325a0d862ab4e8d8';
CREATE FUNCTION public.webhook_subscribe() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION public.webhook_subscribe() IS 'f08a6fc3e8fdd80e6942703bfe3d13875e8f1b0b865662fc3771f908c654116a';
CREATE FUNCTION public.webhook_trigger(for_tenant uuid, events text[], payloads text[], traceparents text[], audit_entries jsonb) RETURNS TABLE(request integer, delivery_id uuid, webhook_id uuid)
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  perform set_config('app.tenant_id', for_tenant::text, true);
  return query
    with queued as materialized (
      select r.ordinality::int as request, uuidv7() as id, s.webhook_id, r.event, r.payload, r.traceparent
      from unnest(events, payloads, traceparents) with ordinality as r (event, payload, traceparent)
      join webhook_subscription s on s.tenant_id = for_tenant and s.event in (r.event, event_group(r.event))),
    inserted as (
      insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, traceparent)
      select q.id, for_tenant, q.webhook_id, q.event, q.payload::json, q.traceparent from queued q)
    select q.request, q.id, q.webhook_id from queued q;
  perform audit_append(for_tenant, audit_entries);
end $$;
COMMENT ON FUNCTION public.webhook_trigger(for_tenant uuid, events text[], payloads text[], traceparents text[], audit_entries jsonb) IS 'cc4ce4f6836312150b882fd0f24ca2fc6f062a56f051f96b81dfe98c2cdf0492';
CREATE AGGREGATE public.jsonb_overlaid(jsonb) (
    SFUNC = jsonb_concat,
    STYPE = jsonb,
    INITCOND = '{}',
    PARALLEL = safe
);
COMMENT ON AGGREGATE public.jsonb_overlaid(jsonb) IS '0af6dccfd82265ae5113523edcdb62a92df57e263fab7e34f24ad1b0f38db006';
CREATE TABLE public.ai_budget_month (
    tenant_id uuid NOT NULL,
    integration_id uuid NOT NULL,
    month date NOT NULL,
    spent double precision DEFAULT 0 NOT NULL,
    warned_at timestamp(3) with time zone,
    warned_of double precision
);
ALTER TABLE ONLY public.ai_budget_month FORCE ROW LEVEL SECURITY;
CREATE TABLE public.ai_call (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    task_execution_id uuid NOT NULL,
    integration_id uuid NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    outcome text NOT NULL,
    estimate double precision NOT NULL,
    lease_until timestamp(3) with time zone,
    input integer,
    output integer,
    reasoning integer,
    cache_read integer,
    cache_write integer,
    is_estimated boolean DEFAULT false NOT NULL,
    cost double precision,
    duration_ms integer,
    error text,
    started_at timestamp(3) with time zone NOT NULL,
    ended_at timestamp(3) with time zone,
    CONSTRAINT ai_call_estimate_check CHECK ((estimate >= (0)::double precision)),
    CONSTRAINT ai_call_provider_check CHECK ((provider = ANY (ARRAY['openai'::text, 'anthropic'::text])))
);
ALTER TABLE ONLY public.ai_call FORCE ROW LEVEL SECURITY;
CREATE TABLE public.ai_report (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid NOT NULL,
    branch text NOT NULL COLLATE pg_catalog."C",
    scope text NOT NULL,
    scope_name text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    commit_sha text,
    analyzed_at timestamp(3) with time zone NOT NULL,
    markdown text,
    provider text,
    model text,
    execution_time_ms integer,
    task_execution_id text,
    usage jsonb,
    cost double precision,
    error text,
    requested_by text NOT NULL,
    prompt_version integer,
    facts_digest text,
    fact_count integer,
    dropped_claims integer,
    facts jsonb,
    answer text,
    findings jsonb,
    CONSTRAINT ai_report_scope_check CHECK ((scope = ANY (ARRAY['repository'::text, 'domain'::text, 'package'::text]))),
    CONSTRAINT ai_report_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'failed'::text])))
);
ALTER TABLE ONLY public.ai_report FORCE ROW LEVEL SECURITY;
CREATE TABLE public.ai_usage_day (
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    day date NOT NULL,
    measure text NOT NULL,
    amount double precision NOT NULL
);
ALTER TABLE ONLY public.ai_usage_day FORCE ROW LEVEL SECURITY;
CREATE TABLE public.application_token (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    name text NOT NULL,
    token_hash text NOT NULL,
    project_ids uuid[],
    expires_at timestamp(3) with time zone NOT NULL,
    last_used_at timestamp(3) with time zone,
    created_by text NOT NULL,
    revoked_at timestamp(3) with time zone,
    rotated_at timestamp(3) with time zone,
    previous_hash text,
    previous_until timestamp(3) with time zone,
    expiry_announced_at timestamp(3) with time zone,
    people_ids text[] DEFAULT '{}'::text[] NOT NULL
);
ALTER TABLE ONLY public.application_token FORCE ROW LEVEL SECURITY;
CREATE TABLE public.approval (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid,
    repository_identifier text,
    run_id uuid NOT NULL,
    task_type text NOT NULL,
    environment_id uuid,
    environment_name text,
    domain text,
    release_name text,
    status text DEFAULT 'requested'::text NOT NULL,
    approvers text[] NOT NULL,
    min_approvals integer NOT NULL,
    allow_self_approval boolean NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    requester_id text NOT NULL,
    requested_by text NOT NULL,
    resolved_by text,
    resolved_at timestamp(3) with time zone,
    comment text,
    confirmed_at timestamp(3) with time zone,
    run_notified_at timestamp(3) with time zone,
    requester_ids text[] DEFAULT '{}'::text[] NOT NULL,
    allow_sole_owner boolean DEFAULT false NOT NULL,
    content_digest text,
    CONSTRAINT approval_status_check CHECK ((status = ANY (ARRAY['requested'::text, 'approved'::text, 'rejected'::text, 'expired'::text, 'stale'::text])))
);
ALTER TABLE ONLY public.approval FORCE ROW LEVEL SECURITY;
CREATE TABLE public.approval_event (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    project_id uuid,
    repository_identifier text,
    approval_id uuid,
    run_id uuid NOT NULL,
    task_type text NOT NULL,
    environment_name text,
    domain text,
    release_name text,
    status text NOT NULL,
    source text NOT NULL,
    voter_id text,
    vote text,
    approvers text[] NOT NULL,
    requested_by text NOT NULL,
    requested_at timestamp(3) with time zone NOT NULL,
    resolved_by text,
    resolved_at timestamp(3) with time zone,
    comment text,
    occurred_at timestamp(3) with time zone NOT NULL,
    override jsonb,
    CONSTRAINT approval_event_check CHECK (((approval_id IS NULL) = (status = 'overridden'::text))),
    CONSTRAINT approval_event_status_check CHECK ((status = ANY (ARRAY['requested'::text, 'approved'::text, 'rejected'::text, 'expired'::text, 'stale'::text, 'overridden'::text]))),
    CONSTRAINT approval_event_vote_check CHECK ((vote = ANY (ARRAY['approve'::text, 'reject'::text])))
);
ALTER TABLE ONLY public.approval_event FORCE ROW LEVEL SECURITY;
CREATE TABLE public.audit_entry (
    tenant_id uuid NOT NULL,
    sequence bigint NOT NULL,
    id uuid NOT NULL,
    occurred_at timestamp(3) with time zone NOT NULL,
    source text NOT NULL,
    action text NOT NULL,
    actor jsonb NOT NULL,
    repository_identifier text,
    entity_type text NOT NULL,
    entity_id text,
    summary text NOT NULL,
    before jsonb,
    after jsonb,
    request_id text,
    prev_hash text NOT NULL,
    hash text NOT NULL,
    actor_email text GENERATED ALWAYS AS ((actor ->> 'email'::text)) STORED NOT NULL,
    actor_id text GENERATED ALWAYS AS ((actor ->> 'id'::text)) STORED NOT NULL
);
ALTER TABLE ONLY public.audit_entry FORCE ROW LEVEL SECURITY;
CREATE TABLE public.audit_export (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    status text DEFAULT 'queued'::text NOT NULL,
    filters jsonb NOT NULL,
    requested_by text NOT NULL,
    requested_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    upper_sequence bigint NOT NULL,
    object_key text,
    file_name text,
    row_count bigint,
    file_size_bytes bigint,
    sha256 text,
    error text,
    completed_at timestamp(3) with time zone,
    expires_at timestamp(3) with time zone NOT NULL
);
ALTER TABLE ONLY public.audit_export FORCE ROW LEVEL SECURITY;
CREATE TABLE public.audit_head (
    tenant_id uuid NOT NULL,
    sequence bigint NOT NULL,
    hash text NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE ONLY public.audit_head FORCE ROW LEVEL SECURITY;
CREATE TABLE public.audit_tally (
    tenant_id uuid NOT NULL,
    facet text NOT NULL,
    value text NOT NULL COLLATE pg_catalog."C",
    hour timestamp with time zone NOT NULL,
    entries bigint NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE ONLY public.audit_tally FORCE ROW LEVEL SECURITY;
CREATE TABLE public.auth_session (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    user_id uuid NOT NULL,
    aal text DEFAULT 'aal1'::text NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    revoked_at timestamp(3) with time zone,
    cookie_hash text,
    begun_from uuid
);
ALTER TABLE ONLY public.auth_session FORCE ROW LEVEL SECURITY;
CREATE TABLE public.browser_host (
    id uuid NOT NULL,
    name text NOT NULL,
    queue text NOT NULL,
    isolation text NOT NULL,
    records boolean NOT NULL,
    trouble text,
    places integer NOT NULL,
    places_used integer DEFAULT 0 NOT NULL,
    started_at timestamp(3) with time zone NOT NULL,
    seen_at timestamp(3) with time zone NOT NULL,
    address text,
    start_url_key text,
    CONSTRAINT browser_host_isolation_check CHECK ((isolation = ANY (ARRAY['jailed'::text, 'sandboxed'::text, 'none'::text]))),
    CONSTRAINT browser_host_places_check CHECK ((places >= 0))
);
ALTER TABLE ONLY public.browser_host FORCE ROW LEVEL SECURITY;
CREATE TABLE public.browser_live_link (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid NOT NULL,
    session_id uuid NOT NULL,
    mode text NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    revoked_at timestamp(3) with time zone,
    created_by jsonb NOT NULL,
    CONSTRAINT browser_live_link_mode_check CHECK ((mode = ANY (ARRAY['watch'::text, 'control'::text])))
);
ALTER TABLE ONLY public.browser_live_link FORCE ROW LEVEL SECURITY;
CREATE TABLE public.browser_replay_page (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    page_id integer NOT NULL,
    project_id uuid NOT NULL,
    title text DEFAULT ''::text NOT NULL,
    started_at timestamp(3) with time zone NOT NULL,
    ended_at timestamp(3) with time zone,
    segments integer DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    is_whole boolean DEFAULT true NOT NULL,
    reason text,
    CONSTRAINT browser_replay_page_page_id_check CHECK (((page_id >= 0) AND (page_id <= 999)))
);
ALTER TABLE ONLY public.browser_replay_page FORCE ROW LEVEL SECURITY;
CREATE TABLE public.browser_session (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid NOT NULL,
    pr_number integer,
    environment_id uuid,
    assignment_id uuid,
    org_username text NOT NULL,
    provider text NOT NULL,
    status text DEFAULT 'provisioning'::text NOT NULL,
    status_reason text,
    status_detail text,
    isolation text,
    provider_session_id text,
    live_view_url text,
    host_id uuid,
    minutes integer NOT NULL,
    start_path text,
    viewport jsonb NOT NULL,
    allowed_hosts jsonb DEFAULT '[]'::jsonb NOT NULL,
    is_recorded boolean DEFAULT true NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    recording_state text DEFAULT 'none'::text NOT NULL,
    recording_pages integer DEFAULT 0 NOT NULL,
    recording_bytes bigint DEFAULT 0 NOT NULL,
    recording_reason text,
    flow_run_id uuid,
    created_by jsonb NOT NULL,
    live_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    released_at timestamp(3) with time zone,
    removed_at timestamp(3) with time zone,
    seen_at timestamp(3) with time zone,
    CONSTRAINT browser_session_isolation_check CHECK ((isolation = ANY (ARRAY['jailed'::text, 'sandboxed'::text, 'none'::text]))),
    CONSTRAINT browser_session_minutes_check CHECK (((minutes >= 1) AND (minutes <= 60))),
    CONSTRAINT browser_session_provider_check CHECK ((provider = ANY (ARRAY['local'::text, 'browserbase'::text, 'external'::text]))),
    CONSTRAINT browser_session_recording_state_check CHECK ((recording_state = ANY (ARRAY['none'::text, 'recording'::text, 'processing'::text, 'ready'::text, 'partial'::text, 'expired'::text]))),
    CONSTRAINT browser_session_status_check CHECK ((status = ANY (ARRAY['provisioning'::text, 'live'::text, 'ended'::text, 'expired'::text, 'error'::text])))
);
ALTER TABLE ONLY public.browser_session FORCE ROW LEVEL SECURITY;
CREATE TABLE public.browser_session_event (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    number bigint NOT NULL,
    project_id uuid NOT NULL,
    occurred_at timestamp(3) with time zone NOT NULL,
    kind text NOT NULL,
    summary text NOT NULL,
    by_email text NOT NULL,
    data jsonb DEFAULT '{}'::jsonb NOT NULL
);
ALTER TABLE ONLY public.browser_session_event FORCE ROW LEVEL SECURITY;
ALTER TABLE public.browser_session_event ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.browser_session_event_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.build_preview (
    preview_key text NOT NULL,
    branch text NOT NULL,
    commit_sha text NOT NULL,
    base_sha text,
    forced_domains jsonb DEFAULT '[]'::jsonb NOT NULL,
    forced_packages jsonb DEFAULT '[]'::jsonb NOT NULL,
    generation integer DEFAULT 1 NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    impacted_domains jsonb DEFAULT '[]'::jsonb NOT NULL,
    message text,
    requested_at timestamp with time zone DEFAULT now() NOT NULL,
    computed_at timestamp(3) with time zone,
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    CONSTRAINT build_preview_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'available'::text, 'error'::text])))
);
ALTER TABLE ONLY public.build_preview FORCE ROW LEVEL SECURITY;
CREATE TABLE public.build_status (
    commit_sha text NOT NULL,
    branch text,
    commit_message text,
    commit_author text,
    commit_date timestamp(3) with time zone NOT NULL,
    ci_info jsonb,
    workflow_status jsonb DEFAULT '{}'::jsonb NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    first_seen_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    last_updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    CONSTRAINT build_status_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text])))
);
ALTER TABLE ONLY public.build_status FORCE ROW LEVEL SECURITY;
CREATE TABLE public.chat_action (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    signature text NOT NULL,
    event_id text,
    content jsonb NOT NULL,
    response_url text,
    status text DEFAULT 'pending'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    due_at timestamp(6) with time zone DEFAULT now() NOT NULL,
    lease_until timestamp(3) with time zone,
    error text,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    completed_at timestamp(3) with time zone,
    CONSTRAINT chat_action_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'done'::text, 'failed'::text])))
);
ALTER TABLE ONLY public.chat_action FORCE ROW LEVEL SECURITY;
CREATE TABLE public.chat_message (
    tenant_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    channel text NOT NULL,
    ts text NOT NULL,
    approval_id uuid NOT NULL,
    wanted_revision integer DEFAULT 0 NOT NULL,
    shown_revision integer DEFAULT 0 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    due_at timestamp(6) with time zone DEFAULT now() NOT NULL,
    lease_until timestamp(3) with time zone,
    error text,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY public.chat_message FORCE ROW LEVEL SECURITY;
CREATE TABLE public.chat_workspace (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    team_id text NOT NULL,
    team_name text NOT NULL,
    app_id text,
    app_name text,
    bot_user_id text,
    bot_token text NOT NULL,
    app_token text,
    signing_secret text NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    created_by text NOT NULL,
    connected_at timestamp(3) with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY public.chat_workspace FORCE ROW LEVEL SECURITY;
CREATE TABLE public.code_analysis (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid NOT NULL,
    branch text NOT NULL COLLATE pg_catalog."C",
    commit_id text NOT NULL COLLATE pg_catalog."C",
    analyzed_at timestamp(3) with time zone NOT NULL,
    duration_ms double precision,
    summary jsonb NOT NULL,
    engine text,
    triggered_by text NOT NULL,
    is_scheduled boolean DEFAULT false NOT NULL,
    body_id uuid CONSTRAINT code_analysis_body_id_not_null1 NOT NULL,
    indexed_at timestamp(3) with time zone,
    compared_at timestamp(3) with time zone,
    announced_at timestamp(3) with time zone,
    base_id uuid,
    new_issues integer,
    fixed_issues integer,
    gate jsonb,
    status_due boolean DEFAULT false NOT NULL,
    status_error text
);
ALTER TABLE ONLY public.code_analysis FORCE ROW LEVEL SECURITY;
CREATE TABLE public.code_analysis_body (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    size_bytes bigint,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY public.code_analysis_body FORCE ROW LEVEL SECURITY;
CREATE TABLE public.code_analysis_result (
    tenant_id uuid NOT NULL,
    analysis_id uuid NOT NULL,
    fingerprint text NOT NULL COLLATE pg_catalog."C",
    ordinal integer NOT NULL,
    project_id uuid NOT NULL,
    "position" integer NOT NULL,
    tool text NOT NULL,
    rule_id text NOT NULL,
    level text NOT NULL,
    path text NOT NULL,
    start_line integer,
    message text NOT NULL,
    CONSTRAINT code_analysis_result_level_check CHECK ((level = ANY (ARRAY['error'::text, 'warning'::text, 'note'::text, 'none'::text])))
);
ALTER TABLE ONLY public.code_analysis_result FORCE ROW LEVEL SECURITY;
CREATE TABLE public.code_analysis_schedule (
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    branch text NOT NULL COLLATE pg_catalog."C",
    last_night date,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY public.code_analysis_schedule FORCE ROW LEVEL SECURITY;
CREATE TABLE public.crm_org (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    username text NOT NULL,
    sandbox_name text,
    kind text NOT NULL,
    instance_url text NOT NULL,
    platform_org_id text NOT NULL,
    organization_type text NOT NULL,
    instance_name text,
    parent_production_username text,
    is_jit_registration boolean DEFAULT false NOT NULL,
    is_dev_hub boolean DEFAULT false NOT NULL,
    is_default boolean DEFAULT false NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    expires_at timestamp(3) with time zone,
    expiry_announced_at timestamp(3) with time zone,
    health_status text DEFAULT 'unknown'::text NOT NULL,
    health_checked_at timestamp(3) with time zone,
    health_error text,
    health_hint text,
    CONSTRAINT crm_org_check CHECK ((is_dev_hub OR (NOT is_default))),
    CONSTRAINT crm_org_health_status_check CHECK ((health_status = ANY (ARRAY['ok'::text, 'auth_failed'::text, 'unreachable'::text, 'limited'::text, 'unknown'::text]))),
    CONSTRAINT crm_org_kind_check CHECK ((kind = ANY (ARRAY['production'::text, 'sandbox'::text, 'scratch'::text])))
);
ALTER TABLE ONLY public.crm_org FORCE ROW LEVEL SECURITY;
CREATE TABLE public.crm_token (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    org_id uuid NOT NULL,
    reached_name text DEFAULT ''::text NOT NULL,
    credential text,
    credential_version integer DEFAULT 1 NOT NULL,
    access_token text,
    instance_url text,
    minted_at timestamp(3) with time zone,
    username text,
    platform_org_id text,
    generation integer DEFAULT 0 NOT NULL,
    failure jsonb,
    lease_id uuid,
    lease_until timestamp(3) with time zone,
    api_calls_used integer,
    api_calls_max integer,
    api_calls_at timestamp(3) with time zone
);
ALTER TABLE ONLY public.crm_token FORCE ROW LEVEL SECURITY;
CREATE TABLE public.document (
    tenant_id uuid NOT NULL,
    store text NOT NULL COLLATE pg_catalog."C",
    collection text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    value jsonb NOT NULL,
    size_bytes integer NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    updated_by text NOT NULL,
    CONSTRAINT document_store_check CHECK ((store = ANY (ARRAY['doc'::text, 'changelog'::text, 'packages'::text, 'builds'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');
ALTER TABLE ONLY public.document FORCE ROW LEVEL SECURITY;
CREATE TABLE public.document_collection (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY public.document_collection FORCE ROW LEVEL SECURITY;
CREATE TABLE public.document_version (
    tenant_id uuid NOT NULL,
    store text NOT NULL COLLATE pg_catalog."C",
    collection text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    value jsonb NOT NULL,
    size_bytes integer NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    updated_by text NOT NULL
);
ALTER TABLE ONLY public.document_version FORCE ROW LEVEL SECURITY;
CREATE TABLE public.environment (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    category text NOT NULL,
    org_username text,
    dev_hub_username text,
    branch text DEFAULT '**'::text NOT NULL,
    orchestration_order integer DEFAULT 0 NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    tags jsonb DEFAULT '[]'::jsonb NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    approval_policy jsonb,
    version integer DEFAULT 1 NOT NULL,
    promotion jsonb,
    browser jsonb,
    CONSTRAINT environment_category_check CHECK ((category = ANY (ARRAY['dev'::text, 'test'::text, 'snapshot'::text, 'release'::text])))
);
ALTER TABLE ONLY public.environment FORCE ROW LEVEL SECURITY;
CREATE TABLE public.environment_lock_ticket (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid NOT NULL,
    environment_id uuid NOT NULL,
    number bigint NOT NULL,
    holder jsonb NOT NULL,
    holder_key text NOT NULL,
    execution_id text,
    run_id uuid,
    reason text,
    lease_minutes double precision NOT NULL,
    state text DEFAULT 'asked'::text NOT NULL,
    held_at timestamp(3) with time zone,
    expires_at timestamp with time zone,
    ended_at timestamp(3) with time zone,
    CONSTRAINT environment_lock_ticket_state_check CHECK ((state = ANY (ARRAY['asked'::text, 'queued'::text, 'held'::text, 'released'::text, 'expired'::text, 'withdrawn'::text])))
);
ALTER TABLE ONLY public.environment_lock_ticket FORCE ROW LEVEL SECURITY;
ALTER TABLE public.environment_lock_ticket ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.environment_lock_ticket_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.flow_check (
    tenant_id uuid NOT NULL,
    run_id uuid NOT NULL,
    kind text NOT NULL,
    wanted jsonb NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    written_revision integer DEFAULT 0 NOT NULL,
    error text,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    CONSTRAINT flow_check_kind_check CHECK ((kind = ANY (ARRAY['check'::text, 'validation'::text, 'status'::text, 'label'::text])))
);
ALTER TABLE ONLY public.flow_check FORCE ROW LEVEL SECURITY;
CREATE TABLE public.flow_run (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid,
    environment_id uuid,
    parent_id uuid,
    schedule_id uuid,
    rerun_of_id uuid,
    rerun_type text,
    has_workflow boolean NOT NULL,
    task_type text NOT NULL,
    category text NOT NULL,
    flow_path text NOT NULL,
    execution_mode text NOT NULL,
    is_internal boolean DEFAULT false NOT NULL,
    is_scheduled boolean DEFAULT false NOT NULL,
    schedule_path text,
    external_id text,
    domain text,
    release_name text,
    status text NOT NULL,
    display_status text NOT NULL,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL,
    result jsonb DEFAULT '{}'::jsonb NOT NULL,
    error text,
    cicd_run_id text,
    cicd_run_url text,
    work_item_type text,
    work_item_key text,
    work_item jsonb,
    triggered_by text NOT NULL,
    requested_by jsonb NOT NULL,
    request_id text,
    traceparent text,
    output_tail text,
    output_object text,
    launched_at timestamp(3) with time zone,
    cancel_requested_at timestamp(3) with time zone,
    started_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    dispatch_tried_at timestamp(3) with time zone,
    engine_run_id text,
    reported_end jsonb,
    program_started_at timestamp(3) with time zone,
    next_window_at timestamp(3) with time zone,
    waits_for text,
    override jsonb,
    deploys jsonb,
    workflow_path text,
    CONSTRAINT flow_run_execution_mode_check CHECK ((execution_mode = ANY (ARRAY['flow'::text, 'cicd'::text])))
)
WITH (fillfactor='70');
ALTER TABLE ONLY public.flow_run FORCE ROW LEVEL SECURITY;
CREATE TABLE public.flow_run_lock (
    tenant_id uuid NOT NULL,
    execution_id uuid NOT NULL,
    lock_key text NOT NULL,
    ticket_id text,
    run_id text,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY public.flow_run_lock FORCE ROW LEVEL SECURITY;
CREATE TABLE public.flow_run_tally (
    tenant_id uuid NOT NULL,
    project_id uuid,
    status text NOT NULL,
    display_status text NOT NULL,
    category text NOT NULL,
    task_type text NOT NULL,
    flow_path text NOT NULL,
    execution_mode text NOT NULL,
    work_item_type text,
    is_internal boolean NOT NULL,
    is_scheduled boolean NOT NULL,
    runs bigint NOT NULL,
    is_settled boolean DEFAULT false NOT NULL
);
ALTER TABLE ONLY public.flow_run_tally FORCE ROW LEVEL SECURITY;
CREATE TABLE public.flow_schedule (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid,
    name text NOT NULL,
    cron text NOT NULL,
    timezone text NOT NULL,
    payload jsonb NOT NULL,
    schedule_path text NOT NULL,
    created_by text NOT NULL,
    deleted_at timestamp(3) with time zone,
    synced_at timestamp(3) with time zone,
    people_ids text[] DEFAULT '{}'::text[] NOT NULL,
    limited_to uuid[],
    refused_at timestamp(3) with time zone,
    refusal text
);
ALTER TABLE ONLY public.flow_schedule FORCE ROW LEVEL SECURITY;
CREATE TABLE public.gc_check (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid NOT NULL,
    branch text NOT NULL COLLATE pg_catalog."C",
    status text DEFAULT 'queued'::text NOT NULL,
    requested_by text NOT NULL,
    environments jsonb DEFAULT '[]'::jsonb NOT NULL,
    error text,
    ended_at timestamp(3) with time zone,
    CONSTRAINT gc_check_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'failed'::text])))
);
ALTER TABLE ONLY public.gc_check FORCE ROW LEVEL SECURITY;
CREATE TABLE public.gc_entry (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    branch text NOT NULL COLLATE pg_catalog."C",
    package_name text NOT NULL COLLATE pg_catalog."C",
    component_type text NOT NULL COLLATE pg_catalog."C",
    full_name text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    moved_to text COLLATE pg_catalog."C",
    owner_project_id uuid,
    detected_at timestamp(3) with time zone,
    last_event_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    evidence_since timestamp(3) with time zone NOT NULL,
    CONSTRAINT gc_entry_status_check CHECK ((status = ANY (ARRAY['detected'::text, 'moved'::text, 'handled'::text, 'restored'::text, 'dismissed'::text, 'owned-elsewhere'::text, 'reclaimed'::text])))
)
WITH (fillfactor='75');
ALTER TABLE ONLY public.gc_entry FORCE ROW LEVEL SECURITY;
CREATE TABLE public.gc_event (
    tenant_id uuid NOT NULL,
    entry_id uuid NOT NULL,
    number bigint NOT NULL,
    project_id uuid NOT NULL,
    occurred_at timestamp(3) with time zone NOT NULL,
    from_status text,
    to_status text NOT NULL,
    cause text NOT NULL,
    moved_to text,
    environment text,
    reason text,
    changed_by text NOT NULL,
    CONSTRAINT gc_event_cause_check CHECK ((cause = ANY (ARRAY['event'::text, 'manifest'::text, 'org_check'::text, 'person'::text])))
);
ALTER TABLE ONLY public.gc_event FORCE ROW LEVEL SECURITY;
ALTER TABLE public.gc_event ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.gc_event_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.gc_presence (
    tenant_id uuid NOT NULL,
    entry_id uuid NOT NULL,
    environment_id uuid NOT NULL,
    project_id uuid NOT NULL,
    presence text NOT NULL,
    checked_at timestamp(3) with time zone NOT NULL,
    org_username text NOT NULL,
    CONSTRAINT gc_presence_presence_check CHECK ((presence = ANY (ARRAY['present'::text, 'absent'::text, 'unknown'::text])))
);
ALTER TABLE ONLY public.gc_presence FORCE ROW LEVEL SECURITY;
CREATE TABLE public.gc_tally (
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    branch text NOT NULL COLLATE pg_catalog."C",
    package_name text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    entries bigint NOT NULL
)
WITH (fillfactor='70');
ALTER TABLE ONLY public.gc_tally FORCE ROW LEVEL SECURITY;
CREATE TABLE public.git_commit (
    seq integer NOT NULL,
    sha text NOT NULL,
    parents integer[] NOT NULL,
    author_name text NOT NULL,
    author_email text NOT NULL,
    authored_at timestamp(3) with time zone NOT NULL,
    committed_at timestamp(3) with time zone NOT NULL,
    subject text NOT NULL,
    body text NOT NULL,
    work_items text[] NOT NULL,
    pull_requests integer[] NOT NULL,
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL
);
ALTER TABLE ONLY public.git_commit FORCE ROW LEVEL SECURITY;
CREATE TABLE public.git_commit_package (
    package_no integer NOT NULL,
    seq integer NOT NULL,
    parent_bits bigint NOT NULL,
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL
);
ALTER TABLE ONLY public.git_commit_package FORCE ROW LEVEL SECURITY;
CREATE TABLE public.git_mirror (
    requested_at timestamp with time zone DEFAULT now() NOT NULL,
    attempted_at timestamp with time zone,
    next_fetch_at timestamp with time zone DEFAULT now() NOT NULL,
    fetched_at timestamp(3) with time zone,
    failures integer DEFAULT 0 NOT NULL,
    error text,
    commits integer DEFAULT 0 NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    work_items_epoch integer DEFAULT 0 NOT NULL,
    packages_from text DEFAULT 'none'::text NOT NULL,
    work_item_filters jsonb DEFAULT '[]'::jsonb NOT NULL,
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    completed_at timestamp(6) with time zone,
    attributed_branch text,
    message_rules integer DEFAULT 0 NOT NULL,
    CONSTRAINT git_mirror_packages_from_check CHECK ((packages_from = ANY (ARRAY['manifest'::text, 'setting'::text, 'none'::text])))
);
ALTER TABLE ONLY public.git_mirror FORCE ROW LEVEL SECURITY;
CREATE TABLE public.git_package (
    package_no integer NOT NULL,
    name text NOT NULL,
    path text NOT NULL,
    version_number text,
    is_current boolean DEFAULT true NOT NULL,
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    dependencies text[] DEFAULT '{}'::text[] NOT NULL
);
ALTER TABLE ONLY public.git_package FORCE ROW LEVEL SECURITY;
CREATE TABLE public.git_range (
    package_no integer NOT NULL,
    from_seq integer NOT NULL,
    to_seq integer NOT NULL,
    commits integer[] NOT NULL,
    work_items text[] NOT NULL,
    pull_requests integer[] NOT NULL,
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL
);
ALTER TABLE ONLY public.git_range FORCE ROW LEVEL SECURITY;
CREATE TABLE public.git_ref (
    kind text NOT NULL,
    name text NOT NULL,
    sha text NOT NULL,
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    CONSTRAINT git_ref_kind_check CHECK ((kind = ANY (ARRAY['branch'::text, 'tag'::text])))
);
ALTER TABLE ONLY public.git_ref FORCE ROW LEVEL SECURITY;
CREATE TABLE public.hook_delivery (
    delivery_id text NOT NULL,
    body_digest text NOT NULL,
    received_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL
);
ALTER TABLE ONLY public.hook_delivery FORCE ROW LEVEL SECURITY;
CREATE TABLE public.hook_secret (
    secret text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    previous_secret text,
    previous_until timestamp(3) with time zone
);
ALTER TABLE ONLY public.hook_secret FORCE ROW LEVEL SECURITY;
CREATE TABLE public.idempotency_key (
    tenant_id uuid NOT NULL,
    subject text NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    key text NOT NULL,
    body_hash text NOT NULL,
    started_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    status integer,
    reply text,
    done_at timestamp(3) with time zone
);
ALTER TABLE ONLY public.idempotency_key FORCE ROW LEVEL SECURITY;
CREATE TABLE public.integration (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid,
    kind text NOT NULL,
    name text NOT NULL,
    base_url text,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    credentials text NOT NULL,
    credentials_updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_by text NOT NULL
);
ALTER TABLE ONLY public.integration FORCE ROW LEVEL SECURITY;
CREATE TABLE public.invitation (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    user_id uuid,
    token_hash text,
    expires_at timestamp(3) with time zone NOT NULL,
    used_at timestamp(3) with time zone,
    invited_by text NOT NULL,
    invited_user_id uuid,
    email text NOT NULL
);
ALTER TABLE ONLY public.invitation FORCE ROW LEVEL SECURITY;
CREATE TABLE public.invited_membership (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    team_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    CONSTRAINT invited_membership_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'member'::text, 'application'::text])))
);
ALTER TABLE ONLY public.invited_membership FORCE ROW LEVEL SECURITY;
CREATE TABLE public.invited_user (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    email text NOT NULL,
    first_name text DEFAULT ''::text NOT NULL,
    last_name text DEFAULT ''::text NOT NULL,
    invited_by text NOT NULL,
    CONSTRAINT invited_user_email_check CHECK ((email = lower(email)))
);
ALTER TABLE ONLY public.invited_user FORCE ROW LEVEL SECURITY;
CREATE TABLE public.known_sign_in (
    key text NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);
ALTER TABLE ONLY public.known_sign_in FORCE ROW LEVEL SECURITY;
CREATE TABLE public.membership (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    team_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    CONSTRAINT membership_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'member'::text, 'application'::text])))
);
ALTER TABLE ONLY public.membership FORCE ROW LEVEL SECURITY;
CREATE TABLE public.metric_series (
    tenant_id uuid NOT NULL,
    series uuid NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    labels jsonb NOT NULL,
    first_day date NOT NULL,
    CONSTRAINT metric_series_type_check CHECK ((type = ANY (ARRAY['count'::text, 'guage'::text, 'timers'::text])))
);
ALTER TABLE ONLY public.metric_series FORCE ROW LEVEL SECURITY;
CREATE TABLE public.metric_series_day (
    tenant_id uuid NOT NULL,
    day date NOT NULL,
    created integer DEFAULT 0 NOT NULL,
    limited_at timestamp(3) with time zone
);
ALTER TABLE ONLY public.metric_series_day FORCE ROW LEVEL SECURITY;
CREATE TABLE public.metric_window (
    tenant_id uuid NOT NULL,
    series uuid NOT NULL,
    ends_at timestamp(3) with time zone NOT NULL,
    last_at timestamp(3) with time zone NOT NULL,
    last double precision NOT NULL,
    count double precision NOT NULL,
    sum double precision NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    is_sent boolean DEFAULT false NOT NULL,
    sent_at timestamp(3) with time zone
)
WITH (fillfactor='70');
ALTER TABLE ONLY public.metric_window FORCE ROW LEVEL SECURITY;
CREATE TABLE public.mock_call (
    tenant_id uuid NOT NULL,
    scenario_id uuid NOT NULL,
    number bigint NOT NULL,
    called_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    run text NOT NULL,
    round integer NOT NULL,
    outcome text NOT NULL,
    seq integer,
    method text NOT NULL,
    path text NOT NULL,
    status integer,
    fault text,
    request jsonb NOT NULL,
    CONSTRAINT mock_call_outcome_check CHECK ((outcome = ANY (ARRAY['matched'::text, 'unmatched'::text, 'passed_on'::text, 'recorded'::text])))
);
ALTER TABLE ONLY public.mock_call FORCE ROW LEVEL SECURITY;
ALTER TABLE public.mock_call ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.mock_call_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.mock_drift (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    scenario_id uuid NOT NULL,
    status text DEFAULT 'queued'::text NOT NULL,
    requested_by text NOT NULL,
    checked integer DEFAULT 0 NOT NULL,
    skipped integer DEFAULT 0 NOT NULL,
    findings jsonb DEFAULT '[]'::jsonb NOT NULL,
    error text,
    ended_at timestamp(3) with time zone,
    CONSTRAINT mock_drift_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'failed'::text])))
);
ALTER TABLE ONLY public.mock_drift FORCE ROW LEVEL SECURITY;
CREATE TABLE public.mock_run (
    tenant_id uuid NOT NULL,
    scenario_id uuid NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    revision integer DEFAULT 0 NOT NULL,
    cursor integer DEFAULT 0 NOT NULL,
    hits jsonb DEFAULT '{}'::jsonb NOT NULL,
    variables jsonb DEFAULT '{}'::jsonb NOT NULL,
    matched integer DEFAULT 0 NOT NULL,
    unmatched integer DEFAULT 0 NOT NULL,
    used_at timestamp(3) with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE ONLY public.mock_run FORCE ROW LEVEL SECURITY;
CREATE TABLE public.mock_scenario (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    workspace_id uuid NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    description text DEFAULT ''::text NOT NULL,
    status text NOT NULL,
    mode text NOT NULL,
    upstream text,
    unmatched jsonb NOT NULL,
    seed integer NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    round integer DEFAULT 1 NOT NULL,
    armed_until timestamp(3) with time zone,
    matched_before integer DEFAULT 0 NOT NULL,
    unmatched_before integer DEFAULT 0 NOT NULL,
    unmatched_at timestamp(3) with time zone,
    created_by text NOT NULL,
    updated_by text NOT NULL,
    upstreams jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT mock_scenario_check CHECK (((status = 'armed'::text) = (armed_until IS NOT NULL))),
    CONSTRAINT mock_scenario_mode_check CHECK ((mode = ANY (ARRAY['strict'::text, 'perEndpoint'::text, 'any'::text]))),
    CONSTRAINT mock_scenario_status_check CHECK ((status = ANY (ARRAY['idle'::text, 'recording'::text, 'armed'::text, 'stopped'::text]))),
    CONSTRAINT mock_scenario_upstreams_check CHECK ((jsonb_typeof(upstreams) = 'array'::text))
);
ALTER TABLE ONLY public.mock_scenario FORCE ROW LEVEL SECURITY;
CREATE TABLE public.mock_step (
    tenant_id uuid NOT NULL,
    scenario_id uuid NOT NULL,
    seq integer NOT NULL,
    request jsonb NOT NULL,
    response jsonb NOT NULL,
    body bytea,
    body_form text,
    times integer,
    CONSTRAINT mock_step_body_form_check CHECK ((body_form = ANY (ARRAY['json'::text, 'text'::text, 'base64'::text]))),
    CONSTRAINT mock_step_check CHECK (((body IS NULL) = (body_form IS NULL)))
);
ALTER TABLE ONLY public.mock_step FORCE ROW LEVEL SECURITY;
CREATE TABLE public.mock_workspace (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL,
    key_hash text NOT NULL
);
ALTER TABLE ONLY public.mock_workspace FORCE ROW LEVEL SECURITY;
CREATE TABLE public.org_component (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    org_id uuid NOT NULL,
    platform_org_id text NOT NULL,
    metadata_type text NOT NULL COLLATE pg_catalog."C",
    member_name text NOT NULL COLLATE pg_catalog."C",
    file_name text,
    parent_type text,
    last_modified_at timestamp(3) with time zone,
    last_modified_by text,
    manageable_state text,
    namespace_prefix text,
    is_index_only boolean DEFAULT false NOT NULL,
    is_due boolean DEFAULT false NOT NULL,
    retrieve_id text,
    content_hash text,
    content_error text,
    fetched_at timestamp(3) with time zone,
    seen_at timestamp(3) with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY public.org_component FORCE ROW LEVEL SECURITY;
CREATE TABLE public.org_component_change (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    org_id uuid NOT NULL,
    platform_org_id text NOT NULL,
    sync_id uuid,
    metadata_type text NOT NULL COLLATE pg_catalog."C",
    member_name text NOT NULL COLLATE pg_catalog."C",
    change text NOT NULL,
    modified_at timestamp(3) with time zone,
    modified_by text,
    before_hash text,
    after_hash text,
    detected_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    CONSTRAINT org_component_change_change_check CHECK ((change = ANY (ARRAY['created'::text, 'changed'::text, 'deleted'::text])))
);
ALTER TABLE ONLY public.org_component_change FORCE ROW LEVEL SECURITY;
CREATE TABLE public.org_component_file (
    tenant_id uuid NOT NULL,
    component_id uuid NOT NULL,
    file_name text NOT NULL COLLATE pg_catalog."C",
    full_name text NOT NULL,
    type text NOT NULL,
    state text NOT NULL,
    sha256 text,
    size_bytes integer,
    fetched_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT org_component_file_state_check CHECK ((state = ANY (ARRAY['Created'::text, 'Changed'::text, 'Unchanged'::text, 'Deleted'::text, 'Failed'::text])))
);
ALTER TABLE ONLY public.org_component_file FORCE ROW LEVEL SECURITY;
CREATE TABLE public.org_component_type (
    tenant_id uuid NOT NULL,
    org_id uuid NOT NULL,
    platform_org_id text NOT NULL,
    metadata_type text NOT NULL COLLATE pg_catalog."C",
    description jsonb,
    component_count integer DEFAULT 0 NOT NULL,
    synced_at timestamp(3) with time zone,
    error text,
    listed_at timestamp(3) with time zone
);
ALTER TABLE ONLY public.org_component_type FORCE ROW LEVEL SECURITY;
CREATE TABLE public.org_content (
    tenant_id uuid NOT NULL,
    sha256 text NOT NULL,
    size_bytes integer NOT NULL,
    is_text boolean NOT NULL,
    stored_at timestamp(3) with time zone,
    used_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    removing_since timestamp(3) with time zone,
    CONSTRAINT org_content_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))
);
ALTER TABLE ONLY public.org_content FORCE ROW LEVEL SECURITY;
CREATE TABLE public.org_limit_hour (
    tenant_id uuid NOT NULL,
    org_id uuid NOT NULL,
    hour timestamp(3) with time zone NOT NULL,
    peaks integer[] NOT NULL
);
ALTER TABLE ONLY public.org_limit_hour FORCE ROW LEVEL SECURITY;
CREATE TABLE public.org_limit_sample (
    tenant_id uuid NOT NULL,
    org_id uuid NOT NULL,
    sampled_at timestamp(3) with time zone NOT NULL,
    used bigint[] NOT NULL,
    max bigint[] NOT NULL
);
ALTER TABLE ONLY public.org_limit_sample FORCE ROW LEVEL SECURITY;
CREATE TABLE public.org_limit_state (
    tenant_id uuid NOT NULL,
    org_id uuid NOT NULL,
    due_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    claims integer DEFAULT 0 NOT NULL,
    lease_until timestamp(3) with time zone,
    forced_at timestamp(3) with time zone,
    attempted_at timestamp(3) with time zone,
    polled_at timestamp(3) with time zone,
    failures integer DEFAULT 0 NOT NULL,
    failure jsonb,
    limits jsonb DEFAULT '[]'::jsonb NOT NULL,
    worst jsonb
);
ALTER TABLE ONLY public.org_limit_state FORCE ROW LEVEL SECURITY;
CREATE TABLE public.org_sync (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    org_id uuid NOT NULL,
    platform_org_id text,
    source text NOT NULL,
    status text NOT NULL,
    metadata_types jsonb,
    requested_by text NOT NULL,
    started_at timestamp(3) with time zone,
    finished_at timestamp(3) with time zone,
    step text,
    message text,
    types_count integer DEFAULT 0 NOT NULL,
    components_count integer DEFAULT 0 NOT NULL,
    files_retrieved integer DEFAULT 0 NOT NULL,
    failed_types jsonb DEFAULT '[]'::jsonb NOT NULL,
    duration_ms integer,
    CONSTRAINT org_sync_source_check CHECK ((source = ANY (ARRAY['refresh'::text, 'ingest'::text]))),
    CONSTRAINT org_sync_status_check CHECK ((status = ANY (ARRAY['requested'::text, 'running'::text, 'succeeded'::text, 'failed'::text])))
);
ALTER TABLE ONLY public.org_sync FORCE ROW LEVEL SECURITY;
CREATE TABLE public.package_version (
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    name text NOT NULL,
    version text NOT NULL,
    candidate_id uuid NOT NULL,
    commit_sha text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    moves integer DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.package_version FORCE ROW LEVEL SECURITY;
CREATE TABLE public.project (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    identifier text NOT NULL,
    remote_url text,
    platform text NOT NULL,
    default_branch text NOT NULL,
    configuration jsonb DEFAULT '{}'::jsonb NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    CONSTRAINT project_platform_check CHECK ((platform = ANY (ARRAY['host-a'::text, 'host-b'::text, 'host-c'::text])))
);
ALTER TABLE ONLY public.project FORCE ROW LEVEL SECURITY;
CREATE TABLE public.pull_request (
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    number integer NOT NULL,
    title text NOT NULL,
    url text,
    state text NOT NULL,
    is_draft boolean NOT NULL,
    author text,
    author_key text,
    author_avatar_url text,
    branch text NOT NULL,
    base_branch text NOT NULL,
    head_sha text,
    base_sha text,
    merge_commit_sha text,
    labels jsonb NOT NULL,
    requested jsonb NOT NULL,
    reviews jsonb NOT NULL,
    is_in_review boolean NOT NULL,
    awaited text[] NOT NULL,
    opened_at timestamp(3) with time zone NOT NULL,
    ended_at timestamp(3) with time zone,
    host_time timestamp(3) with time zone NOT NULL,
    is_from_list boolean NOT NULL,
    changed_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    compared_base text,
    compared_head text,
    files jsonb,
    packages text[],
    commits_ahead integer,
    commits_behind integer,
    details_error text,
    reviews_read_at timestamp(3) with time zone,
    CONSTRAINT pull_request_check CHECK ((author_key = lower(author))),
    CONSTRAINT pull_request_number_check CHECK ((number > 0)),
    CONSTRAINT pull_request_state_check CHECK ((state = ANY (ARRAY['open'::text, 'closed'::text, 'merged'::text])))
);
ALTER TABLE ONLY public.pull_request FORCE ROW LEVEL SECURITY;
CREATE TABLE public.pull_request_refresh (
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    attempted_at timestamp(3) with time zone,
    refreshed_at timestamp(3) with time zone,
    all_open_at timestamp(3) with time zone,
    read_until timestamp(3) with time zone,
    etag text,
    hook_at timestamp(3) with time zone,
    next_refresh_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    details_due_at timestamp(3) with time zone,
    failures integer DEFAULT 0 NOT NULL,
    error text
);
ALTER TABLE ONLY public.pull_request_refresh FORCE ROW LEVEL SECURITY;
CREATE UNLOGGED TABLE public.rate_limit (
    key text NOT NULL,
    taken integer NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);
ALTER TABLE ONLY public.rate_limit FORCE ROW LEVEL SECURITY;
CREATE TABLE public.refresh_token (
    token_hash text NOT NULL,
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    spent_at timestamp(3) with time zone
);
ALTER TABLE ONLY public.refresh_token FORCE ROW LEVEL SECURITY;
CREATE TABLE public.release_candidate (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid NOT NULL,
    domain text NOT NULL,
    release_name text NOT NULL,
    commit_sha text NOT NULL,
    branch text,
    tag text,
    value jsonb DEFAULT '{}'::jsonb NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    status_changed_at timestamp(3) with time zone,
    status_changed_by text,
    created_by text NOT NULL,
    updated_by text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    content_digest text DEFAULT ''::text NOT NULL,
    superseded_by text
);
ALTER TABLE ONLY public.release_candidate FORCE ROW LEVEL SECURITY;
CREATE TABLE public.release_candidate_count (
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    domain text NOT NULL,
    branch text NOT NULL,
    status text NOT NULL,
    candidates bigint NOT NULL
)
WITH (fillfactor='70');
ALTER TABLE ONLY public.release_candidate_count FORCE ROW LEVEL SECURITY;
CREATE TABLE public.release_deployment (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid NOT NULL,
    environment_id uuid NOT NULL,
    candidate_id uuid,
    domain text NOT NULL,
    release_name text NOT NULL,
    status text NOT NULL,
    deployed_at timestamp(3) with time zone NOT NULL,
    dedupe_key text NOT NULL,
    execution_id text,
    packages jsonb DEFAULT '{}'::jsonb NOT NULL,
    package_details jsonb DEFAULT '[]'::jsonb NOT NULL,
    release_definition jsonb,
    metadata jsonb,
    approval jsonb,
    rolled_back_at timestamp(3) with time zone,
    reported_by jsonb NOT NULL,
    request_id text,
    traceparent text,
    applied_at timestamp(3) with time zone,
    outcome jsonb,
    rollback jsonb,
    content_digest text,
    installed jsonb DEFAULT '{}'::jsonb NOT NULL,
    installs_all boolean DEFAULT false NOT NULL,
    policy_violations jsonb DEFAULT '[]'::jsonb NOT NULL,
    commit_sha text,
    CONSTRAINT release_deployment_status_check CHECK ((status = ANY (ARRAY['Success'::text, 'Failed'::text, 'Partial'::text, 'Cancelled'::text])))
);
ALTER TABLE ONLY public.release_deployment FORCE ROW LEVEL SECURITY;
CREATE TABLE public.review_assignment (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid NOT NULL,
    number bigint NOT NULL,
    assignment_type text NOT NULL,
    assignment_key text NOT NULL,
    branch text,
    domains jsonb DEFAULT '[]'::jsonb NOT NULL,
    target_type text NOT NULL,
    target_name text NOT NULL,
    pool_id uuid,
    environment_id uuid,
    rule_id uuid,
    expiration_hours integer,
    is_immortal boolean DEFAULT false NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    instance_id uuid,
    org_username text,
    org_expires_at timestamp(3) with time zone,
    assigned_at timestamp(3) with time zone,
    expires_at timestamp(3) with time zone,
    warned_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    reason text,
    requested_by jsonb NOT NULL,
    seen_at timestamp(3) with time zone,
    CONSTRAINT review_assignment_assignment_type_check CHECK ((assignment_type = ANY (ARRAY['pr'::text, 'issue'::text, 'user'::text, 'custom'::text]))),
    CONSTRAINT review_assignment_check CHECK (((state <> 'active'::text) OR (assigned_at IS NOT NULL))),
    CONSTRAINT review_assignment_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'active'::text, 'released'::text, 'expired'::text, 'failed'::text]))),
    CONSTRAINT review_assignment_target_type_check CHECK ((target_type = ANY (ARRAY['pool'::text, 'environment'::text])))
);
ALTER TABLE ONLY public.review_assignment FORCE ROW LEVEL SECURITY;
ALTER TABLE public.review_assignment ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.review_assignment_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.review_instance (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid NOT NULL,
    pool_id uuid NOT NULL,
    username text NOT NULL,
    instance_url text,
    cli_auth_url text,
    expires_at timestamp(3) with time zone,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    state text NOT NULL,
    reason text,
    state_changed_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    prepared_by uuid,
    CONSTRAINT review_instance_state_check CHECK ((state = ANY (ARRAY['provisioning'::text, 'available'::text, 'assigned'::text, 'refreshing'::text, 'expired'::text, 'failed'::text])))
);
ALTER TABLE ONLY public.review_instance FORCE ROW LEVEL SECURITY;
CREATE TABLE public.review_pool (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid NOT NULL,
    tag text NOT NULL,
    type text NOT NULL,
    min_available integer NOT NULL,
    max_instances integer NOT NULL,
    lease_hours integer NOT NULL,
    max_lease_hours integer NOT NULL,
    on_release text NOT NULL,
    definition jsonb DEFAULT '{}'::jsonb NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_by text NOT NULL,
    updated_by text NOT NULL,
    prepare_run_id uuid,
    prepare_failures integer DEFAULT 0 NOT NULL,
    prepare_due_at timestamp(3) with time zone,
    low_announced_at timestamp(3) with time zone,
    checked_at timestamp(3) with time zone,
    prepare_started_at timestamp(3) with time zone,
    prepare_error text,
    CONSTRAINT review_pool_check CHECK ((min_available <= max_instances)),
    CONSTRAINT review_pool_check1 CHECK (((lease_hours >= 1) AND (lease_hours <= max_lease_hours))),
    CONSTRAINT review_pool_max_instances_check CHECK (((max_instances >= 1) AND (max_instances <= 200))),
    CONSTRAINT review_pool_min_available_check CHECK (((min_available >= 0) AND (min_available <= 50))),
    CONSTRAINT review_pool_on_release_check CHECK ((on_release = ANY (ARRAY['discard'::text, 'reuse'::text, 'refresh'::text]))),
    CONSTRAINT review_pool_type_check CHECK ((type = ANY (ARRAY['SANDBOX'::text, 'SCRATCH_ORG'::text])))
);
ALTER TABLE ONLY public.review_pool FORCE ROW LEVEL SECURITY;
CREATE TABLE public.review_rule (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid NOT NULL,
    target_type text NOT NULL,
    pool_id uuid,
    environment_id uuid,
    branch_pattern text NOT NULL,
    domain_patterns jsonb DEFAULT '[]'::jsonb NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_by text NOT NULL,
    updated_by text NOT NULL,
    likeness text NOT NULL,
    CONSTRAINT review_rule_check CHECK (((target_type = 'pool'::text) = (pool_id IS NOT NULL))),
    CONSTRAINT review_rule_check1 CHECK (((target_type = 'environment'::text) = (environment_id IS NOT NULL))),
    CONSTRAINT review_rule_target_type_check CHECK ((target_type = ANY (ARRAY['pool'::text, 'environment'::text])))
);
ALTER TABLE ONLY public.review_rule FORCE ROW LEVEL SECURITY;
CREATE TABLE public.run_token (
    tenant_id uuid NOT NULL,
    run_id uuid NOT NULL,
    token_hash text NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY public.run_token FORCE ROW LEVEL SECURITY;
CREATE TABLE public.schema_migration (
    id integer NOT NULL,
    name character varying(255) NOT NULL,
    executed_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP(6) NOT NULL
);
CREATE SEQUENCE public.schema_migration_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.schema_migration_id_seq OWNED BY public.schema_migration.id;
CREATE TABLE public.sign_in_failure (
    key text NOT NULL,
    points integer DEFAULT 0 NOT NULL,
    expire bigint
);
ALTER TABLE ONLY public.sign_in_failure FORCE ROW LEVEL SECURITY;
CREATE TABLE public.sweep_failure (
    sweep text NOT NULL,
    row_key text NOT NULL,
    attempts integer NOT NULL,
    last_error text NOT NULL,
    first_failed_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    next_attempt_at timestamp(3) with time zone NOT NULL
);
ALTER TABLE ONLY public.sweep_failure FORCE ROW LEVEL SECURITY;
CREATE TABLE public.team (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    slug text NOT NULL
);
ALTER TABLE ONLY public.team FORCE ROW LEVEL SECURITY;
CREATE TABLE public.tenant (
    id uuid NOT NULL,
    slug text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    chat_key text DEFAULT (gen_random_uuid())::text NOT NULL,
    CONSTRAINT tenant_slug_check CHECK ((slug ~ '^[a-z0-9-]{1,40}$'::text))
);
ALTER TABLE ONLY public.tenant FORCE ROW LEVEL SECURITY;
CREATE TABLE public.tenant_user (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    accepted_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    chosen_at timestamp(3) with time zone
);
ALTER TABLE ONLY public.tenant_user FORCE ROW LEVEL SECURITY;
CREATE TABLE public.user_account (
    id uuid NOT NULL,
    email text NOT NULL,
    password_hash text,
    auth_data jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    CONSTRAINT user_account_email_check CHECK ((email = lower(email)))
);
ALTER TABLE ONLY public.user_account FORCE ROW LEVEL SECURITY;
CREATE TABLE public.user_alias (
    email text NOT NULL,
    user_id uuid NOT NULL,
    provider text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    CONSTRAINT user_alias_email_check CHECK ((email = lower(email)))
);
ALTER TABLE ONLY public.user_alias FORCE ROW LEVEL SECURITY;
CREATE TABLE public.user_identity (
    provider text NOT NULL,
    username text NOT NULL,
    external_id text NOT NULL,
    user_id uuid NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    CONSTRAINT user_identity_provider_check CHECK ((provider = ANY (ARRAY['host-a'::text, 'host-b'::text, 'host-c'::text]))),
    CONSTRAINT user_identity_username_check CHECK ((username = lower(username)))
);
ALTER TABLE ONLY public.user_identity FORCE ROW LEVEL SECURITY;
CREATE TABLE public.user_profile (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    first_name text DEFAULT ''::text NOT NULL,
    last_name text DEFAULT ''::text NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY public.user_profile FORCE ROW LEVEL SECURITY;
CREATE TABLE public.user_recovery_code (
    user_id uuid NOT NULL,
    code_hash text NOT NULL
);
ALTER TABLE ONLY public.user_recovery_code FORCE ROW LEVEL SECURITY;
CREATE TABLE public.user_totp (
    user_id uuid NOT NULL,
    secret text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    confirmed_at timestamp(3) with time zone,
    last_step bigint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.user_totp FORCE ROW LEVEL SECURITY;
CREATE TABLE public.webhook (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    name text NOT NULL,
    event text NOT NULL,
    provider text NOT NULL,
    repository_identifier text,
    url text NOT NULL,
    method text NOT NULL,
    headers text,
    filter json,
    body_template text,
    secret text NOT NULL,
    previous_secret text,
    previous_secret_until timestamp(3) with time zone,
    timeout_ms integer NOT NULL,
    retry_count integer NOT NULL,
    retry_delay_ms integer NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    failure_reason text,
    created_by text NOT NULL,
    deleted_at timestamp(3) with time zone,
    revision integer DEFAULT 1 NOT NULL,
    error_count integer DEFAULT 0 NOT NULL,
    exhausted_in_a_row integer DEFAULT 0 NOT NULL,
    delivered_count bigint DEFAULT 0 NOT NULL,
    failed_count bigint DEFAULT 0 NOT NULL,
    last_delivery_at timestamp(3) with time zone,
    events text[] NOT NULL,
    channel text,
    chat_team_id text,
    lane_name text,
    CONSTRAINT webhook_status_check CHECK ((status = ANY (ARRAY['active'::text, 'inactive'::text, 'failed'::text])))
)
WITH (fillfactor='50');
ALTER TABLE ONLY public.webhook FORCE ROW LEVEL SECURITY;
CREATE TABLE public.webhook_attempt (
    tenant_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    attempt integer NOT NULL,
    url text NOT NULL,
    method text NOT NULL,
    status_code integer,
    error text,
    error_kind text,
    is_envelope boolean NOT NULL,
    sent_body text,
    response_headers json,
    response_body text,
    duration_ms integer NOT NULL,
    started_at timestamp(3) with time zone NOT NULL
)
WITH (autovacuum_vacuum_insert_scale_factor='0.1');
ALTER TABLE ONLY public.webhook_attempt FORCE ROW LEVEL SECURITY;
CREATE TABLE public.webhook_delivery (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event text NOT NULL,
    payload json NOT NULL,
    traceparent text,
    status text DEFAULT 'pending'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    claims integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    lease_until timestamp(3) with time zone,
    redelivery_of uuid,
    last_status_code integer,
    last_error text,
    last_duration_ms integer,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    completed_at timestamp(3) with time zone,
    CONSTRAINT webhook_delivery_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'filtered'::text, 'cancelled'::text])))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_insert_scale_factor='0.1', autovacuum_analyze_scale_factor='0.05');
ALTER TABLE ONLY public.webhook_delivery FORCE ROW LEVEL SECURITY;
CREATE TABLE public.webhook_subscription (
    tenant_id uuid NOT NULL,
    event text NOT NULL,
    webhook_id uuid NOT NULL
);
ALTER TABLE ONLY public.webhook_subscription FORCE ROW LEVEL SECURITY;
CREATE TABLE public.work_item_request (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    project_id uuid NOT NULL,
    platform text NOT NULL COLLATE pg_catalog."C",
    work_item_key text COLLATE pg_catalog."C",
    work_item_url text,
    title text,
    task_type text COLLATE pg_catalog."C",
    release_candidate text COLLATE pg_catalog."C",
    repository_identifier text NOT NULL COLLATE pg_catalog."C",
    created_by text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    execution_id text COLLATE pg_catalog."C",
    started_at timestamp(3) with time zone,
    completed_at timestamp(3) with time zone,
    message text,
    error text,
    result jsonb,
    history jsonb DEFAULT '[]'::jsonb NOT NULL,
    is_item_closed boolean DEFAULT false NOT NULL,
    item_state_at timestamp(3) with time zone,
    report jsonb,
    report_revision integer DEFAULT 0 NOT NULL,
    report_written_revision integer DEFAULT 0 NOT NULL,
    report_changed_at timestamp(3) with time zone,
    report_error text,
    comment_id text,
    close_due_at timestamp(3) with time zone,
    CONSTRAINT work_item_request_platform_check CHECK ((platform = ANY (ARRAY['tracker-a'::text, 'host-a'::text, 'host-b'::text]))),
    CONSTRAINT work_item_request_status_check CHECK ((status = ANY (ARRAY['creating'::text, 'open'::text, 'in_progress'::text, 'completed'::text, 'closed'::text, 'failed'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_insert_scale_factor='0.02');
ALTER TABLE ONLY public.work_item_request FORCE ROW LEVEL SECURITY;
CREATE TABLE public.work_item_request_count (
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    requests bigint NOT NULL,
    CONSTRAINT work_item_request_count_kind_check CHECK ((kind = ANY (ARRAY['creator'::text, 'month'::text])))
)
WITH (fillfactor='70');
ALTER TABLE ONLY public.work_item_request_count FORCE ROW LEVEL SECURITY;
CREATE TABLE public.work_item_request_execution (
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    request_id uuid NOT NULL
);
ALTER TABLE ONLY public.work_item_request_execution FORCE ROW LEVEL SECURITY;
CREATE TABLE public.work_item_request_tally (
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    repository_identifier text NOT NULL COLLATE pg_catalog."C",
    platform text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    task_type text NOT NULL COLLATE pg_catalog."C",
    requests bigint NOT NULL
)
WITH (fillfactor='70');
ALTER TABLE ONLY public.work_item_request_tally FORCE ROW LEVEL SECURITY;
ALTER TABLE ONLY public.schema_migration ALTER COLUMN id SET DEFAULT nextval('public.schema_migration_id_seq'::regclass);
ALTER TABLE ONLY public.ai_budget_month
    ADD CONSTRAINT ai_budget_month_pkey PRIMARY KEY (tenant_id, integration_id, month);
ALTER TABLE ONLY public.ai_call
    ADD CONSTRAINT ai_call_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ai_report
    ADD CONSTRAINT ai_report_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ai_usage_day
    ADD CONSTRAINT ai_usage_day_pkey PRIMARY KEY (tenant_id, project_id, day, measure);
ALTER TABLE ONLY public.application_token
    ADD CONSTRAINT application_token_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.application_token
    ADD CONSTRAINT application_token_previous_hash_key UNIQUE (previous_hash);
ALTER TABLE ONLY public.application_token
    ADD CONSTRAINT application_token_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.approval_event
    ADD CONSTRAINT approval_event_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.approval_event
    ADD CONSTRAINT approval_event_tenant_id_approval_id_voter_id_vote_key UNIQUE (tenant_id, approval_id, voter_id, vote);
ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_tenant_id_run_id_key UNIQUE (tenant_id, run_id);
ALTER TABLE ONLY public.audit_entry
    ADD CONSTRAINT audit_entry_id_key UNIQUE (id);
ALTER TABLE ONLY public.audit_entry
    ADD CONSTRAINT audit_entry_pkey PRIMARY KEY (tenant_id, sequence);
ALTER TABLE ONLY public.audit_export
    ADD CONSTRAINT audit_export_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_head
    ADD CONSTRAINT audit_head_pkey PRIMARY KEY (tenant_id);
ALTER TABLE ONLY public.audit_tally
    ADD CONSTRAINT audit_tally_pkey PRIMARY KEY (tenant_id, facet, value, hour);
ALTER TABLE ONLY public.auth_session
    ADD CONSTRAINT auth_session_cookie_hash_key UNIQUE (cookie_hash);
ALTER TABLE ONLY public.auth_session
    ADD CONSTRAINT auth_session_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.browser_host
    ADD CONSTRAINT browser_host_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.browser_host
    ADD CONSTRAINT browser_host_queue_key UNIQUE (queue);
ALTER TABLE ONLY public.browser_live_link
    ADD CONSTRAINT browser_live_link_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.browser_replay_page
    ADD CONSTRAINT browser_replay_page_pkey PRIMARY KEY (tenant_id, session_id, page_id);
ALTER TABLE ONLY public.browser_session_event
    ADD CONSTRAINT browser_session_event_pkey PRIMARY KEY (tenant_id, session_id, number);
ALTER TABLE ONLY public.browser_session
    ADD CONSTRAINT browser_session_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.browser_session
    ADD CONSTRAINT browser_session_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.build_preview
    ADD CONSTRAINT build_preview_pkey PRIMARY KEY (tenant_id, project_id, preview_key);
ALTER TABLE ONLY public.build_status
    ADD CONSTRAINT build_status_pkey PRIMARY KEY (tenant_id, project_id, commit_sha);
ALTER TABLE ONLY public.chat_action
    ADD CONSTRAINT chat_action_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.chat_action
    ADD CONSTRAINT chat_action_tenant_id_workspace_id_event_id_key UNIQUE (tenant_id, workspace_id, event_id);
ALTER TABLE ONLY public.chat_action
    ADD CONSTRAINT chat_action_tenant_id_workspace_id_signature_key UNIQUE (tenant_id, workspace_id, signature);
ALTER TABLE ONLY public.chat_message
    ADD CONSTRAINT chat_message_pkey PRIMARY KEY (tenant_id, workspace_id, channel, ts);
ALTER TABLE ONLY public.chat_workspace
    ADD CONSTRAINT chat_workspace_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.chat_workspace
    ADD CONSTRAINT chat_workspace_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.chat_workspace
    ADD CONSTRAINT chat_workspace_tenant_id_team_id_key UNIQUE (tenant_id, team_id);
ALTER TABLE ONLY public.code_analysis_body
    ADD CONSTRAINT code_analysis_body_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.code_analysis
    ADD CONSTRAINT code_analysis_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.code_analysis_result
    ADD CONSTRAINT code_analysis_result_pkey PRIMARY KEY (tenant_id, analysis_id, fingerprint, ordinal);
ALTER TABLE ONLY public.code_analysis_schedule
    ADD CONSTRAINT code_analysis_schedule_pkey PRIMARY KEY (tenant_id, project_id, branch);
ALTER TABLE ONLY public.code_analysis
    ADD CONSTRAINT code_analysis_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.code_analysis
    ADD CONSTRAINT code_analysis_tenant_id_project_id_branch_commit_id_key UNIQUE (tenant_id, project_id, branch, commit_id);
ALTER TABLE ONLY public.crm_org
    ADD CONSTRAINT crm_org_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.crm_org
    ADD CONSTRAINT crm_org_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.crm_token
    ADD CONSTRAINT crm_token_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.crm_token
    ADD CONSTRAINT crm_token_tenant_id_org_id_sandbox_name_key UNIQUE (tenant_id, org_id, reached_name);
ALTER TABLE ONLY public.document_collection
    ADD CONSTRAINT document_collection_pkey PRIMARY KEY (tenant_id, name);
ALTER TABLE ONLY public.document_collection
    ADD CONSTRAINT document_collection_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.document
    ADD CONSTRAINT document_pkey PRIMARY KEY (tenant_id, store, collection, key);
ALTER TABLE ONLY public.document_version
    ADD CONSTRAINT document_version_pkey PRIMARY KEY (tenant_id, store, collection, key, version);
ALTER TABLE ONLY public.environment_lock_ticket
    ADD CONSTRAINT environment_lock_ticket_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.environment_lock_ticket
    ADD CONSTRAINT environment_lock_ticket_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.environment
    ADD CONSTRAINT environment_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.environment
    ADD CONSTRAINT environment_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.environment
    ADD CONSTRAINT environment_tenant_id_project_id_name_key UNIQUE (tenant_id, project_id, name);
ALTER TABLE ONLY public.flow_check
    ADD CONSTRAINT flow_check_pkey PRIMARY KEY (tenant_id, run_id, kind);
ALTER TABLE ONLY public.flow_run_lock
    ADD CONSTRAINT flow_run_lock_pkey PRIMARY KEY (tenant_id, execution_id, lock_key);
ALTER TABLE ONLY public.flow_run
    ADD CONSTRAINT flow_run_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.flow_run
    ADD CONSTRAINT flow_run_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.flow_schedule
    ADD CONSTRAINT flow_schedule_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.flow_schedule
    ADD CONSTRAINT flow_schedule_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.gc_check
    ADD CONSTRAINT gc_check_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.gc_entry
    ADD CONSTRAINT gc_entry_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.gc_entry
    ADD CONSTRAINT gc_entry_tenant_id_project_id_branch_package_name_component_key UNIQUE (tenant_id, project_id, branch, package_name, component_type, full_name) INCLUDE (id);
ALTER TABLE ONLY public.gc_event
    ADD CONSTRAINT gc_event_pkey PRIMARY KEY (tenant_id, entry_id, number);
ALTER TABLE ONLY public.gc_presence
    ADD CONSTRAINT gc_presence_pkey PRIMARY KEY (tenant_id, entry_id, environment_id);
ALTER TABLE ONLY public.gc_tally
    ADD CONSTRAINT gc_tally_pkey PRIMARY KEY (tenant_id, project_id, branch, package_name, status);
ALTER TABLE ONLY public.git_commit_package
    ADD CONSTRAINT git_commit_package_pkey PRIMARY KEY (tenant_id, project_id, package_no, seq);
ALTER TABLE ONLY public.git_commit
    ADD CONSTRAINT git_commit_pkey PRIMARY KEY (tenant_id, project_id, seq);
ALTER TABLE ONLY public.git_commit
    ADD CONSTRAINT git_commit_tenant_id_project_id_sha_key UNIQUE (tenant_id, project_id, sha);
ALTER TABLE ONLY public.git_mirror
    ADD CONSTRAINT git_mirror_pkey PRIMARY KEY (tenant_id, project_id);
ALTER TABLE ONLY public.git_package
    ADD CONSTRAINT git_package_pkey PRIMARY KEY (tenant_id, project_id, package_no);
ALTER TABLE ONLY public.git_range
    ADD CONSTRAINT git_range_pkey PRIMARY KEY (tenant_id, project_id, package_no, from_seq, to_seq);
ALTER TABLE ONLY public.git_ref
    ADD CONSTRAINT git_ref_pkey PRIMARY KEY (tenant_id, project_id, kind, name);
ALTER TABLE ONLY public.hook_delivery
    ADD CONSTRAINT hook_delivery_pkey PRIMARY KEY (tenant_id, project_id, delivery_id);
ALTER TABLE ONLY public.hook_delivery
    ADD CONSTRAINT hook_delivery_tenant_id_project_id_body_digest_key UNIQUE (tenant_id, project_id, body_digest);
ALTER TABLE ONLY public.hook_secret
    ADD CONSTRAINT hook_secret_pkey PRIMARY KEY (tenant_id, project_id);
ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (tenant_id, subject, method, path, key);
ALTER TABLE ONLY public.integration
    ADD CONSTRAINT integration_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.integration
    ADD CONSTRAINT integration_tenant_id_kind_project_id_key UNIQUE NULLS NOT DISTINCT (tenant_id, kind, project_id);
ALTER TABLE ONLY public.invitation
    ADD CONSTRAINT invitation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.invitation
    ADD CONSTRAINT invitation_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.invited_membership
    ADD CONSTRAINT invited_membership_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.invited_membership
    ADD CONSTRAINT invited_membership_tenant_id_team_id_user_id_key UNIQUE (tenant_id, team_id, user_id);
ALTER TABLE ONLY public.invited_user
    ADD CONSTRAINT invited_user_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.invited_user
    ADD CONSTRAINT invited_user_tenant_id_email_key UNIQUE (tenant_id, email);
ALTER TABLE ONLY public.invited_user
    ADD CONSTRAINT invited_user_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.known_sign_in
    ADD CONSTRAINT known_sign_in_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.membership
    ADD CONSTRAINT membership_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.membership
    ADD CONSTRAINT membership_tenant_id_team_id_user_id_key UNIQUE (tenant_id, team_id, user_id);
ALTER TABLE ONLY public.metric_series_day
    ADD CONSTRAINT metric_series_day_pkey PRIMARY KEY (tenant_id, day);
ALTER TABLE ONLY public.metric_series
    ADD CONSTRAINT metric_series_pkey PRIMARY KEY (tenant_id, series);
ALTER TABLE ONLY public.metric_window
    ADD CONSTRAINT metric_window_pkey PRIMARY KEY (tenant_id, series, ends_at);
ALTER TABLE ONLY public.mock_call
    ADD CONSTRAINT mock_call_pkey PRIMARY KEY (tenant_id, scenario_id, number);
ALTER TABLE ONLY public.mock_drift
    ADD CONSTRAINT mock_drift_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.mock_drift
    ADD CONSTRAINT mock_drift_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.mock_run
    ADD CONSTRAINT mock_run_pkey PRIMARY KEY (tenant_id, scenario_id, name);
ALTER TABLE ONLY public.mock_scenario
    ADD CONSTRAINT mock_scenario_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.mock_scenario
    ADD CONSTRAINT mock_scenario_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.mock_scenario
    ADD CONSTRAINT mock_scenario_tenant_id_workspace_id_name_key UNIQUE (tenant_id, workspace_id, name);
ALTER TABLE ONLY public.mock_step
    ADD CONSTRAINT mock_step_pkey PRIMARY KEY (tenant_id, scenario_id, seq);
ALTER TABLE ONLY public.mock_workspace
    ADD CONSTRAINT mock_workspace_key_hash_key UNIQUE (key_hash);
ALTER TABLE ONLY public.mock_workspace
    ADD CONSTRAINT mock_workspace_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.mock_workspace
    ADD CONSTRAINT mock_workspace_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.mock_workspace
    ADD CONSTRAINT mock_workspace_tenant_id_name_key UNIQUE (tenant_id, name);
ALTER TABLE ONLY public.org_component_change
    ADD CONSTRAINT org_component_change_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.org_component_file
    ADD CONSTRAINT org_component_file_pkey PRIMARY KEY (tenant_id, component_id, file_name);
ALTER TABLE ONLY public.org_component
    ADD CONSTRAINT org_component_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.org_component
    ADD CONSTRAINT org_component_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.org_component
    ADD CONSTRAINT org_component_tenant_id_org_id_platform_org_id_metadata_typ_key UNIQUE (tenant_id, org_id, platform_org_id, metadata_type, member_name);
ALTER TABLE ONLY public.org_component_type
    ADD CONSTRAINT org_component_type_pkey PRIMARY KEY (tenant_id, org_id, platform_org_id, metadata_type);
ALTER TABLE ONLY public.org_content
    ADD CONSTRAINT org_content_pkey PRIMARY KEY (tenant_id, sha256);
ALTER TABLE ONLY public.org_limit_hour
    ADD CONSTRAINT org_limit_hour_pkey PRIMARY KEY (tenant_id, org_id, hour);
ALTER TABLE ONLY public.org_limit_sample
    ADD CONSTRAINT org_limit_sample_pkey PRIMARY KEY (tenant_id, org_id, sampled_at);
ALTER TABLE ONLY public.org_limit_state
    ADD CONSTRAINT org_limit_state_pkey PRIMARY KEY (tenant_id, org_id);
ALTER TABLE ONLY public.org_sync
    ADD CONSTRAINT org_sync_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.package_version
    ADD CONSTRAINT package_version_pkey PRIMARY KEY (tenant_id, project_id, name, version);
ALTER TABLE ONLY public.project
    ADD CONSTRAINT project_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.project
    ADD CONSTRAINT project_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.project
    ADD CONSTRAINT project_tenant_id_identifier_key UNIQUE (tenant_id, identifier);
ALTER TABLE ONLY public.pull_request
    ADD CONSTRAINT pull_request_pkey PRIMARY KEY (tenant_id, project_id, number);
ALTER TABLE ONLY public.pull_request_refresh
    ADD CONSTRAINT pull_request_refresh_pkey PRIMARY KEY (tenant_id, project_id);
ALTER TABLE ONLY public.rate_limit
    ADD CONSTRAINT rate_limit_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.refresh_token
    ADD CONSTRAINT refresh_token_pkey PRIMARY KEY (token_hash);
ALTER TABLE ONLY public.release_candidate_count
    ADD CONSTRAINT release_candidate_count_pkey PRIMARY KEY (tenant_id, project_id, domain, branch, status);
ALTER TABLE ONLY public.release_candidate
    ADD CONSTRAINT release_candidate_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.release_candidate
    ADD CONSTRAINT release_candidate_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.release_candidate
    ADD CONSTRAINT release_candidate_tenant_id_project_id_domain_release_name_key UNIQUE (tenant_id, project_id, domain, release_name);
ALTER TABLE ONLY public.release_deployment
    ADD CONSTRAINT release_deployment_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.release_deployment
    ADD CONSTRAINT release_deployment_tenant_id_project_id_domain_release_name_key UNIQUE (tenant_id, project_id, domain, release_name, environment_id, dedupe_key);
ALTER TABLE ONLY public.review_assignment
    ADD CONSTRAINT review_assignment_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.review_assignment
    ADD CONSTRAINT review_assignment_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.review_instance
    ADD CONSTRAINT review_instance_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.review_instance
    ADD CONSTRAINT review_instance_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.review_pool
    ADD CONSTRAINT review_pool_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.review_pool
    ADD CONSTRAINT review_pool_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.review_rule
    ADD CONSTRAINT review_rule_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.review_rule
    ADD CONSTRAINT review_rule_tenant_id_project_id_likeness_key UNIQUE (tenant_id, project_id, likeness);
ALTER TABLE ONLY public.run_token
    ADD CONSTRAINT run_token_pkey PRIMARY KEY (tenant_id, run_id);
ALTER TABLE ONLY public.run_token
    ADD CONSTRAINT run_token_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.schema_migration
    ADD CONSTRAINT schema_migration_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.sign_in_failure
    ADD CONSTRAINT sign_in_failure_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.sweep_failure
    ADD CONSTRAINT sweep_failure_pkey PRIMARY KEY (sweep, row_key);
ALTER TABLE ONLY public.team
    ADD CONSTRAINT team_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.team
    ADD CONSTRAINT team_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.team
    ADD CONSTRAINT team_tenant_id_slug_key UNIQUE (tenant_id, slug);
ALTER TABLE ONLY public.tenant
    ADD CONSTRAINT tenant_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.tenant
    ADD CONSTRAINT tenant_slug_key UNIQUE (slug);
ALTER TABLE ONLY public.tenant_user
    ADD CONSTRAINT tenant_user_pkey PRIMARY KEY (tenant_id, user_id);
ALTER TABLE ONLY public.user_account
    ADD CONSTRAINT user_account_email_key UNIQUE (email);
ALTER TABLE ONLY public.user_account
    ADD CONSTRAINT user_account_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.user_alias
    ADD CONSTRAINT user_alias_pkey PRIMARY KEY (email);
ALTER TABLE ONLY public.user_identity
    ADD CONSTRAINT user_identity_pkey PRIMARY KEY (provider, external_id);
ALTER TABLE ONLY public.user_profile
    ADD CONSTRAINT user_profile_pkey PRIMARY KEY (tenant_id, user_id);
ALTER TABLE ONLY public.user_recovery_code
    ADD CONSTRAINT user_recovery_code_pkey PRIMARY KEY (user_id, code_hash);
ALTER TABLE ONLY public.user_totp
    ADD CONSTRAINT user_totp_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.webhook_attempt
    ADD CONSTRAINT webhook_attempt_pkey PRIMARY KEY (tenant_id, delivery_id, attempt);
ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.webhook
    ADD CONSTRAINT webhook_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.webhook_subscription
    ADD CONSTRAINT webhook_subscription_pkey PRIMARY KEY (tenant_id, event, webhook_id);
ALTER TABLE ONLY public.work_item_request_count
    ADD CONSTRAINT work_item_request_count_pkey PRIMARY KEY (tenant_id, kind, value, status, project_id);
ALTER TABLE ONLY public.work_item_request_execution
    ADD CONSTRAINT work_item_request_execution_pkey PRIMARY KEY (tenant_id, project_id, execution_id, request_id);
ALTER TABLE ONLY public.work_item_request
    ADD CONSTRAINT work_item_request_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.work_item_request_tally
    ADD CONSTRAINT work_item_request_tally_pkey PRIMARY KEY (tenant_id, project_id, repository_identifier, platform, status, task_type);
CREATE INDEX ai_call_started_at_idx ON public.ai_call USING btree (started_at);
CREATE INDEX ai_call_tenant_id_integration_id_idx ON public.ai_call USING btree (tenant_id, integration_id) WHERE (outcome = 'running'::text);
CREATE INDEX ai_call_tenant_id_project_id_started_at_idx ON public.ai_call USING btree (tenant_id, project_id, started_at);
CREATE INDEX ai_call_tenant_id_task_execution_id_idx ON public.ai_call USING btree (tenant_id, task_execution_id);
CREATE INDEX ai_report_by_key ON public.ai_report USING btree (tenant_id, project_id, branch, scope, scope_name, analyzed_at, id);
CREATE UNIQUE INDEX ai_report_under_way ON public.ai_report USING btree (tenant_id, project_id, branch, scope, scope_name) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE INDEX ai_usage_day_day_idx ON public.ai_usage_day USING btree (day);
CREATE UNIQUE INDEX application_token_name ON public.application_token USING btree (tenant_id, name) WHERE (revoked_at IS NULL);
CREATE INDEX application_token_to_announce ON public.application_token USING btree (expires_at) WHERE ((revoked_at IS NULL) AND (expiry_announced_at IS NULL));
CREATE INDEX approval_event_newest ON public.approval_event USING btree (tenant_id, repository_identifier, occurred_at DESC, id DESC) INCLUDE (status, environment_name, domain, task_type);
CREATE INDEX approval_event_of_approval ON public.approval_event USING btree (tenant_id, approval_id, occurred_at, id);
CREATE UNIQUE INDEX approval_event_of_override ON public.approval_event USING btree (tenant_id, run_id) WHERE (approval_id IS NULL);
CREATE INDEX approval_given ON public.approval USING btree (tenant_id, project_id, domain, release_name) WHERE (status = 'approved'::text);
CREATE INDEX approval_newest ON public.approval USING btree (tenant_id, status, created_at DESC, id DESC);
CREATE INDEX approval_of_candidate ON public.approval USING btree (tenant_id, project_id, domain, release_name) WHERE (status = 'requested'::text);
CREATE INDEX approval_of_environment ON public.approval USING btree (tenant_id, environment_id) WHERE (environment_id IS NOT NULL);
CREATE INDEX approval_of_project ON public.approval USING btree (tenant_id, project_id, status, created_at DESC, id DESC);
CREATE INDEX approval_untold ON public.approval USING btree (created_at) WHERE (run_notified_at IS NULL);
CREATE INDEX audit_entry_by_action ON public.audit_entry USING btree (tenant_id, action, occurred_at, sequence);
CREATE INDEX audit_entry_by_actor ON public.audit_entry USING btree (tenant_id, actor_id, occurred_at, sequence);
CREATE INDEX audit_entry_by_email ON public.audit_entry USING btree (tenant_id, actor_email, occurred_at, sequence);
CREATE INDEX audit_entry_by_entity ON public.audit_entry USING btree (tenant_id, entity_id, occurred_at, sequence) WHERE (entity_id IS NOT NULL);
CREATE INDEX audit_entry_by_repository ON public.audit_entry USING btree (tenant_id, repository_identifier, occurred_at, sequence) WHERE (repository_identifier IS NOT NULL);
CREATE INDEX audit_entry_by_source ON public.audit_entry USING btree (tenant_id, source, occurred_at, sequence);
CREATE INDEX audit_entry_by_time ON public.audit_entry USING btree (tenant_id, occurred_at, sequence);
CREATE INDEX audit_export_open ON public.audit_export USING btree (created_at) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE INDEX audit_export_to_expire ON public.audit_export USING btree (expires_at) WHERE (status = 'completed'::text);
CREATE INDEX auth_session_begun_from ON public.auth_session USING btree (begun_from) WHERE (begun_from IS NOT NULL);
CREATE INDEX auth_session_of_user ON public.auth_session USING btree (user_id);
CREATE INDEX browser_host_seen_at_idx ON public.browser_host USING btree (seen_at);
CREATE INDEX browser_live_link_tenant_id_session_id_idx ON public.browser_live_link USING btree (tenant_id, session_id);
CREATE INDEX browser_session_host_id_idx ON public.browser_session USING btree (host_id) WHERE (host_id IS NOT NULL);
CREATE INDEX browser_session_list ON public.browser_session USING btree (tenant_id, created_at, id);
CREATE UNIQUE INDEX browser_session_of_pr ON public.browser_session USING btree (tenant_id, project_id, pr_number) WHERE ((pr_number IS NOT NULL) AND (removed_at IS NULL) AND (status = ANY (ARRAY['provisioning'::text, 'live'::text])));
CREATE INDEX browser_session_of_project ON public.browser_session USING btree (tenant_id, project_id, created_at, id);
CREATE INDEX browser_session_open ON public.browser_session USING btree (created_at) WHERE ((released_at IS NULL) OR (removed_at IS NOT NULL));
CREATE INDEX browser_session_recorded ON public.browser_session USING btree (ended_at) WHERE (recording_state = ANY (ARRAY['processing'::text, 'ready'::text, 'partial'::text]));
CREATE INDEX browser_session_tenant_id_assignment_id_idx ON public.browser_session USING btree (tenant_id, assignment_id) WHERE (assignment_id IS NOT NULL);
CREATE INDEX browser_session_tenant_id_environment_id_idx ON public.browser_session USING btree (tenant_id, environment_id) WHERE (environment_id IS NOT NULL);
CREATE INDEX browser_session_tenant_id_flow_run_id_idx ON public.browser_session USING btree (tenant_id, flow_run_id) WHERE (flow_run_id IS NOT NULL);
CREATE INDEX build_preview_age ON public.build_preview USING btree (requested_at);
CREATE INDEX build_preview_pending ON public.build_preview USING btree (requested_at) WHERE (status = 'pending'::text);
CREATE INDEX build_status_newest ON public.build_status USING btree (tenant_id, project_id, commit_date DESC, commit_sha);
CREATE INDEX chat_action_created_at_idx ON public.chat_action USING btree (created_at);
CREATE INDEX chat_action_workspace_id_due_at_idx ON public.chat_action USING btree (workspace_id, due_at) WHERE (status = 'pending'::text);
CREATE INDEX chat_message_tenant_id_approval_id_idx ON public.chat_message USING btree (tenant_id, approval_id);
CREATE INDEX chat_message_workspace_id_due_at_idx ON public.chat_message USING btree (workspace_id, due_at) WHERE (shown_revision < wanted_revision);
CREATE INDEX code_analysis_body_created_at_idx ON public.code_analysis_body USING btree (created_at);
CREATE INDEX code_analysis_schedule_last_night_idx ON public.code_analysis_schedule USING btree (last_night);
CREATE INDEX code_analysis_tenant_id_body_id_idx ON public.code_analysis USING btree (tenant_id, body_id);
CREATE INDEX code_analysis_tenant_id_project_id_branch_analyzed_at_id_idx ON public.code_analysis USING btree (tenant_id, project_id, branch, analyzed_at DESC, id DESC);
CREATE INDEX code_analysis_updated_at_idx ON public.code_analysis USING btree (updated_at) WHERE ((compared_at IS NULL) OR status_due);
CREATE INDEX crm_org_expires_at_idx ON public.crm_org USING btree (expires_at) WHERE ((expiry_announced_at IS NULL) AND (expires_at IS NOT NULL));
CREATE UNIQUE INDEX crm_org_tenant_id_idx ON public.crm_org USING btree (tenant_id) WHERE is_default;
CREATE UNIQUE INDEX crm_org_tenant_id_lower_idx ON public.crm_org USING btree (tenant_id, lower(username));
CREATE INDEX crm_org_tenant_id_lower_idx1 ON public.crm_org USING btree (tenant_id, lower(sandbox_name)) WHERE (sandbox_name IS NOT NULL);
CREATE INDEX document_content ON public.document USING gin (jsonb_set('{}'::jsonb, ARRAY[((tenant_id)::text || store)], value) jsonb_path_ops) WITH (gin_pending_list_limit='64');
CREATE INDEX environment_lock_ended ON public.environment_lock_ticket USING btree (ended_at);
CREATE UNIQUE INDEX environment_lock_holder ON public.environment_lock_ticket USING btree (tenant_id, environment_id) WHERE (state = 'held'::text);
CREATE INDEX environment_lock_lapsed ON public.environment_lock_ticket USING btree (tenant_id, environment_id) WHERE ((state = 'expired'::text) AND (ended_at IS NULL));
CREATE INDEX environment_lock_line ON public.environment_lock_ticket USING btree (tenant_id, environment_id, number) WHERE (state = ANY (ARRAY['asked'::text, 'queued'::text, 'held'::text]));
CREATE INDEX environment_lock_live ON public.environment_lock_ticket USING btree (created_at) WHERE (state = ANY (ARRAY['asked'::text, 'queued'::text, 'held'::text]));
CREATE UNIQUE INDEX environment_lock_of_holder ON public.environment_lock_ticket USING btree (tenant_id, environment_id, holder_key) WHERE (state = ANY (ARRAY['asked'::text, 'queued'::text, 'held'::text]));
CREATE INDEX environment_lock_of_run ON public.environment_lock_ticket USING btree (tenant_id, run_id) WHERE ((state = ANY (ARRAY['asked'::text, 'queued'::text, 'held'::text])) AND (run_id IS NOT NULL));
CREATE INDEX environment_lock_past ON public.environment_lock_ticket USING btree (tenant_id, environment_id, ended_at DESC) WHERE ((held_at IS NOT NULL) AND (ended_at IS NOT NULL));
CREATE INDEX flow_check_due ON public.flow_check USING btree (updated_at) WHERE (written_revision < revision);
CREATE INDEX flow_run_analyses ON public.flow_run USING btree (tenant_id, project_id, ((payload ->> 'branch'::text)), ((payload ->> 'commitId'::text)), created_at DESC) WHERE (task_type = 'analyze'::text);
CREATE INDEX flow_run_builds ON public.flow_run USING btree (tenant_id, project_id, ((payload ->> 'commitId'::text)), created_at DESC) WHERE (task_type = 'build'::text);
CREATE INDEX flow_run_children ON public.flow_run USING btree (tenant_id, parent_id, created_at) WHERE (parent_id IS NOT NULL);
CREATE UNIQUE INDEX flow_run_external ON public.flow_run USING btree (tenant_id, external_id) WHERE (external_id IS NOT NULL);
CREATE INDEX flow_run_newest ON public.flow_run USING btree (tenant_id, created_at DESC, id DESC) INCLUDE (project_id, display_status, category, task_type, execution_mode, flow_path, work_item_type, is_internal, is_scheduled);
CREATE INDEX flow_run_of_category ON public.flow_run USING btree (tenant_id, category, created_at DESC, id DESC) INCLUDE (project_id, display_status, task_type, execution_mode, flow_path, work_item_type, is_internal, is_scheduled);
CREATE INDEX flow_run_of_environment ON public.flow_run USING btree (tenant_id, environment_id) WHERE (environment_id IS NOT NULL);
CREATE INDEX flow_run_of_flow_path ON public.flow_run USING btree (tenant_id, flow_path, created_at DESC, id DESC);
CREATE INDEX flow_run_of_project ON public.flow_run USING btree (tenant_id, project_id, created_at DESC, id DESC) INCLUDE (display_status, category, task_type, execution_mode, flow_path, work_item_type, is_internal, is_scheduled);
CREATE INDEX flow_run_of_status ON public.flow_run USING btree (tenant_id, display_status, created_at DESC, id DESC) INCLUDE (project_id, category, task_type, execution_mode, flow_path, work_item_type, is_internal, is_scheduled);
CREATE INDEX flow_run_of_task_type ON public.flow_run USING btree (tenant_id, task_type, created_at DESC, id DESC) INCLUDE (project_id, display_status, category, execution_mode, flow_path, work_item_type, is_internal, is_scheduled);
CREATE INDEX flow_run_of_trigger ON public.flow_run USING btree (tenant_id, triggered_by, created_at DESC, id DESC) INCLUDE (project_id, display_status, category, task_type, execution_mode, flow_path, work_item_type, is_internal, is_scheduled);
CREATE INDEX flow_run_of_work_item ON public.flow_run USING btree (tenant_id, work_item_key, created_at DESC, id DESC) WHERE (work_item_key IS NOT NULL);
CREATE INDEX flow_run_of_work_item_type ON public.flow_run USING btree (tenant_id, work_item_type, created_at DESC, id DESC) WHERE (work_item_type IS NOT NULL);
CREATE INDEX flow_run_open ON public.flow_run USING btree (updated_at) WHERE ((ended_at IS NULL) AND has_workflow);
CREATE INDEX flow_run_open_analyses ON public.flow_run USING btree (created_at) WHERE ((task_type = 'analyze'::text) AND is_scheduled AND (ended_at IS NULL));
CREATE INDEX flow_run_reruns ON public.flow_run USING btree (tenant_id, rerun_of_id) WHERE (rerun_of_id IS NOT NULL);
CREATE INDEX flow_run_tally_of_tenant ON public.flow_run_tally USING btree (tenant_id);
CREATE UNIQUE INDEX flow_run_tally_settled ON public.flow_run_tally USING btree (tenant_id, project_id, status, display_status, category, task_type, flow_path, execution_mode, work_item_type, is_internal, is_scheduled) NULLS NOT DISTINCT WHERE is_settled;
CREATE INDEX flow_run_tally_unsettled ON public.flow_run_tally USING btree (tenant_id) WHERE (NOT is_settled);
CREATE INDEX flow_run_waiting_window ON public.flow_run USING btree (tenant_id, project_id) WHERE (status = 'waiting_window'::text);
CREATE UNIQUE INDEX flow_schedule_name ON public.flow_schedule USING btree (tenant_id, name) WHERE (deleted_at IS NULL);
CREATE INDEX flow_schedule_unsynced ON public.flow_schedule USING btree (updated_at) WHERE (synced_at IS NULL);
CREATE UNIQUE INDEX gc_check_under_way ON public.gc_check USING btree (tenant_id, project_id, branch) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE INDEX gc_entry_by_status ON public.gc_entry USING btree (tenant_id, project_id, status, branch, package_name, component_type, full_name) INCLUDE (id);
CREATE INDEX gc_presence_of_environment ON public.gc_presence USING btree (tenant_id, environment_id);
CREATE INDEX git_commit_abbreviated ON public.git_commit USING btree (tenant_id, project_id, sha text_pattern_ops);
CREATE INDEX git_commit_work_items ON public.git_commit USING gin (work_items);
CREATE INDEX git_mirror_due ON public.git_mirror USING btree (next_fetch_at);
CREATE UNIQUE INDEX git_package_current ON public.git_package USING btree (tenant_id, project_id, name) WHERE is_current;
CREATE INDEX hook_delivery_age ON public.hook_delivery USING btree (received_at);
CREATE INDEX idempotency_key_age ON public.idempotency_key USING btree (started_at);
CREATE INDEX invitation_of_address ON public.invitation USING btree (tenant_id, email, created_at);
CREATE INDEX invitation_of_invited ON public.invitation USING btree (invited_user_id) WHERE (invited_user_id IS NOT NULL);
CREATE INDEX invitation_of_user ON public.invitation USING btree (user_id, created_at);
CREATE INDEX invited_membership_of_user ON public.invited_membership USING btree (tenant_id, user_id);
CREATE INDEX invited_user_by_email ON public.invited_user USING btree (email);
CREATE INDEX membership_of_user ON public.membership USING btree (user_id, tenant_id);
CREATE INDEX metric_window_ends_at_idx ON public.metric_window USING btree (ends_at);
CREATE INDEX metric_window_sent ON public.metric_window USING btree (sent_at) WHERE is_sent;
CREATE INDEX metric_window_unsent ON public.metric_window USING btree (tenant_id, ends_at) WHERE (NOT is_sent);
CREATE INDEX mock_drift_of_scenario ON public.mock_drift USING btree (tenant_id, scenario_id, created_at);
CREATE INDEX mock_drift_under_way ON public.mock_drift USING btree (updated_at) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE UNIQUE INDEX mock_scenario_active ON public.mock_scenario USING btree (tenant_id, workspace_id) WHERE (status = ANY (ARRAY['recording'::text, 'armed'::text]));
CREATE INDEX mock_scenario_armed ON public.mock_scenario USING btree (armed_until) WHERE (status = 'armed'::text);
CREATE INDEX org_component_change_detected_at_idx ON public.org_component_change USING btree (detected_at);
CREATE INDEX org_component_change_tenant_id_org_id_platform_org_id_detec_idx ON public.org_component_change USING btree (tenant_id, org_id, platform_org_id, detected_at DESC, id DESC);
CREATE INDEX org_component_change_tenant_id_org_id_sync_id_idx ON public.org_component_change USING btree (tenant_id, org_id, sync_id) WHERE (sync_id IS NOT NULL);
CREATE INDEX org_component_file_tenant_id_sha256_idx ON public.org_component_file USING btree (tenant_id, sha256);
CREATE INDEX org_component_tenant_id_org_id_metadata_type_member_name_idx ON public.org_component USING btree (tenant_id, org_id, metadata_type, member_name) WHERE is_due;
CREATE INDEX org_component_tenant_id_org_id_platform_org_id_lower_idx ON public.org_component USING btree (tenant_id, org_id, platform_org_id, lower(member_name));
CREATE INDEX org_component_tenant_id_org_id_retrieve_id_idx ON public.org_component USING btree (tenant_id, org_id, retrieve_id) WHERE (retrieve_id IS NOT NULL);
CREATE INDEX org_content_used_at_idx ON public.org_content USING btree (used_at);
CREATE INDEX org_limit_hour_hour_idx ON public.org_limit_hour USING btree (hour);
CREATE INDEX org_limit_sample_sampled_at_idx ON public.org_limit_sample USING btree (sampled_at);
CREATE INDEX org_limit_state_due_at_idx ON public.org_limit_state USING btree (due_at);
CREATE UNIQUE INDEX org_sync_tenant_id_org_id_idx ON public.org_sync USING btree (tenant_id, org_id) WHERE (status = 'requested'::text);
CREATE UNIQUE INDEX org_sync_tenant_id_org_id_idx1 ON public.org_sync USING btree (tenant_id, org_id) WHERE (status = 'running'::text);
CREATE INDEX org_sync_tenant_id_org_id_updated_at_id_idx ON public.org_sync USING btree (tenant_id, org_id, updated_at DESC, id DESC) WHERE (status = ANY (ARRAY['succeeded'::text, 'failed'::text]));
CREATE INDEX org_sync_updated_at_idx ON public.org_sync USING btree (updated_at) WHERE (status = ANY (ARRAY['requested'::text, 'running'::text]));
CREATE INDEX package_version_moved ON public.package_version USING btree (tenant_id, project_id) INCLUDE (moves) WHERE (moves > 0);
CREATE INDEX project_of_host ON public.project USING btree (platform, lower(identifier));
CREATE INDEX pull_request_ended ON public.pull_request USING btree (COALESCE(ended_at, changed_at)) WHERE (state = ANY (ARRAY['closed'::text, 'merged'::text]));
CREATE INDEX pull_request_of_author ON public.pull_request USING btree (tenant_id, project_id, author_key, state, COALESCE(ended_at, changed_at) DESC);
CREATE INDEX pull_request_open ON public.pull_request USING btree (tenant_id, project_id) WHERE (state = 'open'::text);
CREATE INDEX refresh_token_of_session ON public.refresh_token USING btree (session_id);
CREATE INDEX release_candidate_all ON public.release_candidate USING btree (tenant_id, project_id, created_at DESC, id DESC) INCLUDE (domain, branch, status);
CREATE INDEX release_candidate_of_branch ON public.release_candidate USING btree (tenant_id, project_id, branch, created_at DESC, id DESC) INCLUDE (domain, branch, status);
CREATE INDEX release_candidate_of_commit ON public.release_candidate USING btree (tenant_id, project_id, commit_sha text_pattern_ops);
CREATE INDEX release_candidate_of_domain ON public.release_candidate USING btree (tenant_id, project_id, domain, created_at DESC, id DESC) INCLUDE (domain, branch, status);
CREATE INDEX release_candidate_open ON public.release_candidate USING btree (tenant_id, project_id, created_at DESC, id DESC) INCLUDE (domain, branch, status) WHERE (status <> 'finalized'::text);
CREATE INDEX release_deployment_log ON public.release_deployment USING btree (tenant_id, project_id, environment_id, domain) INCLUDE (id, deployed_at, status, rolled_back_at);
CREATE INDEX release_deployment_of_candidate ON public.release_deployment USING btree (tenant_id, candidate_id, environment_id, deployed_at DESC, id DESC);
CREATE INDEX release_deployment_of_environment ON public.release_deployment USING btree (tenant_id, environment_id, deployed_at DESC, id DESC);
CREATE INDEX release_deployment_of_project ON public.release_deployment USING btree (tenant_id, project_id, deployed_at DESC, id DESC);
CREATE INDEX release_deployment_of_release ON public.release_deployment USING btree (tenant_id, project_id, domain, release_name, environment_id, deployed_at DESC, id DESC);
CREATE INDEX release_deployment_success ON public.release_deployment USING btree (tenant_id, environment_id, domain, deployed_at DESC, id DESC) WHERE (status = 'Success'::text);
CREATE INDEX release_deployment_unapplied ON public.release_deployment USING btree (created_at) WHERE (applied_at IS NULL);
CREATE INDEX release_deployment_violations_of_run ON public.release_deployment USING btree (tenant_id, execution_id) WHERE (policy_violations <> '[]'::jsonb);
CREATE INDEX review_assignment_ended ON public.review_assignment USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX review_assignment_line ON public.review_assignment USING btree (tenant_id, pool_id, number) WHERE (state = 'pending'::text);
CREATE INDEX review_assignment_list ON public.review_assignment USING btree (tenant_id, project_id, number);
CREATE UNIQUE INDEX review_assignment_of_instance ON public.review_assignment USING btree (tenant_id, instance_id) WHERE ((state = 'active'::text) AND (instance_id IS NOT NULL));
CREATE UNIQUE INDEX review_assignment_of_key ON public.review_assignment USING btree (tenant_id, project_id, assignment_type, assignment_key) WHERE (state = ANY (ARRAY['pending'::text, 'active'::text]));
CREATE INDEX review_assignment_of_org ON public.review_assignment USING btree (tenant_id, lower(org_username)) WHERE (state = 'active'::text);
CREATE INDEX review_assignment_open ON public.review_assignment USING btree (expires_at) WHERE (state = ANY (ARRAY['pending'::text, 'active'::text]));
CREATE INDEX review_assignment_tenant_id_environment_id_idx ON public.review_assignment USING btree (tenant_id, environment_id) WHERE (environment_id IS NOT NULL);
CREATE INDEX review_assignment_tenant_id_instance_id_idx ON public.review_assignment USING btree (tenant_id, instance_id) WHERE (instance_id IS NOT NULL);
CREATE INDEX review_assignment_tenant_id_pool_id_idx ON public.review_assignment USING btree (tenant_id, pool_id) WHERE (pool_id IS NOT NULL);
CREATE INDEX review_instance_available ON public.review_instance USING btree (tenant_id, pool_id, expires_at) WHERE (state = 'available'::text);
CREATE INDEX review_instance_ended ON public.review_instance USING btree (state_changed_at) WHERE (state = ANY (ARRAY['expired'::text, 'failed'::text]));
CREATE INDEX review_instance_ending ON public.review_instance USING btree (expires_at) WHERE ((state = ANY (ARRAY['provisioning'::text, 'available'::text, 'assigned'::text, 'refreshing'::text])) AND (expires_at IS NOT NULL));
CREATE UNIQUE INDEX review_instance_live ON public.review_instance USING btree (tenant_id, lower(username)) WHERE (state = ANY (ARRAY['provisioning'::text, 'available'::text, 'assigned'::text, 'refreshing'::text]));
CREATE INDEX review_instance_of_pool ON public.review_instance USING btree (tenant_id, pool_id, created_at);
CREATE INDEX review_instance_of_run ON public.review_instance USING btree (tenant_id, prepared_by) WHERE (prepared_by IS NOT NULL);
CREATE INDEX review_pool_of_run ON public.review_pool USING btree (tenant_id, prepare_run_id) WHERE (prepare_run_id IS NOT NULL);
CREATE UNIQUE INDEX review_pool_tag ON public.review_pool USING btree (tenant_id, project_id, tag);
CREATE INDEX review_rule_of_project ON public.review_rule USING btree (tenant_id, project_id, id);
CREATE INDEX review_rule_tenant_id_environment_id_idx ON public.review_rule USING btree (tenant_id, environment_id) WHERE (environment_id IS NOT NULL);
CREATE INDEX review_rule_tenant_id_pool_id_idx ON public.review_rule USING btree (tenant_id, pool_id) WHERE (pool_id IS NOT NULL);
CREATE INDEX run_token_expired ON public.run_token USING btree (expires_at);
CREATE UNIQUE INDEX tenant_chat_key ON public.tenant USING btree (chat_key);
CREATE INDEX tenant_user_of_user ON public.tenant_user USING btree (user_id);
CREATE INDEX user_alias_of_user ON public.user_alias USING btree (user_id);
CREATE UNIQUE INDEX user_identity_by_name ON public.user_identity USING btree (provider, username);
CREATE INDEX user_identity_of_user ON public.user_identity USING btree (user_id);
CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (webhook_id, due_at) WHERE (status = 'pending'::text);
CREATE INDEX webhook_delivery_list ON public.webhook_delivery USING btree (webhook_id, created_at, id) INCLUDE (status);
CREATE INDEX webhook_delivery_refused ON public.webhook_delivery USING btree (webhook_id, last_status_code, created_at, id) WHERE (last_status_code >= 300);
CREATE INDEX webhook_delivery_repeat ON public.webhook_delivery USING btree (redelivery_of) WHERE (redelivery_of IS NOT NULL);
CREATE INDEX webhook_delivery_undelivered ON public.webhook_delivery USING btree (webhook_id, status, created_at, id) WHERE (status = ANY (ARRAY['failed'::text, 'filtered'::text, 'cancelled'::text]));
CREATE INDEX webhook_list ON public.webhook USING btree (tenant_id, created_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX webhook_subscription_of_webhook ON public.webhook_subscription USING btree (webhook_id);
CREATE INDEX webhook_to_disable ON public.webhook USING btree (id) WHERE ((status = 'active'::text) AND (failure_reason IS NOT NULL));
CREATE INDEX work_item_request_by_candidate ON public.work_item_request USING btree (tenant_id, release_candidate, created_at DESC, id DESC) INCLUDE (project_id, status, platform, task_type) WHERE (release_candidate IS NOT NULL);
CREATE INDEX work_item_request_by_creator ON public.work_item_request USING btree (tenant_id, created_by, created_at DESC, id DESC) INCLUDE (project_id, status, platform, task_type, repository_identifier);
CREATE INDEX work_item_request_by_platform ON public.work_item_request USING btree (tenant_id, platform, created_at DESC, id DESC) INCLUDE (project_id, status, task_type);
CREATE INDEX work_item_request_by_project ON public.work_item_request USING btree (tenant_id, project_id, created_at DESC, id DESC) INCLUDE (status, platform, task_type, created_by);
CREATE INDEX work_item_request_by_repository ON public.work_item_request USING btree (tenant_id, repository_identifier, created_at DESC, id DESC) INCLUDE (project_id, status, platform, task_type, created_by);
CREATE INDEX work_item_request_by_status ON public.work_item_request USING btree (tenant_id, status, created_at DESC, id DESC) INCLUDE (project_id, platform, task_type);
CREATE INDEX work_item_request_by_type ON public.work_item_request USING btree (tenant_id, task_type, created_at DESC, id DESC) INCLUDE (project_id, status, platform);
CREATE INDEX work_item_request_closing ON public.work_item_request USING btree (close_due_at) WHERE (close_due_at IS NOT NULL);
CREATE INDEX work_item_request_creating ON public.work_item_request USING btree (created_at) WHERE (status = 'creating'::text);
CREATE INDEX work_item_request_newest ON public.work_item_request USING btree (tenant_id, created_at DESC, id DESC) INCLUDE (project_id, status, platform, task_type);
CREATE INDEX work_item_request_of_item ON public.work_item_request USING btree (tenant_id, project_id, platform, work_item_key, created_at DESC, id DESC);
CREATE INDEX work_item_request_unreported ON public.work_item_request USING btree (report_changed_at) WHERE (report_written_revision < report_revision);
CREATE TRIGGER address_kept AFTER INSERT OR UPDATE OF email ON public.user_account FOR EACH ROW EXECUTE FUNCTION public.keep_account_address();
CREATE TRIGGER counted_on_delete AFTER DELETE ON public.release_candidate REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION public.count_release_candidates();
CREATE TRIGGER counted_on_delete AFTER DELETE ON public.work_item_request REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION public.count_work_item_requests();
CREATE TRIGGER counted_on_insert AFTER INSERT ON public.release_candidate REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.count_release_candidates();
CREATE TRIGGER counted_on_insert AFTER INSERT ON public.work_item_request REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.count_work_item_requests();
CREATE TRIGGER counted_on_update AFTER UPDATE ON public.release_candidate REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.count_release_candidates();
CREATE TRIGGER counted_on_update AFTER UPDATE ON public.work_item_request REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.count_work_item_requests();
CREATE TRIGGER digested BEFORE INSERT OR UPDATE OF commit_sha, value ON public.release_candidate FOR EACH ROW EXECUTE FUNCTION public.digest_release_content();
CREATE TRIGGER filled BEFORE INSERT OR UPDATE ON public.release_deployment FOR EACH ROW WHEN ((new.content_digest IS NULL)) EXECUTE FUNCTION public.fill_deployed_content();
CREATE TRIGGER filled_commit BEFORE INSERT ON public.release_deployment FOR EACH ROW WHEN ((new.commit_sha IS NULL)) EXECUTE FUNCTION public.fill_deployed_commit();
CREATE TRIGGER followed_on_delete AFTER DELETE ON public.gc_entry REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION public.follow_gc_entries();
CREATE TRIGGER followed_on_delete AFTER DELETE ON public.work_item_request REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION public.follow_work_item_requests();
CREATE TRIGGER followed_on_insert AFTER INSERT ON public.gc_entry REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.follow_gc_entries();
CREATE TRIGGER followed_on_insert AFTER INSERT ON public.work_item_request REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.follow_work_item_requests();
CREATE TRIGGER followed_on_update AFTER UPDATE ON public.gc_entry REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.follow_gc_entries();
CREATE TRIGGER followed_on_update AFTER UPDATE ON public.work_item_request REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.follow_work_item_requests();
CREATE TRIGGER moved BEFORE UPDATE ON public.package_version FOR EACH ROW WHEN ((old.commit_sha IS DISTINCT FROM new.commit_sha)) EXECUTE FUNCTION public.count_package_version_moves();
CREATE TRIGGER package_versions_on_insert AFTER INSERT ON public.release_candidate FOR EACH ROW EXECUTE FUNCTION public.note_package_versions();
CREATE TRIGGER package_versions_on_update AFTER UPDATE ON public.release_candidate FOR EACH ROW WHEN (((old.value IS DISTINCT FROM new.value) OR (old.commit_sha IS DISTINCT FROM new.commit_sha))) EXECUTE FUNCTION public.note_package_versions();
CREATE TRIGGER slug_is_fixed BEFORE UPDATE OF slug ON public.tenant FOR EACH ROW WHEN ((old.slug <> new.slug)) EXECUTE FUNCTION public.refuse_new_slug();
CREATE TRIGGER tallied AFTER INSERT OR DELETE ON public.flow_run FOR EACH ROW EXECUTE FUNCTION public.tally_flow_run();
CREATE TRIGGER tallied_again AFTER UPDATE ON public.flow_run FOR EACH ROW WHEN (((old.tenant_id IS DISTINCT FROM new.tenant_id) OR (old.project_id IS DISTINCT FROM new.project_id) OR (old.status IS DISTINCT FROM new.status) OR (old.display_status IS DISTINCT FROM new.display_status) OR (old.category IS DISTINCT FROM new.category) OR (old.task_type IS DISTINCT FROM new.task_type) OR (old.flow_path IS DISTINCT FROM new.flow_path) OR (old.execution_mode IS DISTINCT FROM new.execution_mode) OR (old.work_item_type IS DISTINCT FROM new.work_item_type) OR (old.is_internal IS DISTINCT FROM new.is_internal) OR (old.is_scheduled IS DISTINCT FROM new.is_scheduled))) EXECUTE FUNCTION public.tally_flow_run();
CREATE TRIGGER tenant_user_kept AFTER INSERT ON public.membership FOR EACH ROW EXECUTE FUNCTION public.keep_tenant_user();
CREATE TRIGGER webhook_events BEFORE INSERT OR UPDATE OF event, events ON public.webhook FOR EACH ROW EXECUTE FUNCTION public.webhook_events();
CREATE TRIGGER webhook_subscribe AFTER INSERT OR UPDATE OF event, events, status, deleted_at ON public.webhook FOR EACH ROW EXECUTE FUNCTION public.webhook_subscribe();
ALTER TABLE ONLY public.ai_budget_month
    ADD CONSTRAINT ai_budget_month_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.ai_call
    ADD CONSTRAINT ai_call_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.ai_report
    ADD CONSTRAINT ai_report_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.ai_report
    ADD CONSTRAINT ai_report_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.ai_usage_day
    ADD CONSTRAINT ai_usage_day_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.application_token
    ADD CONSTRAINT application_token_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.approval_event
    ADD CONSTRAINT approval_event_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_tenant_id_environment_id_fkey FOREIGN KEY (tenant_id, environment_id) REFERENCES public.environment(tenant_id, id) ON DELETE SET NULL (environment_id);
ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.approval
    ADD CONSTRAINT approval_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES public.flow_run(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.audit_entry
    ADD CONSTRAINT audit_entry_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.audit_export
    ADD CONSTRAINT audit_export_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.audit_head
    ADD CONSTRAINT audit_head_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.audit_tally
    ADD CONSTRAINT audit_tally_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.auth_session
    ADD CONSTRAINT auth_session_begun_from_fkey FOREIGN KEY (begun_from) REFERENCES public.auth_session(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.auth_session
    ADD CONSTRAINT auth_session_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.auth_session
    ADD CONSTRAINT auth_session_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.user_account(id);
ALTER TABLE ONLY public.browser_live_link
    ADD CONSTRAINT browser_live_link_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.browser_live_link
    ADD CONSTRAINT browser_live_link_tenant_id_session_id_fkey FOREIGN KEY (tenant_id, session_id) REFERENCES public.browser_session(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.browser_replay_page
    ADD CONSTRAINT browser_replay_page_tenant_id_session_id_fkey FOREIGN KEY (tenant_id, session_id) REFERENCES public.browser_session(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.browser_session_event
    ADD CONSTRAINT browser_session_event_tenant_id_session_id_fkey FOREIGN KEY (tenant_id, session_id) REFERENCES public.browser_session(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.browser_session
    ADD CONSTRAINT browser_session_host_id_fkey FOREIGN KEY (host_id) REFERENCES public.browser_host(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.browser_session
    ADD CONSTRAINT browser_session_tenant_id_assignment_id_fkey FOREIGN KEY (tenant_id, assignment_id) REFERENCES public.review_assignment(tenant_id, id) ON DELETE SET NULL (assignment_id);
ALTER TABLE ONLY public.browser_session
    ADD CONSTRAINT browser_session_tenant_id_environment_id_fkey FOREIGN KEY (tenant_id, environment_id) REFERENCES public.environment(tenant_id, id) ON DELETE SET NULL (environment_id);
ALTER TABLE ONLY public.browser_session
    ADD CONSTRAINT browser_session_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.browser_session
    ADD CONSTRAINT browser_session_tenant_id_flow_run_id_fkey FOREIGN KEY (tenant_id, flow_run_id) REFERENCES public.flow_run(tenant_id, id) ON DELETE SET NULL (flow_run_id);
ALTER TABLE ONLY public.browser_session
    ADD CONSTRAINT browser_session_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.build_preview
    ADD CONSTRAINT build_preview_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.build_status
    ADD CONSTRAINT build_status_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.chat_action
    ADD CONSTRAINT chat_action_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.chat_action
    ADD CONSTRAINT chat_action_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.chat_workspace(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.chat_message
    ADD CONSTRAINT chat_message_tenant_id_approval_id_fkey FOREIGN KEY (tenant_id, approval_id) REFERENCES public.approval(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.chat_message
    ADD CONSTRAINT chat_message_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.chat_message
    ADD CONSTRAINT chat_message_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.chat_workspace(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.chat_workspace
    ADD CONSTRAINT chat_workspace_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.code_analysis_body
    ADD CONSTRAINT code_analysis_body_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.code_analysis_result
    ADD CONSTRAINT code_analysis_result_tenant_id_analysis_id_fkey FOREIGN KEY (tenant_id, analysis_id) REFERENCES public.code_analysis(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.code_analysis_schedule
    ADD CONSTRAINT code_analysis_schedule_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.code_analysis
    ADD CONSTRAINT code_analysis_tenant_id_body_id_fkey FOREIGN KEY (tenant_id, body_id) REFERENCES public.code_analysis_body(tenant_id, id);
ALTER TABLE ONLY public.code_analysis
    ADD CONSTRAINT code_analysis_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.code_analysis
    ADD CONSTRAINT code_analysis_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.crm_org
    ADD CONSTRAINT crm_org_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.crm_token
    ADD CONSTRAINT crm_token_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.crm_token
    ADD CONSTRAINT crm_token_tenant_id_org_id_fkey FOREIGN KEY (tenant_id, org_id) REFERENCES public.crm_org(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.document_collection
    ADD CONSTRAINT document_collection_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.document
    ADD CONSTRAINT document_tenant_id_collection_fkey FOREIGN KEY (tenant_id, collection) REFERENCES public.document_collection(tenant_id, name);
ALTER TABLE ONLY public.document_version
    ADD CONSTRAINT document_version_tenant_id_store_collection_key_fkey FOREIGN KEY (tenant_id, store, collection, key) REFERENCES public.document(tenant_id, store, collection, key) ON DELETE CASCADE;
ALTER TABLE ONLY public.environment_lock_ticket
    ADD CONSTRAINT environment_lock_ticket_tenant_id_environment_id_fkey FOREIGN KEY (tenant_id, environment_id) REFERENCES public.environment(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.environment_lock_ticket
    ADD CONSTRAINT environment_lock_ticket_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.environment
    ADD CONSTRAINT environment_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.environment
    ADD CONSTRAINT environment_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.flow_check
    ADD CONSTRAINT flow_check_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES public.flow_run(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.flow_run_lock
    ADD CONSTRAINT flow_run_lock_tenant_id_execution_id_fkey FOREIGN KEY (tenant_id, execution_id) REFERENCES public.flow_run(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.flow_run
    ADD CONSTRAINT flow_run_tenant_id_environment_id_fkey FOREIGN KEY (tenant_id, environment_id) REFERENCES public.environment(tenant_id, id) ON DELETE SET NULL (environment_id);
ALTER TABLE ONLY public.flow_run
    ADD CONSTRAINT flow_run_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.flow_run
    ADD CONSTRAINT flow_run_tenant_id_parent_id_fkey FOREIGN KEY (tenant_id, parent_id) REFERENCES public.flow_run(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.flow_run
    ADD CONSTRAINT flow_run_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.flow_run
    ADD CONSTRAINT flow_run_tenant_id_rerun_of_id_fkey FOREIGN KEY (tenant_id, rerun_of_id) REFERENCES public.flow_run(tenant_id, id) ON DELETE SET NULL (rerun_of_id);
ALTER TABLE ONLY public.flow_run
    ADD CONSTRAINT flow_run_tenant_id_schedule_id_fkey FOREIGN KEY (tenant_id, schedule_id) REFERENCES public.flow_schedule(tenant_id, id) ON DELETE SET NULL (schedule_id);
ALTER TABLE ONLY public.flow_schedule
    ADD CONSTRAINT flow_schedule_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.flow_schedule
    ADD CONSTRAINT flow_schedule_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gc_check
    ADD CONSTRAINT gc_check_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.gc_check
    ADD CONSTRAINT gc_check_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gc_entry
    ADD CONSTRAINT gc_entry_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.gc_entry
    ADD CONSTRAINT gc_entry_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gc_presence
    ADD CONSTRAINT gc_presence_tenant_id_environment_id_fkey FOREIGN KEY (tenant_id, environment_id) REFERENCES public.environment(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gc_tally
    ADD CONSTRAINT gc_tally_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.git_commit_package
    ADD CONSTRAINT git_commit_package_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.git_commit
    ADD CONSTRAINT git_commit_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.git_mirror
    ADD CONSTRAINT git_mirror_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.git_package
    ADD CONSTRAINT git_package_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.git_range
    ADD CONSTRAINT git_range_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.git_ref
    ADD CONSTRAINT git_ref_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.hook_delivery
    ADD CONSTRAINT hook_delivery_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.hook_secret
    ADD CONSTRAINT hook_secret_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.integration
    ADD CONSTRAINT integration_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.integration
    ADD CONSTRAINT integration_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.invitation
    ADD CONSTRAINT invitation_invited_user_id_fkey FOREIGN KEY (invited_user_id) REFERENCES public.invited_user(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.invitation
    ADD CONSTRAINT invitation_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.invitation
    ADD CONSTRAINT invitation_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.user_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.invited_membership
    ADD CONSTRAINT invited_membership_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.invited_membership
    ADD CONSTRAINT invited_membership_tenant_id_team_id_fkey FOREIGN KEY (tenant_id, team_id) REFERENCES public.team(tenant_id, id);
ALTER TABLE ONLY public.invited_membership
    ADD CONSTRAINT invited_membership_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.invited_user(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.invited_user
    ADD CONSTRAINT invited_user_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.membership
    ADD CONSTRAINT membership_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.membership
    ADD CONSTRAINT membership_tenant_id_team_id_fkey FOREIGN KEY (tenant_id, team_id) REFERENCES public.team(tenant_id, id);
ALTER TABLE ONLY public.membership
    ADD CONSTRAINT membership_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.user_account(id);
ALTER TABLE ONLY public.metric_series_day
    ADD CONSTRAINT metric_series_day_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.metric_series
    ADD CONSTRAINT metric_series_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.metric_window
    ADD CONSTRAINT metric_window_tenant_id_series_fkey FOREIGN KEY (tenant_id, series) REFERENCES public.metric_series(tenant_id, series);
ALTER TABLE ONLY public.mock_call
    ADD CONSTRAINT mock_call_tenant_id_scenario_id_fkey FOREIGN KEY (tenant_id, scenario_id) REFERENCES public.mock_scenario(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.mock_drift
    ADD CONSTRAINT mock_drift_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.mock_drift
    ADD CONSTRAINT mock_drift_tenant_id_scenario_id_fkey FOREIGN KEY (tenant_id, scenario_id) REFERENCES public.mock_scenario(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.mock_run
    ADD CONSTRAINT mock_run_tenant_id_scenario_id_fkey FOREIGN KEY (tenant_id, scenario_id) REFERENCES public.mock_scenario(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.mock_scenario
    ADD CONSTRAINT mock_scenario_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.mock_scenario
    ADD CONSTRAINT mock_scenario_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.mock_workspace(tenant_id, id);
ALTER TABLE ONLY public.mock_step
    ADD CONSTRAINT mock_step_tenant_id_scenario_id_fkey FOREIGN KEY (tenant_id, scenario_id) REFERENCES public.mock_scenario(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.mock_workspace
    ADD CONSTRAINT mock_workspace_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.org_component_change
    ADD CONSTRAINT org_component_change_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.org_component_change
    ADD CONSTRAINT org_component_change_tenant_id_org_id_fkey FOREIGN KEY (tenant_id, org_id) REFERENCES public.crm_org(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.org_component_file
    ADD CONSTRAINT org_component_file_tenant_id_component_id_fkey FOREIGN KEY (tenant_id, component_id) REFERENCES public.org_component(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.org_component_file
    ADD CONSTRAINT org_component_file_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.org_component_file
    ADD CONSTRAINT org_component_file_tenant_id_sha256_fkey FOREIGN KEY (tenant_id, sha256) REFERENCES public.org_content(tenant_id, sha256);
ALTER TABLE ONLY public.org_component
    ADD CONSTRAINT org_component_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.org_component
    ADD CONSTRAINT org_component_tenant_id_org_id_fkey FOREIGN KEY (tenant_id, org_id) REFERENCES public.crm_org(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.org_component_type
    ADD CONSTRAINT org_component_type_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.org_component_type
    ADD CONSTRAINT org_component_type_tenant_id_org_id_fkey FOREIGN KEY (tenant_id, org_id) REFERENCES public.crm_org(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.org_content
    ADD CONSTRAINT org_content_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.org_limit_hour
    ADD CONSTRAINT org_limit_hour_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.org_limit_hour
    ADD CONSTRAINT org_limit_hour_tenant_id_org_id_fkey FOREIGN KEY (tenant_id, org_id) REFERENCES public.crm_org(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.org_limit_sample
    ADD CONSTRAINT org_limit_sample_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.org_limit_sample
    ADD CONSTRAINT org_limit_sample_tenant_id_org_id_fkey FOREIGN KEY (tenant_id, org_id) REFERENCES public.crm_org(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.org_limit_state
    ADD CONSTRAINT org_limit_state_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.org_limit_state
    ADD CONSTRAINT org_limit_state_tenant_id_org_id_fkey FOREIGN KEY (tenant_id, org_id) REFERENCES public.crm_org(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.org_sync
    ADD CONSTRAINT org_sync_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.org_sync
    ADD CONSTRAINT org_sync_tenant_id_org_id_fkey FOREIGN KEY (tenant_id, org_id) REFERENCES public.crm_org(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.package_version
    ADD CONSTRAINT package_version_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.project
    ADD CONSTRAINT project_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.pull_request_refresh
    ADD CONSTRAINT pull_request_refresh_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.pull_request
    ADD CONSTRAINT pull_request_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.refresh_token
    ADD CONSTRAINT refresh_token_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.auth_session(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.refresh_token
    ADD CONSTRAINT refresh_token_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.release_candidate_count
    ADD CONSTRAINT release_candidate_count_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.release_candidate
    ADD CONSTRAINT release_candidate_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.release_candidate
    ADD CONSTRAINT release_candidate_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.release_deployment
    ADD CONSTRAINT release_deployment_tenant_id_candidate_id_fkey FOREIGN KEY (tenant_id, candidate_id) REFERENCES public.release_candidate(tenant_id, id) ON DELETE SET NULL (candidate_id);
ALTER TABLE ONLY public.release_deployment
    ADD CONSTRAINT release_deployment_tenant_id_environment_id_fkey FOREIGN KEY (tenant_id, environment_id) REFERENCES public.environment(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.release_deployment
    ADD CONSTRAINT release_deployment_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.release_deployment
    ADD CONSTRAINT release_deployment_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.review_assignment
    ADD CONSTRAINT review_assignment_tenant_id_environment_id_fkey FOREIGN KEY (tenant_id, environment_id) REFERENCES public.environment(tenant_id, id) ON DELETE SET NULL (environment_id);
ALTER TABLE ONLY public.review_assignment
    ADD CONSTRAINT review_assignment_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.review_assignment
    ADD CONSTRAINT review_assignment_tenant_id_instance_id_fkey FOREIGN KEY (tenant_id, instance_id) REFERENCES public.review_instance(tenant_id, id) ON DELETE SET NULL (instance_id);
ALTER TABLE ONLY public.review_assignment
    ADD CONSTRAINT review_assignment_tenant_id_pool_id_fkey FOREIGN KEY (tenant_id, pool_id) REFERENCES public.review_pool(tenant_id, id) ON DELETE SET NULL (pool_id);
ALTER TABLE ONLY public.review_assignment
    ADD CONSTRAINT review_assignment_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.review_instance
    ADD CONSTRAINT review_instance_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.review_instance
    ADD CONSTRAINT review_instance_tenant_id_pool_id_fkey FOREIGN KEY (tenant_id, pool_id) REFERENCES public.review_pool(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.review_pool
    ADD CONSTRAINT review_pool_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.review_pool
    ADD CONSTRAINT review_pool_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.review_rule
    ADD CONSTRAINT review_rule_tenant_id_environment_id_fkey FOREIGN KEY (tenant_id, environment_id) REFERENCES public.environment(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.review_rule
    ADD CONSTRAINT review_rule_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.review_rule
    ADD CONSTRAINT review_rule_tenant_id_pool_id_fkey FOREIGN KEY (tenant_id, pool_id) REFERENCES public.review_pool(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.review_rule
    ADD CONSTRAINT review_rule_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.run_token
    ADD CONSTRAINT run_token_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.run_token
    ADD CONSTRAINT run_token_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES public.flow_run(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.team
    ADD CONSTRAINT team_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.tenant_user
    ADD CONSTRAINT tenant_user_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.tenant_user
    ADD CONSTRAINT tenant_user_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.user_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_alias
    ADD CONSTRAINT user_alias_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.user_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_identity
    ADD CONSTRAINT user_identity_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.user_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_profile
    ADD CONSTRAINT user_profile_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.user_profile
    ADD CONSTRAINT user_profile_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.user_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_recovery_code
    ADD CONSTRAINT user_recovery_code_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.user_totp(user_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_totp
    ADD CONSTRAINT user_totp_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.user_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.webhook_subscription
    ADD CONSTRAINT webhook_subscription_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES public.webhook(id);
ALTER TABLE ONLY public.webhook
    ADD CONSTRAINT webhook_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.work_item_request_count
    ADD CONSTRAINT work_item_request_count_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.work_item_request_execution
    ADD CONSTRAINT work_item_request_execution_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.work_item_request_tally
    ADD CONSTRAINT work_item_request_tally_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.work_item_request
    ADD CONSTRAINT work_item_request_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);
ALTER TABLE ONLY public.work_item_request
    ADD CONSTRAINT work_item_request_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES public.project(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE public.ai_budget_month ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.ai_call ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.ai_report ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.ai_usage_day ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.application_token ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.approval ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.approval_event ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.audit_entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.audit_export ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.audit_head ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.audit_tally ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.auth_session ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.browser_host ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.browser_live_link ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.browser_replay_page ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.browser_session ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.browser_session_event ENABLE ROW LEVEL SECURITY;
CREATE POLICY browsers ON public.browser_host TO quayside_app_browsers USING (true) WITH CHECK (true);
CREATE POLICY browsers ON public.browser_replay_page TO quayside_app_browsers USING (((tenant_id = ( SELECT public.current_tenant() AS current_tenant)) AND (EXISTS ( SELECT
   FROM public.browser_session s
  WHERE ((s.tenant_id = browser_replay_page.tenant_id) AND (s.id = browser_replay_page.session_id)))))) WITH CHECK (((tenant_id = ( SELECT public.current_tenant() AS current_tenant)) AND (EXISTS ( SELECT
   FROM public.browser_session s
  WHERE ((s.tenant_id = browser_replay_page.tenant_id) AND (s.id = browser_replay_page.session_id))))));
CREATE POLICY browsers ON public.browser_session TO quayside_app_browsers USING (((tenant_id = ( SELECT public.current_tenant() AS current_tenant)) AND (provider = 'local'::text) AND ((ended_at IS NULL) OR (updated_at > (now() - '1 day'::interval)) OR (recording_state = 'processing'::text) OR (removed_at IS NOT NULL)))) WITH CHECK (((tenant_id = ( SELECT public.current_tenant() AS current_tenant)) AND (provider = 'local'::text) AND ((ended_at IS NULL) OR (updated_at > (now() - '1 day'::interval)) OR (recording_state = 'processing'::text) OR (removed_at IS NOT NULL))));
CREATE POLICY browsers ON public.browser_session_event TO quayside_app_browsers USING (((tenant_id = ( SELECT public.current_tenant() AS current_tenant)) AND (EXISTS ( SELECT
   FROM public.browser_session s
  WHERE ((s.tenant_id = browser_session_event.tenant_id) AND (s.id = browser_session_event.session_id)))))) WITH CHECK (((tenant_id = ( SELECT public.current_tenant() AS current_tenant)) AND (EXISTS ( SELECT
   FROM public.browser_session s
  WHERE ((s.tenant_id = browser_session_event.tenant_id) AND (s.id = browser_session_event.session_id))))));
CREATE POLICY browsers ON public.environment TO quayside_app_browsers USING (((tenant_id = ( SELECT public.current_tenant() AS current_tenant)) AND (EXISTS ( SELECT
   FROM public.browser_session s
  WHERE ((s.tenant_id = environment.tenant_id) AND (s.environment_id = environment.id)))))) WITH CHECK (((tenant_id = ( SELECT public.current_tenant() AS current_tenant)) AND (EXISTS ( SELECT
   FROM public.browser_session s
  WHERE ((s.tenant_id = environment.tenant_id) AND (s.environment_id = environment.id))))));
CREATE POLICY browsers ON public.project TO quayside_app_browsers USING (((tenant_id = ( SELECT public.current_tenant() AS current_tenant)) AND (EXISTS ( SELECT
   FROM public.browser_session s
  WHERE ((s.tenant_id = project.tenant_id) AND (s.project_id = project.id)))))) WITH CHECK (((tenant_id = ( SELECT public.current_tenant() AS current_tenant)) AND (EXISTS ( SELECT
   FROM public.browser_session s
  WHERE ((s.tenant_id = project.tenant_id) AND (s.project_id = project.id))))));
CREATE POLICY browsers ON public.webhook_delivery TO quayside_app_browsers USING (((tenant_id = ( SELECT public.current_tenant() AS current_tenant)) AND starts_with(event, 'browser_session.'::text) AND (EXISTS ( SELECT
   FROM public.browser_session s
  WHERE (s.tenant_id = webhook_delivery.tenant_id))))) WITH CHECK (((tenant_id = ( SELECT public.current_tenant() AS current_tenant)) AND starts_with(event, 'browser_session.'::text) AND (EXISTS ( SELECT
   FROM public.browser_session s
  WHERE (s.tenant_id = webhook_delivery.tenant_id)))));
CREATE POLICY browsers ON public.webhook_subscription TO quayside_app_browsers USING (((tenant_id = ( SELECT public.current_tenant() AS current_tenant)) AND starts_with(event, 'browser_session.'::text) AND (EXISTS ( SELECT
   FROM public.browser_session s
  WHERE (s.tenant_id = webhook_subscription.tenant_id))))) WITH CHECK (((tenant_id = ( SELECT public.current_tenant() AS current_tenant)) AND starts_with(event, 'browser_session.'::text) AND (EXISTS ( SELECT
   FROM public.browser_session s
  WHERE (s.tenant_id = webhook_subscription.tenant_id)))));
ALTER TABLE public.build_preview ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.build_status ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.chat_action ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.chat_message ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.chat_workspace ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.code_analysis ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.code_analysis_body ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.code_analysis_result ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.code_analysis_schedule ENABLE ROW LEVEL SECURITY;
CREATE POLICY colleague ON public.user_account TO quayside_app USING ((EXISTS ( SELECT
   FROM public.membership m
  WHERE ((m.user_id = user_account.id) AND (m.tenant_id = ( SELECT public.current_tenant() AS current_tenant))))));
CREATE POLICY colleague ON public.user_alias TO quayside_app USING ((EXISTS ( SELECT
   FROM public.membership m
  WHERE ((m.user_id = user_alias.user_id) AND (m.tenant_id = ( SELECT public.current_tenant() AS current_tenant))))));
CREATE POLICY colleague ON public.user_identity TO quayside_app USING ((EXISTS ( SELECT
   FROM public.membership m
  WHERE ((m.user_id = user_identity.user_id) AND (m.tenant_id = ( SELECT public.current_tenant() AS current_tenant))))));
ALTER TABLE public.crm_org ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.crm_token ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.document ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.document_collection ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.document_version ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.environment ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.environment_lock_ticket ENABLE ROW LEVEL SECURITY;
CREATE POLICY everyone ON public.browser_host TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY everyone ON public.known_sign_in TO quayside_app USING (true) WITH CHECK (true);
CREATE POLICY everyone ON public.rate_limit TO quayside_app USING (true) WITH CHECK (true);
CREATE POLICY everyone ON public.sign_in_failure TO quayside_app USING (true) WITH CHECK (true);
CREATE POLICY everyone ON public.sweep_failure TO quayside_app_system USING (true) WITH CHECK (true);
ALTER TABLE public.flow_check ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.flow_run ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.flow_run_lock ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.flow_run_tally ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.flow_schedule ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.gc_check ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.gc_entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.gc_event ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.gc_presence ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.gc_tally ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.git_commit ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.git_commit_package ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.git_mirror ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.git_package ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.git_range ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.git_ref ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.hook_delivery ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.hook_secret ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.idempotency_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.integration ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.invitation ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.invited_membership ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.invited_user ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.known_sign_in ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.membership ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.metric_series ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.metric_series_day ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.metric_window ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.mock_call ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.mock_drift ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.mock_run ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.mock_scenario ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.mock_step ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.mock_workspace ENABLE ROW LEVEL SECURITY;
CREATE POLICY operator ON public.ai_budget_month TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.ai_call TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.ai_report TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.ai_usage_day TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.application_token TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.approval TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.approval_event TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.audit_entry TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.audit_export TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.audit_head TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.audit_tally TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.auth_session TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.browser_host TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.browser_live_link TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.browser_replay_page TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.browser_session TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.browser_session_event TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.build_preview TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.build_status TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.chat_action TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.chat_message TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.chat_workspace TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.code_analysis TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.code_analysis_body TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.code_analysis_result TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.code_analysis_schedule TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.crm_org TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.crm_token TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.document TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.document_collection TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.document_version TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.environment TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.environment_lock_ticket TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.flow_check TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.flow_run TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.flow_run_lock TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.flow_run_tally TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.flow_schedule TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.gc_check TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.gc_entry TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.gc_event TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.gc_presence TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.gc_tally TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.git_commit TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.git_commit_package TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.git_mirror TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.git_package TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.git_range TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.git_ref TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.hook_delivery TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.hook_secret TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.idempotency_key TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.integration TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.invitation TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.invited_membership TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.invited_user TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.known_sign_in TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.membership TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.metric_series TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.metric_series_day TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.metric_window TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.mock_call TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.mock_drift TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.mock_run TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.mock_scenario TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.mock_step TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.mock_workspace TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.org_component TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.org_component_change TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.org_component_file TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.org_component_type TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.org_content TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.org_limit_hour TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.org_limit_sample TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.org_limit_state TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.org_sync TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.package_version TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.project TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.pull_request TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.pull_request_refresh TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.rate_limit TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.refresh_token TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.release_candidate TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.release_candidate_count TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.release_deployment TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.review_assignment TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.review_instance TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.review_pool TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.review_rule TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.run_token TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.sign_in_failure TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.sweep_failure TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.team TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.tenant TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.tenant_user TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.user_account TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.user_alias TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.user_identity TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.user_profile TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.user_recovery_code TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.user_totp TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.webhook TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.webhook_attempt TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.webhook_delivery TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.webhook_subscription TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.work_item_request TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.work_item_request_count TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.work_item_request_execution TO quayside_app_operator USING (true) WITH CHECK (true);
CREATE POLICY operator ON public.work_item_request_tally TO quayside_app_operator USING (true) WITH CHECK (true);
ALTER TABLE public.org_component ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.org_component_change ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.org_component_file ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.org_component_type ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.org_content ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.org_limit_hour ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.org_limit_sample ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.org_limit_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.org_sync ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.package_version ENABLE ROW LEVEL SECURITY;
CREATE POLICY project ON public.ai_budget_month AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.ai_call AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.ai_report AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.ai_usage_day AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.application_token AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.approval AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.approval_event AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.audit_entry AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.audit_export AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.audit_head AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.audit_tally AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.auth_session AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.browser_live_link AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.browser_replay_page AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.browser_session AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.browser_session_event AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.build_preview AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.build_status AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.chat_action AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.chat_message AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.approval a
      WHERE ((a.tenant_id = chat_message.tenant_id) AND (a.id = chat_message.approval_id))))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.approval a
      WHERE ((a.tenant_id = chat_message.tenant_id) AND (a.id = chat_message.approval_id))))
END);
CREATE POLICY project ON public.chat_workspace AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.code_analysis AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.code_analysis_result AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.code_analysis_schedule AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.crm_org AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (lower(username) IN ( SELECT public.named_orgs() AS named_orgs))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (lower(username) IN ( SELECT public.named_orgs() AS named_orgs))
END);
CREATE POLICY project ON public.crm_token AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.crm_org o
      WHERE ((o.tenant_id = crm_token.tenant_id) AND (o.id = crm_token.org_id))))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.crm_org o
      WHERE ((o.tenant_id = crm_token.tenant_id) AND (o.id = crm_token.org_id))))
END);
CREATE POLICY project ON public.document AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (collection ~ ANY (( SELECT public.current_collections() AS current_collections)::text[]))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (collection ~ ANY (( SELECT public.current_collections() AS current_collections)::text[]))
END);
CREATE POLICY project ON public.document_collection AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (name ~ ANY (( SELECT public.current_collections() AS current_collections)::text[]))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (name ~ ANY (( SELECT public.current_collections() AS current_collections)::text[]))
END);
CREATE POLICY project ON public.document_version AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (collection ~ ANY (( SELECT public.current_collections() AS current_collections)::text[]))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (collection ~ ANY (( SELECT public.current_collections() AS current_collections)::text[]))
END);
CREATE POLICY project ON public.environment AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.environment_lock_ticket AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.flow_check AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.flow_run r
      WHERE ((r.tenant_id = flow_check.tenant_id) AND (r.id = flow_check.run_id))))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.flow_run r
      WHERE ((r.tenant_id = flow_check.tenant_id) AND (r.id = flow_check.run_id))))
END);
CREATE POLICY project ON public.flow_run AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])) OR (id = ( SELECT public.current_run() AS current_run)))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])) OR (id = ( SELECT public.current_run() AS current_run))));
CREATE POLICY project ON public.flow_run_lock AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.flow_run r
      WHERE ((r.tenant_id = flow_run_lock.tenant_id) AND (r.id = flow_run_lock.execution_id))))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.flow_run r
      WHERE ((r.tenant_id = flow_run_lock.tenant_id) AND (r.id = flow_run_lock.execution_id))))
END);
CREATE POLICY project ON public.flow_run_tally AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.flow_schedule AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.gc_check AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.gc_entry AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.gc_event AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.gc_presence AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.gc_tally AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.git_commit AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.git_commit_package AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.git_mirror AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.git_package AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.git_range AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.git_ref AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.hook_delivery AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.hook_secret AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.integration AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.invitation AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.invited_membership AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.invited_user AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.metric_series AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.metric_series_day AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.metric_window AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.mock_call AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.mock_drift AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.mock_run AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.mock_scenario AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.mock_step AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.mock_workspace AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.org_component AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (org_id IN ( SELECT o.id
       FROM public.crm_org o
      WHERE (o.tenant_id = org_component.tenant_id)))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (org_id IN ( SELECT o.id
       FROM public.crm_org o
      WHERE (o.tenant_id = org_component.tenant_id)))
END);
CREATE POLICY project ON public.org_component_change AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (org_id IN ( SELECT o.id
       FROM public.crm_org o
      WHERE (o.tenant_id = org_component_change.tenant_id)))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (org_id IN ( SELECT o.id
       FROM public.crm_org o
      WHERE (o.tenant_id = org_component_change.tenant_id)))
END);
CREATE POLICY project ON public.org_component_file AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.org_component c
      WHERE ((c.tenant_id = org_component_file.tenant_id) AND (c.id = org_component_file.component_id))))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.org_component c
      WHERE ((c.tenant_id = org_component_file.tenant_id) AND (c.id = org_component_file.component_id))))
END);
CREATE POLICY project ON public.org_component_type AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (org_id IN ( SELECT o.id
       FROM public.crm_org o
      WHERE (o.tenant_id = org_component_type.tenant_id)))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (org_id IN ( SELECT o.id
       FROM public.crm_org o
      WHERE (o.tenant_id = org_component_type.tenant_id)))
END);
CREATE POLICY project ON public.org_limit_hour AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.crm_org o
      WHERE ((o.tenant_id = org_limit_hour.tenant_id) AND (o.id = org_limit_hour.org_id))))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.crm_org o
      WHERE ((o.tenant_id = org_limit_hour.tenant_id) AND (o.id = org_limit_hour.org_id))))
END);
CREATE POLICY project ON public.org_limit_sample AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.crm_org o
      WHERE ((o.tenant_id = org_limit_sample.tenant_id) AND (o.id = org_limit_sample.org_id))))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.crm_org o
      WHERE ((o.tenant_id = org_limit_sample.tenant_id) AND (o.id = org_limit_sample.org_id))))
END);
CREATE POLICY project ON public.org_limit_state AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.crm_org o
      WHERE ((o.tenant_id = org_limit_state.tenant_id) AND (o.id = org_limit_state.org_id))))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.crm_org o
      WHERE ((o.tenant_id = org_limit_state.tenant_id) AND (o.id = org_limit_state.org_id))))
END);
CREATE POLICY project ON public.org_sync AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (org_id IN ( SELECT o.id
       FROM public.crm_org o
      WHERE (o.tenant_id = org_sync.tenant_id)))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (org_id IN ( SELECT o.id
       FROM public.crm_org o
      WHERE (o.tenant_id = org_sync.tenant_id)))
END);
CREATE POLICY project ON public.package_version AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
ALTER TABLE public.project ENABLE ROW LEVEL SECURITY;
CREATE POLICY project ON public.project AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.pull_request AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.pull_request_refresh AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.refresh_token AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.release_candidate AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.release_candidate_count AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.release_deployment AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.review_assignment AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.review_instance AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.review_pool AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.review_rule AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.run_token AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.tenant_user AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.user_profile AS RESTRICTIVE TO quayside_app USING ((( SELECT public.current_projects() AS current_projects) IS NULL));
CREATE POLICY project ON public.webhook AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (repository_identifier IN ( SELECT project.identifier
       FROM public.project
      WHERE (project.tenant_id = ( SELECT public.current_tenant() AS current_tenant))))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (repository_identifier IN ( SELECT project.identifier
       FROM public.project
      WHERE (project.tenant_id = ( SELECT public.current_tenant() AS current_tenant))))
END);
CREATE POLICY project ON public.webhook_attempt AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.webhook_delivery d
      WHERE ((d.tenant_id = webhook_attempt.tenant_id) AND (d.id = webhook_attempt.delivery_id))))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (EXISTS ( SELECT
       FROM public.webhook_delivery d
      WHERE ((d.tenant_id = webhook_attempt.tenant_id) AND (d.id = webhook_attempt.delivery_id))))
END);
CREATE POLICY project ON public.webhook_delivery AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (webhook_id IN ( SELECT webhook.id
       FROM public.webhook
      WHERE (webhook.tenant_id = ( SELECT public.current_tenant() AS current_tenant))))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (webhook_id IN ( SELECT webhook.id
       FROM public.webhook
      WHERE (webhook.tenant_id = ( SELECT public.current_tenant() AS current_tenant))))
END);
CREATE POLICY project ON public.webhook_subscription AS RESTRICTIVE TO quayside_app USING (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (webhook_id IN ( SELECT webhook.id
       FROM public.webhook
      WHERE (webhook.tenant_id = ( SELECT public.current_tenant() AS current_tenant))))
END) WITH CHECK (
CASE
    WHEN (( SELECT public.current_projects() AS current_projects) IS NULL) THEN true
    ELSE (webhook_id IN ( SELECT webhook.id
       FROM public.webhook
      WHERE (webhook.tenant_id = ( SELECT public.current_tenant() AS current_tenant))))
END);
CREATE POLICY project ON public.work_item_request AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.work_item_request_count AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.work_item_request_execution AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
CREATE POLICY project ON public.work_item_request_tally AS RESTRICTIVE TO quayside_app USING (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[])))) WITH CHECK (((( SELECT public.current_projects() AS current_projects) IS NULL) OR (project_id = ANY (( SELECT public.current_projects() AS current_projects)::uuid[]))));
ALTER TABLE public.pull_request ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.pull_request_refresh ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.rate_limit ENABLE ROW LEVEL SECURITY;
CREATE POLICY readable ON public.browser_host FOR SELECT TO quayside_app USING (true);
ALTER TABLE public.refresh_token ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.release_candidate ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.release_candidate_count ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.release_deployment ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.review_assignment ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.review_instance ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.review_pool ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.review_rule ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.run_token ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.sign_in_failure ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.sweep_failure ENABLE ROW LEVEL SECURITY;
CREATE POLICY system ON public.ai_budget_month TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.ai_call TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.ai_report TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.ai_usage_day TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.approval TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.audit_export TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.browser_session TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.build_preview TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.chat_action TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.chat_message TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.code_analysis TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.code_analysis_body TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.code_analysis_schedule TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.crm_org TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.environment TO quayside_app_system USING (true);
CREATE POLICY system ON public.environment_lock_ticket TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.flow_check TO quayside_app_system USING (true);
CREATE POLICY system ON public.flow_run TO quayside_app_system USING (true);
CREATE POLICY system ON public.flow_schedule TO quayside_app_system USING (true);
CREATE POLICY system ON public.gc_check TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.git_mirror TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.metric_series TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.metric_series_day TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.metric_window TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.mock_call TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.mock_drift TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.mock_scenario TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.org_component_change TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.org_component_file TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.org_content TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.org_limit_hour TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.org_limit_sample TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.org_limit_state TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.org_sync TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.project TO quayside_app_system USING (true);
CREATE POLICY system ON public.pull_request_refresh TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.release_deployment TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.review_assignment TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.review_instance TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.review_pool TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.webhook TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.webhook_attempt TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.webhook_delivery TO quayside_app_system USING (true) WITH CHECK (true);
CREATE POLICY system ON public.work_item_request TO quayside_app_system USING (true) WITH CHECK (true);
ALTER TABLE public.team ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON public.ai_budget_month TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.ai_call TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.ai_report TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.ai_usage_day TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.application_token TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.approval TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.approval_event TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.audit_entry TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.audit_export TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.audit_head TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.audit_tally TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.auth_session TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.browser_live_link TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.browser_replay_page TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.browser_session TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.browser_session_event TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.build_preview TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.build_status TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.chat_action TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.chat_message TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.chat_workspace TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.code_analysis TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.code_analysis_body TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.code_analysis_result TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.code_analysis_schedule TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.crm_org TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.crm_token TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.document TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.document_collection TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.document_version TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.environment TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.environment_lock_ticket TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.flow_check TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.flow_run TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.flow_run_lock TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.flow_run_tally TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.flow_schedule TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.gc_check TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.gc_entry TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.gc_event TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.gc_presence TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.gc_tally TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.git_commit TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.git_commit_package TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.git_mirror TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.git_package TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.git_range TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.git_ref TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.hook_delivery TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.hook_secret TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.idempotency_key TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.integration TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.invitation TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.invited_membership TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.invited_user TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.membership TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.metric_series TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.metric_series_day TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.metric_window TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.mock_call TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.mock_drift TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.mock_run TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.mock_scenario TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.mock_step TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.mock_workspace TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.org_component TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.org_component_change TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.org_component_file TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.org_component_type TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.org_content TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.org_limit_hour TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.org_limit_sample TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.org_limit_state TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.org_sync TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.package_version TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.project TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.pull_request TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.pull_request_refresh TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.refresh_token TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.release_candidate TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.release_candidate_count TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.release_deployment TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.review_assignment TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.review_instance TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.review_pool TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.review_rule TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.run_token TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.team TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
ALTER TABLE public.tenant ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON public.tenant TO quayside_app USING ((id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.tenant_user TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.user_profile TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.webhook TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.webhook_attempt TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.webhook_delivery TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.webhook_subscription TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.work_item_request TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.work_item_request_count TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.work_item_request_execution TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
CREATE POLICY tenant ON public.work_item_request_tally TO quayside_app USING ((tenant_id = ( SELECT public.current_tenant() AS current_tenant))) WITH CHECK ((tenant_id = ( SELECT public.current_tenant() AS current_tenant)));
ALTER TABLE public.tenant_user ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.user_account ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.user_alias ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.user_identity ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.user_profile ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.user_recovery_code ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.user_totp ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.webhook ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.webhook_attempt ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.webhook_delivery ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.webhook_subscription ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.work_item_request ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.work_item_request_count ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.work_item_request_execution ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.work_item_request_tally ENABLE ROW LEVEL SECURITY;
GRANT USAGE ON SCHEMA public TO quayside_app;
GRANT USAGE ON SCHEMA public TO quayside_app_system;
GRANT USAGE ON SCHEMA public TO quayside_app_browsers;
GRANT USAGE ON SCHEMA public TO quayside_app_operator;
REVOKE ALL ON FUNCTION public.accept_invitation(invitation uuid, person uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.accept_invitation(invitation uuid, person uuid) TO quayside_app;
REVOKE ALL ON FUNCTION public.audit_append(for_tenant uuid, entries jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_append(for_tenant uuid, entries jsonb) TO quayside_app;
REVOKE ALL ON FUNCTION public.audit_append_of_browsers(for_tenant uuid, entries jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_append_of_browsers(for_tenant uuid, entries jsonb) TO quayside_app_browsers;
REVOKE ALL ON FUNCTION public.audit_count(for_tenant uuid, first_sequence bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.audit_facets(source text, action text, actor_email text, actor_id text, repository_identifier text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_facets(source text, action text, actor_email text, actor_id text, repository_identifier text) TO quayside_app_operator;
REVOKE ALL ON FUNCTION public.auth_application_tokens(hashes text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_application_tokens(hashes text[]) TO quayside_app;
REVOKE ALL ON FUNCTION public.auth_cookie_sessions(hashes text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_cookie_sessions(hashes text[]) TO quayside_app;
REVOKE ALL ON FUNCTION public.auth_login(login_email text, tenant_slug text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_login(login_email text, tenant_slug text) TO quayside_app;
REVOKE ALL ON FUNCTION public.auth_people(emails text[], tenant_slug text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_people(emails text[], tenant_slug text) TO quayside_app;
REVOKE ALL ON FUNCTION public.auth_place(person uuid, address text, wanted text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_place(person uuid, address text, wanted text) TO quayside_app_operator;
REVOKE ALL ON FUNCTION public.auth_recovery_code_spend(person uuid, hash text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_recovery_code_spend(person uuid, hash text) TO quayside_app;
REVOKE ALL ON FUNCTION public.auth_refresh(hash text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_refresh(hash text) TO quayside_app;
REVOKE ALL ON FUNCTION public.auth_run_tokens(hashes text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_run_tokens(hashes text[]) TO quayside_app;
REVOKE ALL ON FUNCTION public.auth_sessions(ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_sessions(ids uuid[]) TO quayside_app;
REVOKE ALL ON FUNCTION public.auth_totp(person uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_totp(person uuid) TO quayside_app;
REVOKE ALL ON FUNCTION public.auth_totp_confirm(person uuid, code_hashes text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_totp_confirm(person uuid, code_hashes text[]) TO quayside_app;
REVOKE ALL ON FUNCTION public.auth_totp_offer(person uuid, new_secret text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_totp_offer(person uuid, new_secret text) TO quayside_app;
REVOKE ALL ON FUNCTION public.auth_totp_remove(person uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_totp_remove(person uuid) TO quayside_app;
REVOKE ALL ON FUNCTION public.auth_totp_spend(person uuid, step bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_totp_spend(person uuid, step bigint) TO quayside_app;
REVOKE ALL ON FUNCTION public.auth_touch_application_tokens(ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.auth_touch_application_tokens(ids uuid[]) TO quayside_app;
REVOKE ALL ON FUNCTION public.chat_workspaces_of(of_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.chat_workspaces_of(of_key text) TO quayside_app;
REVOKE ALL ON FUNCTION public.claim_aliases(for_user uuid, from_provider text, addresses text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_aliases(for_user uuid, from_provider text, addresses text[]) TO quayside_app;
REVOKE ALL ON FUNCTION public.collection_names(for_tenant uuid, of_projects uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.collection_names(for_tenant uuid, of_projects uuid[]) TO quayside_app_operator;
GRANT ALL ON FUNCTION public.component_name_key(name text) TO quayside_app_operator;
GRANT ALL ON FUNCTION public.count_package_version_moves() TO quayside_app_operator;
REVOKE ALL ON FUNCTION public.count_release_candidates() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.count_work_item_requests() FROM PUBLIC;
GRANT ALL ON FUNCTION public.current_collections() TO quayside_app_operator;
GRANT ALL ON FUNCTION public.current_projects() TO quayside_app_operator;
GRANT ALL ON FUNCTION public.current_run() TO quayside_app_operator;
GRANT ALL ON FUNCTION public.current_tenant() TO quayside_app_operator;
GRANT ALL ON FUNCTION public.decoded_component_name(name text) TO quayside_app_operator;
GRANT ALL ON FUNCTION public.digest_release_content() TO quayside_app_operator;
REVOKE ALL ON FUNCTION public.document_matches(in_store text, content jsonb, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.document_matches(in_store text, content jsonb, at_most integer) TO quayside_app;
REVOKE ALL ON FUNCTION public.document_read(requests jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.document_read(requests jsonb) TO quayside_app;
GRANT ALL ON FUNCTION public.document_read(requests jsonb) TO quayside_app_operator;
REVOKE ALL ON FUNCTION public.document_write(for_tenant uuid, requests jsonb, written_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.document_write(for_tenant uuid, requests jsonb, written_at timestamp with time zone) TO quayside_app;
GRANT ALL ON FUNCTION public.document_write(for_tenant uuid, requests jsonb, written_at timestamp with time zone) TO quayside_app_operator;
GRANT ALL ON FUNCTION public.event_group(event text) TO quayside_app_operator;
REVOKE ALL ON FUNCTION public.expiring_application_tokens(max_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.expiring_application_tokens(max_rows integer) TO quayside_app_system;
GRANT ALL ON FUNCTION public.fill_deployed_commit() TO quayside_app_operator;
GRANT ALL ON FUNCTION public.fill_deployed_content() TO quayside_app_operator;
REVOKE ALL ON FUNCTION public.follow_gc_entries() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.follow_work_item_requests() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.gc_components(package jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.gc_components(package jsonb) TO quayside_app;
GRANT ALL ON FUNCTION public.gc_components(package jsonb) TO quayside_app_operator;
REVOKE ALL ON FUNCTION public.gc_components_elsewhere(of_project uuid, of_branch text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.gc_components_elsewhere(of_project uuid, of_branch text) TO quayside_app;
REVOKE ALL ON FUNCTION public.gc_is_package(package jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.gc_is_package(package jsonb) TO quayside_app;
GRANT ALL ON FUNCTION public.gc_is_package(package jsonb) TO quayside_app_operator;
REVOKE ALL ON FUNCTION public.gc_manifests(of_project uuid, of_branch text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.gc_manifests(of_project uuid, of_branch text) TO quayside_app;
REVOKE ALL ON FUNCTION public.gc_unreadable_elsewhere(of_project uuid, of_branch text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.gc_unreadable_elsewhere(of_project uuid, of_branch text) TO quayside_app;
REVOKE ALL ON FUNCTION public.hook_secrets_of(of_platform text, of_identifier text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.hook_secrets_of(of_platform text, of_identifier text) TO quayside_app;
REVOKE ALL ON FUNCTION public.invitations_of(person uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.invitations_of(person uuid) TO quayside_app;
REVOKE ALL ON FUNCTION public.keep_account_address() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.keep_tenant_user() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.link_identity(for_user uuid, at_provider text, its_id text, its_username text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.link_identity(for_user uuid, at_provider text, its_id text, its_username text) TO quayside_app;
REVOKE ALL ON FUNCTION public.mock_workspace_of(hash text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.mock_workspace_of(hash text) TO quayside_app;
REVOKE ALL ON FUNCTION public.name_sandbox_in_environments(org uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.name_sandbox_in_environments(org uuid) TO quayside_app;
REVOKE ALL ON FUNCTION public.named_orgs() FROM PUBLIC;
GRANT ALL ON FUNCTION public.named_orgs() TO quayside_app;
GRANT ALL ON FUNCTION public.named_orgs() TO quayside_app_operator;
REVOKE ALL ON FUNCTION public.note_package_versions() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.open_invitation(hash text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.open_invitation(hash text) TO quayside_app;
REVOKE ALL ON FUNCTION public.people_of_token(token uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.people_of_token(token uuid) TO quayside_app;
REVOKE ALL ON FUNCTION public.person_of_address(address text, new_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.person_of_address(address text, new_id uuid) TO quayside_app;
REVOKE ALL ON FUNCTION public.possible_approvers(approvers text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.possible_approvers(approvers text[]) TO quayside_app;
REVOKE ALL ON FUNCTION public.purge_build_previews() FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge_build_previews() TO quayside_app_system;
REVOKE ALL ON FUNCTION public.purge_chat_actions() FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge_chat_actions() TO quayside_app_system;
REVOKE ALL ON FUNCTION public.purge_hook_deliveries() FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge_hook_deliveries() TO quayside_app_system;
REVOKE ALL ON FUNCTION public.purge_idempotency_keys() FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge_idempotency_keys() TO quayside_app_system;
REVOKE ALL ON FUNCTION public.purge_invitations() FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge_invitations() TO quayside_app_system;
REVOKE ALL ON FUNCTION public.purge_known_sign_ins() FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge_known_sign_ins() TO quayside_app_system;
REVOKE ALL ON FUNCTION public.purge_lock_tickets() FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge_lock_tickets() TO quayside_app_system;
REVOKE ALL ON FUNCTION public.purge_pull_requests(days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge_pull_requests(days integer) TO quayside_app_system;
REVOKE ALL ON FUNCTION public.purge_rate_limits() FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge_rate_limits() TO quayside_app_system;
REVOKE ALL ON FUNCTION public.purge_reviews(days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge_reviews(days integer) TO quayside_app_system;
REVOKE ALL ON FUNCTION public.purge_run_tokens() FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge_run_tokens() TO quayside_app_system;
REVOKE ALL ON FUNCTION public.purge_sessions() FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge_sessions() TO quayside_app_system;
REVOKE ALL ON FUNCTION public.purge_sign_in_failures() FROM PUBLIC;
GRANT ALL ON FUNCTION public.purge_sign_in_failures() TO quayside_app_system;
GRANT ALL ON FUNCTION public.refuse_new_slug() TO quayside_app_operator;
GRANT ALL ON FUNCTION public.release_content_digest(commit_sha text, definition jsonb) TO quayside_app_operator;
GRANT ALL ON FUNCTION public.role_rank(role text) TO quayside_app_operator;
REVOKE ALL ON FUNCTION public.set_password(person uuid, new_hash text, kept_session uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.set_password(person uuid, new_hash text, kept_session uuid) TO quayside_app;
REVOKE ALL ON FUNCTION public.settle_flow_run_tally() FROM PUBLIC;
GRANT ALL ON FUNCTION public.settle_flow_run_tally() TO quayside_app_system;
REVOKE ALL ON FUNCTION public.tally_flow_run() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.tenant_slug(tenant uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tenant_slug(tenant uuid) TO quayside_app;
GRANT ALL ON FUNCTION public.tenant_slug(tenant uuid) TO quayside_app_system;
REVOKE ALL ON FUNCTION public.use_invitation(hash text, new_hash text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.use_invitation(hash text, new_hash text) TO quayside_app;
REVOKE ALL ON FUNCTION public.user_of_address(address text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.user_of_address(address text) TO quayside_app;
REVOKE ALL ON FUNCTION public.waiting_metric_windows() FROM PUBLIC;
GRANT ALL ON FUNCTION public.waiting_metric_windows() TO quayside_app;
REVOKE ALL ON FUNCTION public.webhook_deliver(for_tenant uuid, delivery_ids uuid[], webhook_ids uuid[], payloads text[], traceparents text[], audit_entries jsonb[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.webhook_deliver(for_tenant uuid, delivery_ids uuid[], webhook_ids uuid[], payloads text[], traceparents text[], audit_entries jsonb[]) TO quayside_app;
GRANT ALL ON FUNCTION public.webhook_deliver(for_tenant uuid, delivery_ids uuid[], webhook_ids uuid[], payloads text[], traceparents text[], audit_entries jsonb[]) TO quayside_app_operator;
GRANT ALL ON FUNCTION public.webhook_events() TO quayside_app_operator;
REVOKE ALL ON FUNCTION public.webhook_lane_names(webhooks uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.webhook_lane_names(webhooks uuid[]) TO quayside_app;
GRANT ALL ON FUNCTION public.webhook_lane_names(webhooks uuid[]) TO quayside_app_browsers;
GRANT ALL ON FUNCTION public.webhook_subscribe() TO quayside_app_operator;
REVOKE ALL ON FUNCTION public.webhook_trigger(for_tenant uuid, events text[], payloads text[], traceparents text[], audit_entries jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.webhook_trigger(for_tenant uuid, events text[], payloads text[], traceparents text[], audit_entries jsonb) TO quayside_app;
GRANT ALL ON FUNCTION public.webhook_trigger(for_tenant uuid, events text[], payloads text[], traceparents text[], audit_entries jsonb) TO quayside_app_operator;
GRANT ALL ON FUNCTION public.jsonb_overlaid(jsonb) TO quayside_app_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE public.ai_budget_month TO quayside_app;
GRANT SELECT,DELETE ON TABLE public.ai_budget_month TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.ai_budget_month TO quayside_app_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE public.ai_call TO quayside_app;
GRANT SELECT,DELETE ON TABLE public.ai_call TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.ai_call TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.ai_report TO quayside_app;
GRANT SELECT ON TABLE public.ai_report TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.ai_report TO quayside_app_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE public.ai_usage_day TO quayside_app;
GRANT SELECT,DELETE ON TABLE public.ai_usage_day TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.ai_usage_day TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.application_token TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.application_token TO quayside_app_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE public.approval TO quayside_app;
GRANT SELECT ON TABLE public.approval TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approval TO quayside_app_operator;
GRANT SELECT,INSERT ON TABLE public.approval_event TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approval_event TO quayside_app_operator;
GRANT SELECT ON TABLE public.audit_entry TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.audit_entry TO quayside_app_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE public.audit_export TO quayside_app;
GRANT SELECT ON TABLE public.audit_export TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.audit_export TO quayside_app_operator;
GRANT SELECT ON TABLE public.audit_head TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.audit_head TO quayside_app_operator;
GRANT SELECT ON TABLE public.audit_tally TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.audit_tally TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.auth_session TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.auth_session TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.browser_host TO quayside_app_system;
GRANT SELECT ON TABLE public.browser_host TO quayside_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.browser_host TO quayside_app_browsers;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.browser_host TO quayside_app_operator;
GRANT UPDATE(places) ON TABLE public.browser_host TO quayside_app_browsers;
GRANT UPDATE(places_used) ON TABLE public.browser_host TO quayside_app_browsers;
GRANT UPDATE(seen_at) ON TABLE public.browser_host TO quayside_app_browsers;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.browser_live_link TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.browser_live_link TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.browser_replay_page TO quayside_app;
GRANT SELECT ON TABLE public.browser_replay_page TO quayside_app_browsers;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.browser_replay_page TO quayside_app_operator;
GRANT INSERT(tenant_id) ON TABLE public.browser_replay_page TO quayside_app_browsers;
GRANT INSERT(session_id) ON TABLE public.browser_replay_page TO quayside_app_browsers;
GRANT INSERT(page_id) ON TABLE public.browser_replay_page TO quayside_app_browsers;
GRANT INSERT(project_id) ON TABLE public.browser_replay_page TO quayside_app_browsers;
GRANT INSERT(title),UPDATE(title) ON TABLE public.browser_replay_page TO quayside_app_browsers;
GRANT INSERT(started_at) ON TABLE public.browser_replay_page TO quayside_app_browsers;
GRANT UPDATE(ended_at) ON TABLE public.browser_replay_page TO quayside_app_browsers;
GRANT UPDATE(segments) ON TABLE public.browser_replay_page TO quayside_app_browsers;
GRANT UPDATE(bytes) ON TABLE public.browser_replay_page TO quayside_app_browsers;
GRANT UPDATE(is_whole) ON TABLE public.browser_replay_page TO quayside_app_browsers;
GRANT UPDATE(reason) ON TABLE public.browser_replay_page TO quayside_app_browsers;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.browser_session TO quayside_app;
GRANT SELECT ON TABLE public.browser_session TO quayside_app_system;
GRANT SELECT ON TABLE public.browser_session TO quayside_app_browsers;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.browser_session TO quayside_app_operator;
GRANT UPDATE(updated_at) ON TABLE public.browser_session TO quayside_app_browsers;
GRANT UPDATE(status) ON TABLE public.browser_session TO quayside_app_browsers;
GRANT UPDATE(status_reason) ON TABLE public.browser_session TO quayside_app_browsers;
GRANT UPDATE(status_detail) ON TABLE public.browser_session TO quayside_app_browsers;
GRANT UPDATE(isolation) ON TABLE public.browser_session TO quayside_app_browsers;
GRANT UPDATE(provider_session_id) ON TABLE public.browser_session TO quayside_app_browsers;
GRANT UPDATE(host_id) ON TABLE public.browser_session TO quayside_app_browsers;
GRANT UPDATE(expires_at) ON TABLE public.browser_session TO quayside_app_browsers;
GRANT UPDATE(recording_state) ON TABLE public.browser_session TO quayside_app_browsers;
GRANT UPDATE(recording_pages) ON TABLE public.browser_session TO quayside_app_browsers;
GRANT UPDATE(recording_bytes) ON TABLE public.browser_session TO quayside_app_browsers;
GRANT UPDATE(recording_reason) ON TABLE public.browser_session TO quayside_app_browsers;
GRANT UPDATE(live_at) ON TABLE public.browser_session TO quayside_app_browsers;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.browser_session_event TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.browser_session_event TO quayside_app_operator;
GRANT INSERT(tenant_id) ON TABLE public.browser_session_event TO quayside_app_browsers;
GRANT INSERT(session_id) ON TABLE public.browser_session_event TO quayside_app_browsers;
GRANT INSERT(project_id) ON TABLE public.browser_session_event TO quayside_app_browsers;
GRANT INSERT(occurred_at) ON TABLE public.browser_session_event TO quayside_app_browsers;
GRANT INSERT(kind) ON TABLE public.browser_session_event TO quayside_app_browsers;
GRANT INSERT(summary) ON TABLE public.browser_session_event TO quayside_app_browsers;
GRANT INSERT(by_email) ON TABLE public.browser_session_event TO quayside_app_browsers;
GRANT INSERT(data) ON TABLE public.browser_session_event TO quayside_app_browsers;
GRANT SELECT,USAGE ON SEQUENCE public.browser_session_event_number_seq TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.build_preview TO quayside_app;
GRANT SELECT ON TABLE public.build_preview TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.build_preview TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.build_status TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.build_status TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.chat_action TO quayside_app;
GRANT SELECT,UPDATE ON TABLE public.chat_action TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.chat_action TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.chat_message TO quayside_app;
GRANT SELECT,UPDATE ON TABLE public.chat_message TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.chat_message TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.chat_workspace TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.chat_workspace TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.code_analysis TO quayside_app;
GRANT SELECT ON TABLE public.code_analysis TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.code_analysis TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.code_analysis_body TO quayside_app;
GRANT SELECT,DELETE ON TABLE public.code_analysis_body TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.code_analysis_body TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.code_analysis_result TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.code_analysis_result TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.code_analysis_schedule TO quayside_app;
GRANT SELECT ON TABLE public.code_analysis_schedule TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.code_analysis_schedule TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.crm_org TO quayside_app;
GRANT SELECT ON TABLE public.crm_org TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.crm_org TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.crm_token TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.crm_token TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.document TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.document TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.document_collection TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.document_collection TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.document_version TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.document_version TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.environment TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.environment TO quayside_app_operator;
GRANT SELECT(id) ON TABLE public.environment TO quayside_app_system;
GRANT SELECT(id) ON TABLE public.environment TO quayside_app_browsers;
GRANT SELECT(tenant_id) ON TABLE public.environment TO quayside_app_system;
GRANT SELECT(tenant_id) ON TABLE public.environment TO quayside_app_browsers;
GRANT SELECT(project_id) ON TABLE public.environment TO quayside_app_system;
GRANT SELECT(name) ON TABLE public.environment TO quayside_app_system;
GRANT SELECT(name) ON TABLE public.environment TO quayside_app_browsers;
GRANT SELECT,INSERT,UPDATE ON TABLE public.environment_lock_ticket TO quayside_app;
GRANT SELECT ON TABLE public.environment_lock_ticket TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.environment_lock_ticket TO quayside_app_operator;
GRANT SELECT,USAGE ON SEQUENCE public.environment_lock_ticket_number_seq TO quayside_app_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE public.flow_check TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.flow_check TO quayside_app_operator;
GRANT SELECT(tenant_id) ON TABLE public.flow_check TO quayside_app_system;
GRANT SELECT(run_id) ON TABLE public.flow_check TO quayside_app_system;
GRANT SELECT(kind) ON TABLE public.flow_check TO quayside_app_system;
GRANT SELECT(revision) ON TABLE public.flow_check TO quayside_app_system;
GRANT SELECT(written_revision) ON TABLE public.flow_check TO quayside_app_system;
GRANT SELECT(updated_at) ON TABLE public.flow_check TO quayside_app_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.flow_run TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.flow_run TO quayside_app_operator;
GRANT SELECT(id) ON TABLE public.flow_run TO quayside_app_system;
GRANT SELECT(tenant_id) ON TABLE public.flow_run TO quayside_app_system;
GRANT SELECT(created_at) ON TABLE public.flow_run TO quayside_app_system;
GRANT SELECT(updated_at) ON TABLE public.flow_run TO quayside_app_system;
GRANT SELECT(project_id) ON TABLE public.flow_run TO quayside_app_system;
GRANT SELECT(has_workflow) ON TABLE public.flow_run TO quayside_app_system;
GRANT SELECT(task_type) ON TABLE public.flow_run TO quayside_app_system;
GRANT SELECT(is_scheduled) ON TABLE public.flow_run TO quayside_app_system;
GRANT SELECT(status) ON TABLE public.flow_run TO quayside_app_system;
GRANT SELECT(request_id) ON TABLE public.flow_run TO quayside_app_system;
GRANT SELECT(traceparent) ON TABLE public.flow_run TO quayside_app_system;
GRANT SELECT(launched_at),UPDATE(launched_at) ON TABLE public.flow_run TO quayside_app_system;
GRANT SELECT(cancel_requested_at) ON TABLE public.flow_run TO quayside_app_system;
GRANT SELECT(ended_at) ON TABLE public.flow_run TO quayside_app_system;
GRANT SELECT(workflow_path) ON TABLE public.flow_run TO quayside_app_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.flow_run_lock TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.flow_run_lock TO quayside_app_operator;
GRANT SELECT ON TABLE public.flow_run_tally TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.flow_run_tally TO quayside_app_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE public.flow_schedule TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.flow_schedule TO quayside_app_operator;
GRANT SELECT(id) ON TABLE public.flow_schedule TO quayside_app_system;
GRANT SELECT(tenant_id) ON TABLE public.flow_schedule TO quayside_app_system;
GRANT SELECT(updated_at) ON TABLE public.flow_schedule TO quayside_app_system;
GRANT SELECT(name) ON TABLE public.flow_schedule TO quayside_app_system;
GRANT SELECT(cron) ON TABLE public.flow_schedule TO quayside_app_system;
GRANT SELECT(timezone) ON TABLE public.flow_schedule TO quayside_app_system;
GRANT SELECT(deleted_at) ON TABLE public.flow_schedule TO quayside_app_system;
GRANT SELECT(synced_at),UPDATE(synced_at) ON TABLE public.flow_schedule TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gc_check TO quayside_app;
GRANT SELECT ON TABLE public.gc_check TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gc_check TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gc_entry TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gc_entry TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gc_event TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gc_event TO quayside_app_operator;
GRANT SELECT,USAGE ON SEQUENCE public.gc_event_number_seq TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gc_presence TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gc_presence TO quayside_app_operator;
GRANT SELECT ON TABLE public.gc_tally TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gc_tally TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.git_commit TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.git_commit TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.git_commit_package TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.git_commit_package TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.git_mirror TO quayside_app;
GRANT SELECT ON TABLE public.git_mirror TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.git_mirror TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.git_package TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.git_package TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.git_range TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.git_range TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.git_ref TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.git_ref TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.hook_delivery TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.hook_delivery TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.hook_secret TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.hook_secret TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotency_key TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotency_key TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.integration TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.integration TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE ON TABLE public.invitation TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.invitation TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.invited_membership TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.invited_membership TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.invited_user TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.invited_user TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.known_sign_in TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.known_sign_in TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.membership TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.membership TO quayside_app_operator;
GRANT SELECT,INSERT ON TABLE public.metric_series TO quayside_app;
GRANT SELECT,DELETE ON TABLE public.metric_series TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.metric_series TO quayside_app_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE public.metric_series_day TO quayside_app;
GRANT SELECT,DELETE ON TABLE public.metric_series_day TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.metric_series_day TO quayside_app_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE public.metric_window TO quayside_app;
GRANT SELECT,DELETE,UPDATE ON TABLE public.metric_window TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.metric_window TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mock_call TO quayside_app;
GRANT SELECT,DELETE ON TABLE public.mock_call TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mock_call TO quayside_app_operator;
GRANT SELECT,USAGE ON SEQUENCE public.mock_call_number_seq TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mock_drift TO quayside_app;
GRANT SELECT ON TABLE public.mock_drift TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mock_drift TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mock_run TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mock_run TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mock_scenario TO quayside_app;
GRANT SELECT ON TABLE public.mock_scenario TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mock_scenario TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mock_step TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mock_step TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mock_workspace TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mock_workspace TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_component TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_component TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_component_change TO quayside_app;
GRANT SELECT,DELETE ON TABLE public.org_component_change TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_component_change TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_component_file TO quayside_app;
GRANT SELECT ON TABLE public.org_component_file TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_component_file TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_component_type TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_component_type TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_content TO quayside_app;
GRANT SELECT,DELETE,UPDATE ON TABLE public.org_content TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_content TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_limit_hour TO quayside_app;
GRANT SELECT,DELETE ON TABLE public.org_limit_hour TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_limit_hour TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_limit_sample TO quayside_app;
GRANT SELECT,DELETE ON TABLE public.org_limit_sample TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_limit_sample TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_limit_state TO quayside_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.org_limit_state TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_limit_state TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_sync TO quayside_app;
GRANT SELECT,DELETE ON TABLE public.org_sync TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.org_sync TO quayside_app_operator;
GRANT SELECT ON TABLE public.package_version TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.package_version TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.project TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.project TO quayside_app_operator;
GRANT SELECT(id) ON TABLE public.project TO quayside_app_system;
GRANT SELECT(id) ON TABLE public.project TO quayside_app_browsers;
GRANT SELECT(tenant_id) ON TABLE public.project TO quayside_app_system;
GRANT SELECT(tenant_id) ON TABLE public.project TO quayside_app_browsers;
GRANT SELECT(identifier) ON TABLE public.project TO quayside_app_system;
GRANT SELECT(identifier) ON TABLE public.project TO quayside_app_browsers;
GRANT SELECT(remote_url) ON TABLE public.project TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.pull_request TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.pull_request TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.pull_request_refresh TO quayside_app;
GRANT SELECT ON TABLE public.pull_request_refresh TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.pull_request_refresh TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.rate_limit TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.rate_limit TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.refresh_token TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.refresh_token TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.release_candidate TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.release_candidate TO quayside_app_operator;
GRANT SELECT ON TABLE public.release_candidate_count TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.release_candidate_count TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.release_deployment TO quayside_app;
GRANT SELECT ON TABLE public.release_deployment TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.release_deployment TO quayside_app_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE public.review_assignment TO quayside_app;
GRANT SELECT ON TABLE public.review_assignment TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.review_assignment TO quayside_app_operator;
GRANT SELECT,USAGE ON SEQUENCE public.review_assignment_number_seq TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.review_instance TO quayside_app;
GRANT SELECT ON TABLE public.review_instance TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.review_instance TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.review_pool TO quayside_app;
GRANT SELECT ON TABLE public.review_pool TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.review_pool TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.review_rule TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.review_rule TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.run_token TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.run_token TO quayside_app_operator;
GRANT SELECT ON TABLE public.schema_migration TO quayside_app_operator;
GRANT SELECT,USAGE ON SEQUENCE public.schema_migration_id_seq TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sign_in_failure TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sign_in_failure TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sweep_failure TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sweep_failure TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.team TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.team TO quayside_app_operator;
GRANT SELECT ON TABLE public.tenant TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenant TO quayside_app_operator;
GRANT SELECT,DELETE,UPDATE ON TABLE public.tenant_user TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenant_user TO quayside_app_operator;
GRANT SELECT ON TABLE public.user_account TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.user_account TO quayside_app_operator;
GRANT SELECT ON TABLE public.user_alias TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.user_alias TO quayside_app_operator;
GRANT SELECT ON TABLE public.user_identity TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.user_identity TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.user_profile TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.user_profile TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.user_recovery_code TO quayside_app_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.user_totp TO quayside_app_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE public.webhook TO quayside_app;
GRANT SELECT,UPDATE ON TABLE public.webhook TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhook TO quayside_app_operator;
GRANT SELECT ON TABLE public.webhook_attempt TO quayside_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.webhook_attempt TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhook_attempt TO quayside_app_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE public.webhook_delivery TO quayside_app;
GRANT SELECT,DELETE,UPDATE ON TABLE public.webhook_delivery TO quayside_app_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhook_delivery TO quayside_app_operator;
GRANT INSERT(id) ON TABLE public.webhook_delivery TO quayside_app_browsers;
GRANT INSERT(tenant_id) ON TABLE public.webhook_delivery TO quayside_app_browsers;
GRANT SELECT(webhook_id),INSERT(webhook_id) ON TABLE public.webhook_delivery TO quayside_app_browsers;
GRANT INSERT(event) ON TABLE public.webhook_delivery TO quayside_app_browsers;
GRANT INSERT(payload) ON TABLE public.webhook_delivery TO quayside_app_browsers;
GRANT INSERT(traceparent) ON TABLE public.webhook_delivery TO quayside_app_browsers;
GRANT SELECT,INSERT,DELETE ON TABLE public.webhook_subscription TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhook_subscription TO quayside_app_operator;
GRANT SELECT(tenant_id) ON TABLE public.webhook_subscription TO quayside_app_browsers;
GRANT SELECT(event) ON TABLE public.webhook_subscription TO quayside_app_browsers;
GRANT SELECT(webhook_id) ON TABLE public.webhook_subscription TO quayside_app_browsers;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.work_item_request TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.work_item_request TO quayside_app_operator;
GRANT SELECT(id) ON TABLE public.work_item_request TO quayside_app_system;
GRANT SELECT(tenant_id) ON TABLE public.work_item_request TO quayside_app_system;
GRANT SELECT(created_at) ON TABLE public.work_item_request TO quayside_app_system;
GRANT SELECT(repository_identifier) ON TABLE public.work_item_request TO quayside_app_system;
GRANT SELECT(status) ON TABLE public.work_item_request TO quayside_app_system;
GRANT SELECT(report_revision) ON TABLE public.work_item_request TO quayside_app_system;
GRANT SELECT(report_written_revision) ON TABLE public.work_item_request TO quayside_app_system;
GRANT SELECT(report_changed_at) ON TABLE public.work_item_request TO quayside_app_system;
GRANT SELECT(close_due_at) ON TABLE public.work_item_request TO quayside_app_system;
GRANT SELECT ON TABLE public.work_item_request_count TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.work_item_request_count TO quayside_app_operator;
GRANT SELECT,INSERT ON TABLE public.work_item_request_execution TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.work_item_request_execution TO quayside_app_operator;
GRANT SELECT ON TABLE public.work_item_request_tally TO quayside_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.work_item_request_tally TO quayside_app_operator;
INSERT INTO public.schema_migration VALUES (1, 'Migration20261101000100_kernel', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (2, 'Migration20261101000200_events', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (3, 'Migration20261101000300_users', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (4, 'Migration20261101000310_sign_in', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (5, 'Migration20261101000400_documents', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (6, 'Migration20261101000500_mocks', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (7, 'Migration20261101000600_projects', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (8, 'Migration20261101000700_code', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (9, 'Migration20261101000800_orgs', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (10, 'Migration20261101000810_org_explorer', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (11, 'Migration20261101000820_gc_ledger', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (12, 'Migration20261101000900_releases', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (13, 'Migration20261101000910_runs', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (14, 'Migration20261101000920_approvals', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (15, 'Migration20261101001000_review', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (16, 'Migration20261101001010_browser_sessions', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (17, 'Migration20261101001100_work_item_requests', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (18, 'Migration20261101001200_builds', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (19, 'Migration20261101001300_chat', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (20, 'Migration20261101001400_metrics', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (21, 'Migration20261101001410_code_analysis', '2026-11-27 22:44:03.587096+00');
INSERT INTO public.schema_migration VALUES (22, 'Migration20261101001420_language_models', '2026-11-27 22:44:03.587096+00');
SELECT pg_catalog.setval('public.schema_migration_id_seq', 22, true);
