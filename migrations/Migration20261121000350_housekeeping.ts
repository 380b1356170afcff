import { Migration } from '@mikro-orm/migrations';
import { SYSTEM_ROLE } from './fences.ts';

/** Each removes at most this many rows a call, so that none holds locks for long. */
const BATCH = 10_000;

/** Clean-up across tenants, one function per kind of row: the role that calls them sees none of the rows. */
export class Housekeeping extends Migration {
  override up(): void {
    this.addPurge('purge_idempotency_keys', 'idempotency_key', `started_at < now() - interval '24 hours'`);
    this.addPurge('purge_sessions', 'auth_session', `expires_at < now() or revoked_at < now() - interval '30 days'`);
    this.addPurge('purge_sign_in_failures', 'sign_in_failure', 'expire < extract(epoch from now()) * 1000');
  }

  private addPurge(name: string, table: string, condition: string): void {
    this.addSql(`
      create function ${name}() returns int language sql volatile security definer set search_path = public, pg_temp as $$
        with removed as (
          delete from ${table} where ctid = any (array(select ctid from ${table} where ${condition} limit ${BATCH})) returning 1)
        select count(*)::int from removed $$;
      revoke all on function ${name}() from public;
      grant execute on function ${name}() to ${SYSTEM_ROLE};`);
  }
}
