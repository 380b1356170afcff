import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, openToSystem, PROJECT_KEY, TENANT_OWNED } from './fences.ts';

const CODE_ANALYSIS_BODY = `
  create table code_analysis_body (
    tenant_id uuid not null references tenant (id),
    id uuid not null,
    size_bytes bigint,
    created_at timestamptz(3) not null default now(),
    primary key (tenant_id, id));
  create index code_analysis_body_created_at_idx on code_analysis_body (created_at);
  ${fenceTenant('code_analysis_body')}
  ${openToSystem('code_analysis_body', ['select', 'delete'])}`;

const CODE_ANALYSIS = `
  create table code_analysis (${TENANT_OWNED},
    project_id uuid not null,
    branch text collate "C" not null,
    commit_id text collate "C" not null,
    analyzed_at timestamptz(3) not null,
    duration_ms float8,
    summary jsonb not null,
    engine text,
    triggered_by text not null,
    is_scheduled boolean not null default false,
    body_id uuid not null,
    indexed_at timestamptz(3),
    compared_at timestamptz(3),
    announced_at timestamptz(3),
    base_id uuid,
    new_issues int,
    fixed_issues int,
    gate jsonb,
    status_due boolean not null default false,
    status_error text,
    unique (tenant_id, id),
    unique (tenant_id, project_id, branch, commit_id),
    ${PROJECT_KEY},
    foreign key (tenant_id, body_id) references code_analysis_body (tenant_id, id));
  create index code_analysis_tenant_id_project_id_branch_analyzed_at_id_idx on code_analysis
    (tenant_id, project_id, branch, analyzed_at desc, id desc);
  create index code_analysis_tenant_id_body_id_idx on code_analysis (tenant_id, body_id);
  create index code_analysis_updated_at_idx on code_analysis (updated_at) where compared_at is null or status_due;
  ${fenceTenant('code_analysis')}
  ${fenceProject('code_analysis')}
  ${openToSystem('code_analysis', ['select'])}`;

const CODE_ANALYSIS_RESULT = `
  create table code_analysis_result (
    tenant_id uuid not null,
    analysis_id uuid not null,
    fingerprint text collate "C" not null,
    ordinal int not null,
    project_id uuid not null,
    position int not null,
    tool text not null,
    rule_id text not null,
    level text not null check (level in ('error', 'warning', 'note', 'none')),
    path text not null,
    start_line int,
    message text not null,
    primary key (tenant_id, analysis_id, fingerprint, ordinal),
    foreign key (tenant_id, analysis_id) references code_analysis (tenant_id, id) on delete cascade);
  ${fenceTenant('code_analysis_result')}
  ${fenceProject('code_analysis_result')}`;

/** Branches that are analysed each night. */
const CODE_ANALYSIS_SCHEDULE = `
  create table code_analysis_schedule (
    tenant_id uuid not null,
    project_id uuid not null,
    branch text collate "C" not null,
    last_night date,
    created_at timestamptz(3) not null default now(),
    primary key (tenant_id, project_id, branch),
    ${PROJECT_KEY});
  create index code_analysis_schedule_last_night_idx on code_analysis_schedule (last_night);
  ${fenceTenant('code_analysis_schedule')}
  ${fenceProject('code_analysis_schedule')}
  ${openToSystem('code_analysis_schedule', ['select'])}`;

/** Analyses of code with their results and schedules. */
export class CodeAnalysis extends Migration {
  override up(): void {
    for (const sql of [CODE_ANALYSIS_BODY, CODE_ANALYSIS, CODE_ANALYSIS_RESULT, CODE_ANALYSIS_SCHEDULE])
      this.addSql(sql);
  }
}
