import { Migration } from '@mikro-orm/migrations';
import { fenceTenant, limitProjects, TENANT_OWNED } from './fences.ts';

/** No foreign key to the org: what was done in it is known although its record was removed. */
const ORG_STEP = `
  create table org_step (
    ${TENANT_OWNED},
    run_id uuid not null,
    position int not null,
    name text not null,
    org_id uuid,
    state text not null default 'planned'
      check (state in ('planned', 'asked', 'begun', 'succeeded', 'failed', 'unknown', 'cancelled', 'skipped')),
    intent jsonb not null default '{}',
    external_id text,
    detail text,
    progress jsonb,
    error text,
    result jsonb not null default '{}',
    asked_at timestamptz(3),
    ended_at timestamptz(3),
    unique (tenant_id, run_id, position),
    foreign key (tenant_id, run_id) references flow_run (tenant_id, id) on delete cascade);
  ${fenceTenant('org_step', ['select', 'insert', 'update'])}
  ${limitProjects(
    'org_step',
    'exists (select from flow_run r where r.tenant_id = org_step.tenant_id and r.id = org_step.run_id)',
  )}`;

/** What runs do in orgs, step by step. */
export class OrgSteps extends Migration {
  override up(): void {
    this.addSql(ORG_STEP);
  }
}
