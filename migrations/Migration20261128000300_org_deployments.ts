import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, limitProjects, PROJECT_KEY, TENANT_OWNED } from './fences.ts';

/** No foreign key to the org: it may be registered anew. */
const ORG_SOURCE = `
  create table org_source (
    ${TENANT_OWNED},
    project_id uuid not null,
    org_id uuid not null,
    platform_org_id text,
    environment_id uuid,
    commit_sha text not null,
    run_id uuid not null,
    deployment_id text not null,
    deployed_at timestamptz(3) not null,
    pending jsonb not null default '[]',
    unique (tenant_id, project_id, org_id),
    ${PROJECT_KEY});
  ${fenceTenant('org_source', ['select', 'insert', 'update'])}
  ${fenceProject('org_source')}`;

const ofRun = (table: string): string =>
  limitProjects(
    table,
    `exists (select from flow_run r where r.tenant_id = ${table}.tenant_id and r.id = ${table}.run_id)`,
  );

const APEX_TESTS = `
  create table apex_test_result (
    tenant_id uuid not null references tenant (id),
    run_id uuid not null,
    class_name text not null,
    method text not null,
    outcome text not null,
    message text,
    stack_trace text,
    time_ms float8,
    is_repeated boolean not null default false,
    primary key (tenant_id, run_id, class_name, method),
    foreign key (tenant_id, run_id) references flow_run (tenant_id, id) on delete cascade);
  ${fenceTenant('apex_test_result', ['select', 'insert', 'update'])}
  ${ofRun('apex_test_result')}
  create table apex_class_coverage (
    tenant_id uuid not null references tenant (id),
    run_id uuid not null,
    class_name text not null,
    lines int not null,
    uncovered int not null,
    primary key (tenant_id, run_id, class_name),
    foreign key (tenant_id, run_id) references flow_run (tenant_id, id) on delete cascade);
  ${fenceTenant('apex_class_coverage', ['select', 'insert', 'update'])}
  ${ofRun('apex_class_coverage')}`;

/** Which source orgs run by deployments of the service, and what Apex tests said. */
export class OrgDeployments extends Migration {
  override up(): void {
    this.addSql(ORG_SOURCE);
    this.addSql(APEX_TESTS);
  }
}
