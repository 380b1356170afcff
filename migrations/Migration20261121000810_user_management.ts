import { Migration } from '@mikro-orm/migrations';
import { fenceTenant, SYSTEM_ROLE, privileged, TENANT_OWNED } from './fences.ts';

/** Adding people to a tenant, inviting them, and setting passwords. */
export class UserManagement extends Migration {
  override up(): void {
    // What a person is called is kept by each tenant for itself.
    this.addSql('alter table user_account drop column first_name, drop column last_name');
    this.addSql(`
      create function person_of_address(address text, new_id uuid) returns table (user_id uuid, is_new boolean)
        language plpgsql volatile security definer set search_path = public, pg_temp as $$
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
      ${privileged('person_of_address(text, uuid)')}`);
    this.addSql(`
      create function set_password(person uuid, new_hash text, kept_session uuid) returns void
        language plpgsql volatile security definer set search_path = public, pg_temp as $$
      begin
        update user_account set password_hash = new_hash, updated_at = now() where id = person;
        update auth_session set revoked_at = now()
          where user_id = person and revoked_at is null and id is distinct from kept_session;
      end $$;
      ${privileged('set_password(uuid, text, uuid)')}`);

    this.addSql(`
      create table invitation (${TENANT_OWNED},
        user_id uuid not null references user_account (id) on delete cascade,
        token_hash text unique,
        expires_at timestamptz(3) not null,
        used_at timestamptz(3),
        invited_by text not null);
      create index invitation_of_user on invitation (user_id, created_at);
      ${fenceTenant('invitation', ['select', 'insert', 'delete'])}`);
    this.addSql(`
      create function count_invitations(person uuid, since interval) returns int
        language plpgsql volatile security definer set search_path = public, pg_temp as $$
      begin
        -- Two that invite the same person at once count one after the other.
        perform from user_account where id = person for no key update;
        return (select count(*) from invitation i where i.user_id = person and i.created_at > now() - since);
      end $$;
      ${privileged('count_invitations(uuid, interval)')}`);
    this.addSql(`
      create function open_invitation(hash text) returns table (id uuid, tenant_id uuid, user_id uuid, email text, role text)
        language sql stable security definer set search_path = public, pg_temp as $$
          select i.id, i.tenant_id, i.user_id, u.email, (array_agg(m.role order by role_rank(m.role) desc))[1]
          from invitation i join user_account u on u.id = i.user_id
            join membership m on m.tenant_id = i.tenant_id and m.user_id = i.user_id
          where i.token_hash = hash and i.used_at is null and i.expires_at > now() and u.password_hash is null
          group by i.id, u.id $$;
      ${privileged('open_invitation(text)')}`);
    this.addSql(`
      create function use_invitation(hash text, new_hash text) returns boolean
        language plpgsql volatile security definer set search_path = public, pg_temp as $$
      declare
        person uuid;
      begin
        select o.user_id into person from open_invitation(hash) o;
        if person is null then return false; end if;
        -- Of two that use links of the same person at once, the second finds a password.
        perform from user_account where id = person and password_hash is null for no key update;
        if not found then return false; end if;
        update invitation set used_at = now(), updated_at = now() where token_hash = hash;
        perform set_password(person, new_hash, null);
        return true;
      end $$;
      ${privileged('use_invitation(text, text)')}`);
    this.addSql(`
      create function purge_invitations() returns int
        language sql volatile security definer set search_path = public, pg_temp as $$
        with removed as (
          delete from invitation where ctid = any (array(
            select ctid from invitation where created_at < now() - interval '30 days' limit 10000)) returning 1)
        select count(*)::int from removed $$;
      revoke all on function purge_invitations() from public;
      grant execute on function purge_invitations() to ${SYSTEM_ROLE};`);
  }
}
