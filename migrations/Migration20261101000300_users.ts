import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, hideFromProjects, TENANT_OWNED } from './fences.ts';

const USER_ACCOUNT = `
  create table user_account (
    id uuid primary key,
    email text not null check (email = lower(email)) unique,
    password_hash text,
    auth_data jsonb not null default '{}',
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now());
  alter table user_account enable row level security;
  grant select on user_account to ${APP_ROLE};`;

/** The primary address stands here, too, so that one key keeps any address from belonging to two people. */
const USER_ALIAS = `
  create table user_alias (
    email text primary key check (email = lower(email)),
    user_id uuid not null references user_account (id) on delete cascade,
    provider text not null,
    created_at timestamptz(3) not null default now());
  create index user_alias_of_user on user_alias (user_id);
  alter table user_alias enable row level security;
  grant select on user_alias to ${APP_ROLE};`;

const USER_IDENTITY = `
  create table user_identity (
    provider text not null check (provider in ('host-a', 'host-b', 'host-c')),
    username text not null check (username = lower(username)),
    external_id text not null,
    user_id uuid not null references user_account (id) on delete cascade,
    updated_at timestamptz(3) not null default now(),
    primary key (provider, external_id));
  create unique index user_identity_by_name on user_identity (provider, username);
  create index user_identity_of_user on user_identity (user_id);
  alter table user_identity enable row level security;
  grant select on user_identity to ${APP_ROLE};`;

const TEAM = `
  create table team (${TENANT_OWNED},
    slug text not null,
    unique (tenant_id, slug),
    unique (tenant_id, id));
  ${fenceTenant('team')}`;

const MEMBERSHIP = `
  create table membership (${TENANT_OWNED},
    team_id uuid not null,
    user_id uuid not null references user_account (id),
    role text not null check (role in ('owner', 'member', 'application')),
    unique (tenant_id, team_id, user_id),
    foreign key (tenant_id, team_id) references team (tenant_id, id));
  create index membership_of_user on membership (user_id, tenant_id);
  ${fenceTenant('membership')}`;

/** When somebody accepted to belong to the tenant: changes of teams leave the row, and with it the date, alone. */
const TENANT_USER = `
  create table tenant_user (
    tenant_id uuid not null references tenant (id),
    user_id uuid not null references user_account (id) on delete cascade,
    accepted_at timestamptz(3) not null default now(),
    chosen_at timestamptz(3),
    primary key (tenant_id, user_id));
  create index tenant_user_of_user on tenant_user (user_id);
  ${fenceTenant('tenant_user', ['select', 'update', 'delete'])}
  ${hideFromProjects('tenant_user')}`;

/** What a person is called is kept by each tenant for itself. */
const USER_PROFILE = `
  create table user_profile (
    tenant_id uuid not null references tenant (id),
    user_id uuid not null references user_account (id) on delete cascade,
    first_name text not null default '',
    last_name text not null default '',
    updated_at timestamptz(3) not null default now(),
    primary key (tenant_id, user_id));
  ${fenceTenant('user_profile')}
  ${hideFromProjects('user_profile')}`;

const INVITED_USER = `
  create table invited_user (${TENANT_OWNED},
    email text not null check (email = lower(email)),
    first_name text not null default '',
    last_name text not null default '',
    invited_by text not null,
    unique (tenant_id, id),
    unique (tenant_id, email));
  create index invited_user_by_email on invited_user (email);
  ${fenceTenant('invited_user')}
  ${hideFromProjects('invited_user')}`;

const INVITED_MEMBERSHIP = `
  create table invited_membership (${TENANT_OWNED},
    team_id uuid not null,
    user_id uuid not null,
    role text not null check (role in ('owner', 'member', 'application')),
    unique (tenant_id, team_id, user_id),
    foreign key (tenant_id, team_id) references team (tenant_id, id),
    foreign key (tenant_id, user_id) references invited_user (tenant_id, id) on delete cascade);
  create index invited_membership_of_user on invited_membership (tenant_id, user_id);
  ${fenceTenant('invited_membership')}
  ${hideFromProjects('invited_membership')}`;

/** Mails are counted by address, also after the invited person was removed. */
const INVITATION = `
  create table invitation (${TENANT_OWNED},
    user_id uuid references user_account (id) on delete cascade,
    token_hash text unique,
    expires_at timestamptz(3) not null,
    used_at timestamptz(3),
    invited_by text not null,
    invited_user_id uuid references invited_user (id) on delete set null,
    email text not null);
  create index invitation_of_user on invitation (user_id, created_at);
  create index invitation_of_address on invitation (tenant_id, email, created_at);
  create index invitation_of_invited on invitation (invited_user_id) where invited_user_id is not null;
  ${fenceTenant('invitation', ['select', 'insert', 'delete'])}
  ${hideFromProjects('invitation')}`;

/** People belong to no tenant: a tenant sees its members. */
const showColleagues = (table: string, userId: string): string => `
  create policy colleague on ${table} to ${APP_ROLE} using (exists (
    select from membership m where m.user_id = ${table}.${userId} and m.tenant_id = (select current_tenant())));`;

const COLLEAGUES = `
  ${showColleagues('user_account', 'id')}
  ${showColleagues('user_alias', 'user_id')}
  ${showColleagues('user_identity', 'user_id')}`;

/** People with their addresses and identities, teams, members and invitations. */
export class Users extends Migration {
  override up(): void {
    for (const sql of [
      USER_ACCOUNT,
      USER_ALIAS,
      USER_IDENTITY,
      TEAM,
      MEMBERSHIP,
      TENANT_USER,
      USER_PROFILE,
      INVITED_USER,
      INVITED_MEMBERSHIP,
      INVITATION,
      COLLEAGUES,
    ])
      this.addSql(sql);
  }
}
