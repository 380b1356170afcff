import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, openToSystem } from './fences.ts';

const OF_ORG = `
  tenant_id uuid not null references tenant (id),
  org_id uuid not null`;
const GOES_WITH_ORG = 'foreign key (tenant_id, org_id) references crm_org (tenant_id, id) on delete cascade';

/** Limits of orgs: the last poll of each, its samples, and the highest usage of each hour. */
export class OrgLimits extends Migration {
  override up(): void {
    this.addSql(`
      create table org_limit_state (${OF_ORG},
        due_at timestamptz(3) not null default now(),
        claims int not null default 0,
        lease_until timestamptz(3),
        forced_at timestamptz(3),
        attempted_at timestamptz(3),
        polled_at timestamptz(3),
        failures int not null default 0,
        failure jsonb,
        limits jsonb not null default '[]',
        worst jsonb,
        primary key (tenant_id, org_id),
        ${GOES_WITH_ORG});
      create index on org_limit_state (due_at)`);
    this.addSql(`
      create table org_limit_sample (${OF_ORG},
        sampled_at timestamptz(3) not null,
        used bigint[] not null,
        max bigint[] not null,
        primary key (tenant_id, org_id, sampled_at),
        ${GOES_WITH_ORG});
      create index on org_limit_sample (sampled_at)`);
    this.addSql(`
      create table org_limit_hour (${OF_ORG},
        hour timestamptz(3) not null,
        peaks int[] not null,
        primary key (tenant_id, org_id, hour),
        ${GOES_WITH_ORG});
      create index on org_limit_hour (hour)`);
    this.fence('org_limit_state', ['select', 'insert', 'update']);
    this.fence('org_limit_sample', ['select', 'delete']);
    this.fence('org_limit_hour', ['select', 'delete']);
  }

  /** A token with projects sees the limits of the orgs that it sees. */
  private fence(table: string, systemRights: Parameters<typeof openToSystem>[1]): void {
    const check = `case when (select current_projects()) is null then true
      else exists (select from crm_org o where o.tenant_id = ${table}.tenant_id and o.id = ${table}.org_id) end`;
    this.addSql(`
      ${fenceTenant(table)}
      ${openToSystem(table, systemRights)}
      create policy project on ${table} as restrictive to ${APP_ROLE} using (${check}) with check (${check})`);
  }
}
