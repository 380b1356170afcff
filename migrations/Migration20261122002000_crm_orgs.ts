import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, openToSystem, TENANT_OWNED } from './fences.ts';

const IS_UNLIMITED = '(select current_projects()) is null';

/** Registered orgs of the CRM platform, and their credentials, which are encrypted. */
export class CrmOrgs extends Migration {
  override up(): void {
    this.addSql(`
      create table crm_org (${TENANT_OWNED},
        username text not null,
        sandbox_name text,
        kind text not null check (kind in ('production', 'sandbox', 'scratch')),
        instance_url text not null,
        platform_org_id text not null,
        organization_type text not null,
        instance_name text,
        parent_production_username text,
        is_jit_registration boolean not null default false,
        is_dev_hub boolean not null default false,
        is_default boolean not null default false,
        metadata jsonb not null default '{}',
        expires_at timestamptz(3),
        expiry_announced_at timestamptz(3),
        health_status text not null default 'unknown'
          check (health_status in ('ok', 'auth_failed', 'unreachable', 'limited', 'unknown')),
        health_checked_at timestamptz(3),
        health_error text,
        health_hint text,
        check (is_dev_hub or not is_default),
        unique (tenant_id, id));
      create unique index on crm_org (tenant_id, lower(username));
      create index on crm_org (tenant_id, lower(sandbox_name)) where sandbox_name is not null;
      create unique index on crm_org (tenant_id) where is_default;
      create index on crm_org (expires_at) where expiry_announced_at is null and expires_at is not null;
      ${fenceTenant('crm_org')}
      ${openToSystem('crm_org', ['select'])}`);
    this.addSql(`
      create table crm_token (${TENANT_OWNED},
        org_id uuid not null,
        sandbox_name text not null default '',
        credential text,
        credential_version int not null default 1,
        access_token text,
        instance_url text,
        minted_at timestamptz(3),
        username text,
        platform_org_id text,
        generation int not null default 0,
        failure jsonb,
        lease_id uuid,
        lease_until timestamptz(3),
        api_calls_used int,
        api_calls_max int,
        api_calls_at timestamptz(3),
        foreign key (tenant_id, org_id) references crm_org (tenant_id, id) on delete cascade,
        unique (tenant_id, org_id, sandbox_name));
      ${fenceTenant('crm_token')}`);
    this.addProjectLimits();
  }

  /** A token with projects sees the orgs that their environments or their list of dev hubs name. */
  private addProjectLimits(): void {
    // Runs with the rights of the caller: of environments and projects it sees those that the caller sees.
    this.addSql(`
      create function named_orgs() returns setof text language sql stable parallel safe
        set search_path = public, pg_temp as $$
          select lower(e.org_username) from environment e
          where e.tenant_id = (select current_tenant()) and e.org_username is not null
          union
          select lower(e.dev_hub_username) from environment e
          where e.tenant_id = (select current_tenant()) and e.dev_hub_username is not null
          union
          select lower(hub) from project p,
            jsonb_array_elements_text(case jsonb_typeof(p.configuration->'devHubs') when 'array'
              then p.configuration->'devHubs' else '[]' end) hub
          where p.tenant_id = (select current_tenant()) $$;
      revoke all on function named_orgs() from public;
      grant execute on function named_orgs() to ${APP_ROLE}`);
    this.limit('crm_org', 'lower(username) in (select named_orgs())');
    this.limit(
      'crm_token',
      'exists (select from crm_org o where o.tenant_id = crm_token.tenant_id and o.id = crm_token.org_id)',
    );
  }

  private limit(table: string, condition: string): void {
    const check = `case when ${IS_UNLIMITED} then true else ${condition} end`;
    this.addSql(
      `create policy project on ${table} as restrictive to ${APP_ROLE} using (${check}) with check (${check})`,
    );
  }
}
