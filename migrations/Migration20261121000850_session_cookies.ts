import { Migration } from '@mikro-orm/migrations';
import { privileged } from './fences.ts';

/** Sessions that a browser holds by a cookie, and sessions that were begun from another one. */
export class SessionCookies extends Migration {
  override up(): void {
    this.addSql(`
      alter table auth_session
        add column cookie_hash text unique,
        add column begun_from uuid references auth_session (id) on delete cascade;
      create index auth_session_begun_from on auth_session (begun_from) where begun_from is not null`);
    this.addSql(`
      create function auth_cookie_sessions(hashes text[])
        returns table (cookie_hash text, id uuid, user_id uuid, tenant_id uuid, email text, role text)
        language sql stable security definer set search_path = public, pg_temp as $$
          select s.cookie_hash, a.* from auth_session s, auth_sessions(array[s.id]) a where s.cookie_hash = any (hashes) $$;
      ${privileged('auth_cookie_sessions(text[])')}`);
  }
}
