import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, privileged } from './fences.ts';

/** A person is the service's, their membership the tenant's: what tenants write of one stays in rows of their own. */
const COLLEAGUES_ONLY = (table: string) => `
  alter table ${table} enable row level security;
  create policy colleague on ${table} to ${APP_ROLE} using (
    exists (select from membership m where m.user_id = ${table}.user_id and m.tenant_id = (select current_tenant())));
  grant select on ${table} to ${APP_ROLE};`;

/** Addresses and provider names by which people are found, what a tenant calls them, and their invitations. */
export class People extends Migration {
  override up(): void {
    // The primary address stands here, too, so that one key keeps any address from belonging to two people.
    this.addSql(`
      create table user_alias (
        email text primary key check (email = lower(email)),
        user_id uuid not null references user_account (id) on delete cascade,
        provider text not null,
        created_at timestamptz(3) not null default now());
      create index user_alias_of_user on user_alias (user_id);
      ${COLLEAGUES_ONLY('user_alias')}`);
    this.addSql(`insert into user_alias (email, user_id, provider) select email, id, 'account' from user_account`);
    this.addSql(`
      create function keep_account_address() returns trigger
        language plpgsql security definer set search_path = public, pg_temp as $$
      begin
        if tg_op = 'UPDATE' then
          delete from user_alias where email = old.email and user_id = old.id;
        end if;
        insert into user_alias (email, user_id, provider) values (new.email, new.id, 'account');
        return null;
      end $$;
      revoke all on function keep_account_address() from public;
      create trigger address_kept after insert or update of email on user_account
        for each row execute function keep_account_address()`);
    this.addSql(`
      create table user_identity (
        provider text not null check (provider in ('host-a', 'host-b', 'host-c')),
        username text not null check (username = lower(username)),
        external_id text not null,
        user_id uuid not null references user_account (id) on delete cascade,
        updated_at timestamptz(3) not null default now(),
        primary key (provider, external_id));
      create unique index user_identity_by_name on user_identity (provider, username);
      create index user_identity_of_user on user_identity (user_id);
      ${COLLEAGUES_ONLY('user_identity')}`);
    this.addSql(`
      create table user_profile (
        tenant_id uuid not null references tenant (id),
        user_id uuid not null references user_account (id) on delete cascade,
        first_name text not null default '',
        last_name text not null default '',
        updated_at timestamptz(3) not null default now(),
        primary key (tenant_id, user_id));
      ${fenceTenant('user_profile')}`);
    this.addSql(`
      insert into user_profile (tenant_id, user_id, first_name, last_name)
      select distinct m.tenant_id, u.id, u.first_name, u.last_name
      from user_account u join membership m on m.user_id = u.id where u.first_name <> '' or u.last_name <> ''`);

    this.addSql(`
      create function user_of_address(address text) returns uuid
        language sql stable security definer set search_path = public, pg_temp as $$
          select user_id from user_alias where email = lower(address) $$;
      ${privileged('user_of_address(text)')}`);
    // Answers whose each address is afterwards: one that belongs to somebody else stays theirs.
    this.addSql(`
      create function claim_aliases(for_user uuid, from_provider text, addresses text[])
        returns table (email text, user_id uuid)
        language plpgsql volatile security definer set search_path = public, pg_temp as $$
      begin
        insert into user_alias (email, user_id, provider)
        select distinct lower(a), for_user, from_provider from unnest(addresses) a order by 1
        on conflict do nothing;
        return query select x.email, x.user_id from user_alias x
          where x.email = any (select lower(a) from unnest(addresses) a) order by 1;
      end $$;
      ${privileged('claim_aliases(uuid, text, text[])')}`);
    // The provider has proved both: a name that it gave to another account, or an account that was renamed, moves.
    this.addSql(`
      create function link_identity(for_user uuid, at_provider text, its_id text, its_username text) returns boolean
        language plpgsql volatile security definer set search_path = public, pg_temp as $$
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
      ${privileged('link_identity(uuid, text, text, text)')}`);
  }
}
