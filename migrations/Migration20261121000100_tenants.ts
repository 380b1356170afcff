import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, createRole, fenceTenant, SYSTEM_ROLE, privileged, TENANT_OWNED } from './fences.ts';

/** Tenants, people, credentials, and the functions by which a credential finds its tenant. */
export class Tenants extends Migration {
  override up(): void {
    for (const role of [APP_ROLE, SYSTEM_ROLE]) this.addSql(createRole(role));
    this.addSql(`
      create function current_tenant() returns uuid language sql stable parallel safe
        return nullif(current_setting('app.tenant_id', true), '')::uuid`);
    this.addSql(`
      create function current_projects() returns uuid[] language sql stable parallel safe
        return nullif(current_setting('app.project_ids', true), '')::uuid[]`);

    this.addSql(`
      create table tenant (
        id uuid primary key,
        slug text not null unique check (slug ~ '^[a-z0-9-]{1,40}$'),
        created_at timestamptz(3) not null default now());
      alter table tenant enable row level security;
      create policy tenant on tenant to ${APP_ROLE} using (id = (select current_tenant()));
      grant select on tenant to ${APP_ROLE}`);

    this.addSql(`
      create table user_account (
        id uuid primary key,
        email text not null unique check (email = lower(email)),
        first_name text not null default '',
        last_name text not null default '',
        password_hash text,
        auth_data jsonb not null default '{}',
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now())`);
    this.addSql(`
      create table team (${TENANT_OWNED}, slug text not null, unique (tenant_id, slug), unique (tenant_id, id));
      ${fenceTenant('team')}`);
    this.addSql(`
      create table membership (${TENANT_OWNED},
        team_id uuid not null,
        user_id uuid not null references user_account (id),
        role text not null check (role in ('owner', 'member', 'application')),
        foreign key (tenant_id, team_id) references team (tenant_id, id),
        unique (tenant_id, team_id, user_id));
      create index membership_of_user on membership (user_id, tenant_id);
      ${fenceTenant('membership')}`);
    this.addSql(`
      alter table user_account enable row level security;
      create policy colleague on user_account to ${APP_ROLE} using (
        exists (select from membership m where m.user_id = user_account.id and m.tenant_id = (select current_tenant())));
      grant select on user_account to ${APP_ROLE}`);

    this.addSql(`
      create table application_token (${TENANT_OWNED},
        name text not null,
        token_hash text not null unique,
        project_ids uuid[],
        expires_at timestamptz(3) not null,
        last_used_at timestamptz(3),
        created_by text not null,
        revoked_at timestamptz(3));
      create unique index application_token_name on application_token (tenant_id, name) where revoked_at is null;
      ${fenceTenant('application_token')}`);
    this.addSql(`
      create table auth_session (${TENANT_OWNED},
        user_id uuid not null references user_account (id),
        aal text not null default 'aal1',
        expires_at timestamptz(3) not null,
        revoked_at timestamptz(3));
      create index auth_session_of_user on auth_session (user_id);
      ${fenceTenant('auth_session')}`);
    this.addSql(`
      create table refresh_token (
        token_hash text primary key,
        tenant_id uuid not null references tenant (id),
        session_id uuid not null references auth_session (id) on delete cascade,
        created_at timestamptz(3) not null default now(),
        spent_at timestamptz(3));
      create index refresh_token_of_session on refresh_token (session_id);
      ${fenceTenant('refresh_token')}`);

    this.addSql(`
      create function role_rank(role text) returns int language sql immutable parallel safe
        return case role when 'owner' then 3 when 'application' then 2 else 1 end`);
    this.addSql(`
      create function auth_application_tokens(hashes text[])
        returns table (token_hash text, id uuid, tenant_id uuid, name text, project_ids uuid[], is_use_stale boolean)
        language sql stable security definer set search_path = public, pg_temp as $$
          select t.token_hash, t.id, t.tenant_id, t.name, t.project_ids,
            t.last_used_at is null or t.last_used_at < now() - interval '1 minute'
          from application_token t
          where t.token_hash = any (hashes) and t.revoked_at is null and t.expires_at > now() $$;
      ${privileged('auth_application_tokens(text[])')}`);
    this.addSql(`
      create function auth_touch_application_tokens(ids uuid[]) returns void
        language sql volatile security definer set search_path = public, pg_temp as $$
          update application_token set last_used_at = now()
          where id = any (ids) and (last_used_at is null or last_used_at < now() - interval '1 minute') $$;
      ${privileged('auth_touch_application_tokens(uuid[])')}`);
    this.addSql(`
      create function auth_sessions(ids uuid[])
        returns table (id uuid, user_id uuid, tenant_id uuid, email text, role text)
        language sql stable security definer set search_path = public, pg_temp as $$
          select s.id, s.user_id, s.tenant_id, u.email,
            (select m.role from membership m where m.user_id = s.user_id and m.tenant_id = s.tenant_id
              order by role_rank(m.role) desc limit 1)
          from auth_session s join user_account u on u.id = s.user_id
          where s.id = any (ids) and s.revoked_at is null and s.expires_at > now() $$;
      ${privileged('auth_sessions(uuid[])')}`);
    this.addSql(`
      create function auth_login(login_email text, tenant_slug text)
        returns table (user_id uuid, password_hash text, tenant_id uuid, role text)
        language sql stable security definer set search_path = public, pg_temp as $$
          select u.id, u.password_hash, m.tenant_id, m.role
          from user_account u
          left join lateral (
            select t.id as tenant_id, (array_agg(x.role order by role_rank(x.role) desc))[1] as role
            from membership x join tenant t on t.id = x.tenant_id
            where x.user_id = u.id and (tenant_slug is null or t.slug = tenant_slug)
            group by t.id order by min(x.created_at), t.id limit 1) m on true
          where u.email = lower(login_email) $$;
      ${privileged('auth_login(text, text)')}`);
    this.addSql(`
      create function auth_refresh(hash text) returns table (tenant_id uuid, session_id uuid, user_id uuid, email text)
        language sql stable security definer set search_path = public, pg_temp as $$
          select r.tenant_id, r.session_id, s.user_id, u.email
          from refresh_token r join auth_session s on s.id = r.session_id join user_account u on u.id = s.user_id
          where r.token_hash = hash $$;
      ${privileged('auth_refresh(text)')}`);
  }
}
