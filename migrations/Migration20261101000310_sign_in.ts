import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, hideFromProjects, openToAll, TENANT_OWNED } from './fences.ts';

const AUTH_SESSION = `
  create table auth_session (${TENANT_OWNED},
    user_id uuid not null references user_account (id),
    aal text not null default 'aal1',
    expires_at timestamptz(3) not null,
    revoked_at timestamptz(3),
    cookie_hash text unique,
    begun_from uuid,
    foreign key (begun_from) references auth_session (id) on delete cascade);
  create index auth_session_of_user on auth_session (user_id);
  create index auth_session_begun_from on auth_session (begun_from) where begun_from is not null;
  ${fenceTenant('auth_session')}
  ${hideFromProjects('auth_session')}`;

const REFRESH_TOKEN = `
  create table refresh_token (
    token_hash text primary key,
    tenant_id uuid not null references tenant (id),
    session_id uuid not null references auth_session (id) on delete cascade,
    created_at timestamptz(3) not null default now(),
    spent_at timestamptz(3));
  create index refresh_token_of_session on refresh_token (session_id);
  ${fenceTenant('refresh_token')}
  ${hideFromProjects('refresh_token')}`;

const USER_TOTP = `
  create table user_totp (
    user_id uuid primary key references user_account (id) on delete cascade,
    secret text not null,
    created_at timestamptz(3) not null default now(),
    confirmed_at timestamptz(3),
    last_step bigint not null default 0);
  alter table user_totp enable row level security;`;

const USER_RECOVERY_CODE = `
  create table user_recovery_code (
    user_id uuid not null references user_totp (user_id) on delete cascade,
    code_hash text not null,
    primary key (user_id, code_hash));
  alter table user_recovery_code enable row level security;`;

const KNOWN_SIGN_IN = `
  create table known_sign_in (
    key text primary key,
    expires_at timestamptz(3) not null);
  ${openToAll('known_sign_in', APP_ROLE, ['select', 'insert', 'update', 'delete'])}`;

const SIGN_IN_FAILURE = `
  create table sign_in_failure (
    key text primary key,
    points int not null default 0,
    expire bigint);
  ${openToAll('sign_in_failure', APP_ROLE, ['select', 'insert', 'update', 'delete'])}`;

/** The replaced text of a token is found as long as it is let live. */
const APPLICATION_TOKEN = `
  create table application_token (${TENANT_OWNED},
    name text not null,
    token_hash text not null unique,
    project_ids uuid[],
    expires_at timestamptz(3) not null,
    last_used_at timestamptz(3),
    created_by text not null,
    revoked_at timestamptz(3),
    rotated_at timestamptz(3),
    previous_hash text unique,
    previous_until timestamptz(3),
    expiry_announced_at timestamptz(3),
    people_ids text[] not null default '{}'::text[]);
  create unique index application_token_name on application_token (tenant_id, name) where revoked_at is null;
  create index application_token_to_announce on application_token (expires_at)
    where revoked_at is null and expiry_announced_at is null;
  ${fenceTenant('application_token')}
  ${hideFromProjects('application_token')}`;

/** Sessions, second factors, refused sign-ins and application tokens. */
export class SignIn extends Migration {
  override up(): void {
    for (const sql of [
      AUTH_SESSION,
      REFRESH_TOKEN,
      USER_TOTP,
      USER_RECOVERY_CODE,
      KNOWN_SIGN_IN,
      SIGN_IN_FAILURE,
      APPLICATION_TOKEN,
    ])
      this.addSql(sql);
  }
}
