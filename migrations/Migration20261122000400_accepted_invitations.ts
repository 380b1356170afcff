import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, privileged, TENANT_OWNED } from './fences.ts';

/** The rows of the whole tenant: an application token with projects sees none. */
const closeToLimited = (table: string): string =>
  `create policy project on ${table} as restrictive to ${APP_ROLE} using ((select current_projects()) is null);`;

const HIGHEST_ROLE = (table: string, tenant: string, user: string): string =>
  `(select m.role from ${table} m where m.tenant_id = ${tenant} and m.user_id = ${user} order by role_rank(m.role) desc limit 1)`;

/**
 * Who is added to a tenant is invited until they accept. Invited people have rows of their own, by the address that was
 * given, so that nothing which asks for memberships gives them rights, and nothing tells whether they have an account.
 */
export class AcceptedInvitations extends Migration {
  override up(): void {
    this.addTables();
    this.addSignIn();
    this.addAcceptance();
  }

  private addTables(): void {
    this.addSql(`
      create table tenant_user (
        tenant_id uuid not null references tenant (id),
        user_id uuid not null references user_account (id) on delete cascade,
        accepted_at timestamptz(3) not null default now(),
        chosen_at timestamptz(3),
        primary key (tenant_id, user_id));
      create index tenant_user_of_user on tenant_user (user_id);
      ${fenceTenant('tenant_user', ['select', 'update', 'delete'])}
      ${closeToLimited('tenant_user')}`);
    this.addSql(`
      insert into tenant_user (tenant_id, user_id, accepted_at)
      select tenant_id, user_id, min(created_at) from membership group by 1, 2`);
    // Changes of teams leave the row, and with it the date, alone.
    this.addSql(`
      create function keep_tenant_user() returns trigger
        language plpgsql security definer set search_path = public, pg_temp as $$
      begin
        insert into tenant_user (tenant_id, user_id) values (new.tenant_id, new.user_id) on conflict do nothing;
        return null;
      end $$;
      revoke all on function keep_tenant_user() from public;
      create trigger tenant_user_kept after insert on membership for each row execute function keep_tenant_user()`);
    this.addSql(`
      create table invited_user (${TENANT_OWNED},
        email text not null check (email = lower(email)),
        first_name text not null default '',
        last_name text not null default '',
        invited_by text not null,
        unique (tenant_id, id),
        unique (tenant_id, email));
      create index invited_user_by_email on invited_user (email);
      ${fenceTenant('invited_user')}
      ${closeToLimited('invited_user')}`);
    this.addSql(`
      create table invited_membership (${TENANT_OWNED},
        team_id uuid not null,
        user_id uuid not null,
        role text not null check (role in ('owner', 'member', 'application')),
        foreign key (tenant_id, team_id) references team (tenant_id, id),
        foreign key (tenant_id, user_id) references invited_user (tenant_id, id) on delete cascade,
        unique (tenant_id, team_id, user_id));
      create index invited_membership_of_user on invited_membership (tenant_id, user_id);
      ${fenceTenant('invited_membership')}
      ${closeToLimited('invited_membership')}`);
    // Mails are counted by address, also after the invited person was removed.
    this.addSql(`
      alter table invitation
        alter column user_id drop not null,
        add column invited_user_id uuid references invited_user (id) on delete set null,
        add column email text;
      update invitation i set email = u.email from user_account u where u.id = i.user_id;
      alter table invitation alter column email set not null;
      create index invitation_of_address on invitation (tenant_id, email, created_at);
      create index invitation_of_invited on invitation (invited_user_id) where invited_user_id is not null;
      drop function count_invitations(uuid, interval)`);
  }

