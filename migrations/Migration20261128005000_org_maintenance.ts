import { Migration } from '@mikro-orm/migrations';
import { fenceTenant, limitProjects, showToSystem } from './fences.ts';

const ORG_MAINTENANCE = `
  create table org_maintenance (
    tenant_id uuid not null references tenant (id),
    org_id uuid not null,
    entries jsonb not null default '[]',
    calendar_url text,
    calendar jsonb,
    calendar_due_at timestamptz(3),
    updated_at timestamptz(3) not null default now(),
    primary key (tenant_id, org_id),
    foreign key (tenant_id, org_id) references crm_org (tenant_id, id) on delete cascade);
  create index org_maintenance_due on org_maintenance (calendar_due_at) where calendar_due_at is not null;
  ${fenceTenant('org_maintenance', ['select', 'insert', 'update'])}
  ${showToSystem('org_maintenance', 'tenant_id, org_id, calendar_due_at')}
  ${limitProjects(
    'org_maintenance',
    'exists (select from crm_org o where o.tenant_id = org_maintenance.tenant_id and o.id = org_maintenance.org_id)',
  )}`;

/** When the platform works on the instances of orgs. */
export class OrgMaintenance extends Migration {
  override up(): void {
    this.addSql(ORG_MAINTENANCE);
  }
}
