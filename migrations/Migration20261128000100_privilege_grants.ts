import { Migration } from '@mikro-orm/migrations';
import { fenceTenant, hideFromProjects, showToSystem, TENANT_OWNED } from './fences.ts';

/**
 * No foreign keys to the run and the org: what was given in an org is taken back although both were removed. Application tokens
 * with projects see the runs.
 */
const PRIVILEGE_GRANT = `
  create table privilege_grant (
    ${TENANT_OWNED},
    run_id uuid not null,
    org_id uuid not null,
    org_username text not null,
    username text not null,
    user_id text collate "C" not null,
    permission_set text not null,
    set_id text collate "C" not null,
    is_group boolean not null,
    state text not null default 'intended' check (state in ('intended', 'granted', 'refused', 'taken_back', 'lost')),
    assignment_id text,
    expires_at timestamptz(3) not null,
    taken_back_at timestamptz(3),
    error text,
    unique (tenant_id, run_id, user_id, set_id));
  create index privilege_grant_open on privilege_grant (expires_at) where state in ('intended', 'granted');
  create index privilege_grant_closed on privilege_grant (updated_at) where state not in ('intended', 'granted');
  ${fenceTenant('privilege_grant', ['select', 'insert', 'update'])}
  ${hideFromProjects('privilege_grant')}
  ${showToSystem('privilege_grant', 'id, tenant_id, run_id, state, expires_at, updated_at')}`;

/** Rights that runs give people in orgs for a time. */
export class PrivilegeGrants extends Migration {
  override up(): void {
    this.addSql(PRIVILEGE_GRANT);
  }
}