  /** Where somebody acts who is found by an address, as a member or by accepting an invitation. */
  private addSignIn(): void {
    this.addSql(`
      create function auth_place(person uuid, address text, wanted text)
        returns table (tenant_id uuid, role text, invitation_id uuid, tenants text[], invited_to text[])
        language sql stable set search_path = public, pg_temp as $$
          with member as materialized (
            select t.id, t.slug, j.accepted_at, j.chosen_at, ${HIGHEST_ROLE('membership', 't.id', 'person')} as role
            from tenant_user j join tenant t on t.id = j.tenant_id
            where j.user_id = person and exists (
              select from membership m where m.tenant_id = j.tenant_id and m.user_id = person)),
          invited as materialized (
            select v.id as invitation_id, t.id, t.slug, ${HIGHEST_ROLE('invited_membership', 't.id', 'v.id')} as role
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
      revoke all on function auth_place(uuid, text, text) from public`);
    this.addSql(`
      drop function auth_login(text, text);
      create function auth_login(login_email text, tenant_slug text)
        returns table (user_id uuid, email text, password_hash text, tenant_id uuid, role text, invitation_id uuid,
          tenants text[], invited_to text[])
        language sql stable security definer set search_path = public, pg_temp as $$
          select u.id, u.email, u.password_hash, p.tenant_id, p.role, p.invitation_id, p.tenants, p.invited_to
          from user_account u cross join lateral auth_place(u.id, u.email, tenant_slug) p
          where u.email = lower(login_email) $$;
      ${privileged('auth_login(text, text)')}`);
    // The account of somebody who has none yet gets the id of the invitation.
    this.addSql(`
      drop function auth_people(text[], text);
      create function auth_people(emails text[], tenant_slug text default null)
        returns table (known_by text, user_id uuid, email text, is_new boolean, tenant_id uuid, role text,
          invitation_id uuid, tenants text[], invited_to text[])
        language sql stable security definer set search_path = public, pg_temp
        set plan_cache_mode = force_generic_plan as $$
          select e.known_by, coalesce(u.id, p.invitation_id), coalesce(u.email, lower(e.known_by)), u.id is null,
            p.tenant_id, p.role, p.invitation_id, p.tenants, p.invited_to
          from unnest(emails) as e (known_by)
          left join user_alias a on a.email = lower(e.known_by)
          left join user_account u on u.id = a.user_id
          cross join lateral auth_place(u.id, e.known_by, tenant_slug) p
          where u.id is not null or cardinality(p.invited_to) > 0 $$;
      ${privileged('auth_people(text[], text)')}`);
  }

  private addAcceptance(): void {
    this.addSql(`
      create function invitations_of(person uuid)
        returns table (id uuid, tenant_id uuid, email text, invited_by text, role text, teams text[], created_at timestamptz)
        language sql stable security definer set search_path = public, pg_temp as $$
          select v.id, v.tenant_id, v.email, v.invited_by, ${HIGHEST_ROLE('invited_membership', 'v.tenant_id', 'v.id')},
            array(select t.slug from invited_membership m join team t on t.tenant_id = m.tenant_id and t.id = m.team_id
              where m.tenant_id = v.tenant_id and m.user_id = v.id order by t.slug),
            v.created_at
          from invited_user v
          where v.email in (select a.email from user_alias a where a.user_id = person)
          order by v.created_at, v.id $$;
      ${privileged('invitations_of(uuid)')}`);
    // Null: there is no such invitation, or its address is not the person's.
    this.addSql(`
      create function accept_invitation(invitation uuid, person uuid) returns uuid
        language plpgsql volatile security definer set search_path = public, pg_temp as $$
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
      ${privileged('accept_invitation(uuid, uuid)')}`);
    this.addSql(`
      drop function use_invitation(text, text);
      drop function open_invitation(text);
      create function open_invitation(hash text)
        returns table (tenant_id uuid, invitation_id uuid, user_id uuid, email text, role text, has_password boolean)
        language sql stable security definer set search_path = public, pg_temp as $$
          select i.tenant_id, v.id, coalesce(u.id, v.id), coalesce(v.email, u.email),
            case when v.id is null then ${HIGHEST_ROLE('membership', 'i.tenant_id', 'u.id')}
              else ${HIGHEST_ROLE('invited_membership', 'i.tenant_id', 'v.id')} end,
            coalesce(u.password_hash is not null, false)
          from invitation i
          left join invited_user v on v.id = i.invited_user_id
          left join user_alias a on a.email = v.email
          left join user_account u on u.id = coalesce(i.user_id, a.user_id)
          where i.token_hash = hash and i.used_at is null and i.expires_at > now()
            and (v.id is not null or (u.password_hash is null
              and exists (select from membership m where m.tenant_id = i.tenant_id and m.user_id = u.id))) $$;
      ${privileged('open_invitation(text)')}`);
    // A password is set where there is none, and is needed there.
    this.addSql(`
      create function use_invitation(hash text, new_hash text) returns boolean
        language plpgsql volatile security definer set search_path = public, pg_temp as $$
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
      ${privileged('use_invitation(text, text)')}`);
  }
}
