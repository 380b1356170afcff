import { Migration } from '@mikro-orm/migrations';
import { SYSTEM_ROLE, privileged } from './fences.ts';

/** Application tokens are replaced without a gap, and their owners are told before they expire. */
export class ApplicationTokens extends Migration {
  override up(): void {
    this.addSql(`
      alter table application_token
        add column rotated_at timestamptz(3),
        add column previous_hash text unique,
        add column previous_until timestamptz(3),
        add column expiry_announced_at timestamptz(3);
      create index application_token_to_announce on application_token (expires_at)
        where revoked_at is null and expiry_announced_at is null`);
    // The replaced text of a token is found as long as it is let live; the reply names the hash that was asked for.
    this.addSql(`
      create or replace function auth_application_tokens(hashes text[])
        returns table (token_hash text, id uuid, tenant_id uuid, name text, project_ids uuid[], is_use_stale boolean)
        language sql stable security definer set search_path = public, pg_temp as $$
          select t.token_hash, t.id, t.tenant_id, t.name, t.project_ids,
            t.last_used_at is null or t.last_used_at < now() - interval '1 minute'
          from application_token t
          where t.token_hash = any (hashes) and t.revoked_at is null and t.expires_at > now()
          union all
          select t.previous_hash, t.id, t.tenant_id, t.name, t.project_ids,
            t.last_used_at is null or t.last_used_at < now() - interval '1 minute'
          from application_token t
          where t.previous_hash = any (hashes) and t.previous_until > now() and t.revoked_at is null and t.expires_at > now() $$;
      ${privileged('auth_application_tokens(text[])')}`);
    // Told a week ahead; of a token that lives for less than four weeks, in the last quarter of its life.
    this.addSql(`
      create function expiring_application_tokens() returns table (id uuid, tenant_id uuid)
        language sql stable security definer set search_path = public, pg_temp as $$
          select t.id, t.tenant_id from application_token t
          where t.revoked_at is null and t.expiry_announced_at is null
            and t.expires_at > now() and t.expires_at < now() + interval '7 days'
            and t.expires_at - now() < (t.expires_at - coalesce(t.rotated_at, t.created_at)) / 4
          order by t.expires_at limit 100 $$;
      revoke all on function expiring_application_tokens() from public;
      grant execute on function expiring_application_tokens() to ${SYSTEM_ROLE};`);
  }
}
