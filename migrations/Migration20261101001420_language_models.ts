import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, hideFromProjects, openToSystem, PROJECT_KEY, TENANT_OWNED } from './fences.ts';

const AI_CALL = `
  create table ai_call (
    id uuid primary key,
    tenant_id uuid not null,
    project_id uuid not null,
    task_execution_id uuid not null,
    integration_id uuid not null,
    provider text not null check (provider in ('openai', 'anthropic')),
    model text not null,
    outcome text not null,
    estimate float8 not null check (estimate >= 0),
    lease_until timestamptz(3),
    input int,
    output int,
    reasoning int,
    cache_read int,
    cache_write int,
    is_estimated boolean not null default false,
    cost float8,
    duration_ms int,
    error text,
    started_at timestamptz(3) not null,
    ended_at timestamptz(3),
    ${PROJECT_KEY});
  create index ai_call_tenant_id_project_id_started_at_idx on ai_call (tenant_id, project_id, started_at);
  create index ai_call_tenant_id_task_execution_id_idx on ai_call (tenant_id, task_execution_id);
  create index ai_call_tenant_id_integration_id_idx on ai_call (tenant_id, integration_id) where outcome = 'running';
  create index ai_call_started_at_idx on ai_call (started_at);
  ${fenceTenant('ai_call', ['select', 'insert', 'update'])}
  ${fenceProject('ai_call')}
  ${openToSystem('ai_call', ['select', 'delete'])}`;

const AI_BUDGET_MONTH = `
  create table ai_budget_month (
    tenant_id uuid not null references tenant (id),
    integration_id uuid not null,
    month date not null,
    spent float8 not null default 0,
    warned_at timestamptz(3),
    warned_of float8,
    primary key (tenant_id, integration_id, month));
  ${fenceTenant('ai_budget_month', ['select', 'insert', 'update'])}
  ${hideFromProjects('ai_budget_month')}
  ${openToSystem('ai_budget_month', ['select', 'delete'])}`;

const AI_REPORT = `
  create table ai_report (${TENANT_OWNED},
    project_id uuid not null,
    branch text collate "C" not null,
    scope text not null check (scope in ('repository', 'domain', 'package')),
    scope_name text collate "C" not null,
    status text not null check (status in ('queued', 'running', 'completed', 'failed')),
    commit_sha text,
    analyzed_at timestamptz(3) not null,
    markdown text,
    provider text,
    model text,
    execution_time_ms int,
    task_execution_id text,
    usage jsonb,
    cost float8,
    error text,
    requested_by text not null,
    prompt_version int,
    facts_digest text,
    fact_count int,
    dropped_claims int,
    facts jsonb,
    answer text,
    findings jsonb,
    ${PROJECT_KEY});
  create unique index ai_report_under_way on ai_report (tenant_id, project_id, branch, scope, scope_name)
    where status in ('queued', 'running');
  create index ai_report_by_key on ai_report (tenant_id, project_id, branch, scope, scope_name, analyzed_at, id);
  ${fenceTenant('ai_report')}
  ${fenceProject('ai_report')}
  ${openToSystem('ai_report', ['select'])}`;

/** Calls of language models, what they may cost in a month, and reports. */
export class LanguageModels extends Migration {
  override up(): void {
    for (const sql of [AI_CALL, AI_BUDGET_MONTH, AI_REPORT]) this.addSql(sql);
  }
}
