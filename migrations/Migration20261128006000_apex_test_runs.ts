import { Migration } from '@mikro-orm/migrations';
import { fenceTenant, limitProjects } from './fences.ts';

const OF_RUN = `exists (select from flow_run r where r.tenant_id = apex_test_run.tenant_id and r.id = apex_test_run.run_id)`;

/** No foreign key to the org: it may be registered anew. */
const APEX_TEST_RUN = `
  create table apex_test_run (
    tenant_id uuid not null references tenant (id),
    run_id uuid not null,
    org_id uuid not null,
    ran_sha text,
    commit_sha text,
    base_sha text,
    why_unknown text,
    gates jsonb not null default '{}',
    began_at timestamptz(3) not null,
    primary key (tenant_id, run_id),
    foreign key (tenant_id, run_id) references flow_run (tenant_id, id) on delete cascade);
  create index apex_test_run_of_org on apex_test_run (tenant_id, org_id, began_at);
  ${fenceTenant('apex_test_run', ['select', 'insert', 'update'])}
  ${limitProjects('apex_test_run', OF_RUN)}
  alter table apex_class_coverage
    add column changed_lines int,
    add column changed_covered int,
    add column why_unknown text;`;

/** What orgs ran when Apex tests ran in them, and how much of what changed the tests cover. */
export class ApexTestRuns extends Migration {
  override up(): void {
    this.addSql(APEX_TEST_RUN);
  }
}
