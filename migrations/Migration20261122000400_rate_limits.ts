import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, openToAll, SYSTEM_ROLE } from './fences.ts';

const BATCH = 10_000;

/** What is counted over all API processes before a tenant is known. */
export class RateLimits extends Migration {
  override up(): void {
    // Unlogged: a crash of the database forgets counts of a minute, and no count waits for the disk.
    this.addSql(`
      create unlogged table rate_limit (key text primary key, taken int not null, expires_at timestamptz(3) not null);
      create table known_sign_in (key text primary key, expires_at timestamptz(3) not null);`);
    for (const table of ['rate_limit', 'known_sign_in']) {
      this.addSql(`
        ${openToAll(table, APP_ROLE, ['select', 'insert', 'update', 'delete'])}
        create function purge_${table}s() returns int language sql volatile security definer
          set search_path = public, pg_temp as $$
          with removed as (
            delete from ${table} where ctid = any (
              array(select ctid from ${table} where expires_at < now() limit ${BATCH})) returning 1)
          select count(*)::int from removed $$;
        revoke all on function purge_${table}s() from public;
        grant execute on function purge_${table}s() to ${SYSTEM_ROLE};`);
    }
  }
}
