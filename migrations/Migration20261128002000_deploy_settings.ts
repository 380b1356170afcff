import { Migration } from '@mikro-orm/migrations';
import { fenceTenant, limitProjects } from './fences.ts';

const SETTINGS = `
  alter table environment add column deploy jsonb;
  alter table org_source add column settings_digest text;`;

/** Which runs change an org, one after the other. No foreign key to the org: it may be registered anew. */
const ORG_TURN = `
  create table org_turn (
    tenant_id uuid not null references tenant (id),
    org_id uuid not null,
    run_id uuid not null,
    arrived_at timestamptz(3) not null,
    asked_at timestamptz(3) not null,
    began_at timestamptz(3),
    primary key (tenant_id, run_id),
    foreign key (tenant_id, run_id) references flow_run (tenant_id, id) on delete cascade);
  create unique index org_turn_one on org_turn (tenant_id, org_id) where began_at is not null;
  ${fenceTenant('org_turn')}
  ${limitProjects(
    'org_turn',
    'exists (select from flow_run r where r.tenant_id = org_turn.tenant_id and r.id = org_turn.run_id)',
  )}`;

/** How source is deployed to environments, and which run changes an org now. */
export class DeploySettings extends Migration {
  override up(): void {
    this.addSql(SETTINGS);
    this.addSql(ORG_TURN);
  }
}
