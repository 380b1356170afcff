import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceProject, fenceTenant, openToSystem } from './fences.ts';

/** Calls of language models, and what was spent on them of a month's budget. */
export class AiCalls extends Migration {
  override up(): void {
    this.addSql(`
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
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade);
      create index on ai_call (tenant_id, project_id, started_at);
      create index on ai_call (tenant_id, task_execution_id);
      create index on ai_call (tenant_id, integration_id) where outcome = 'running';
      create index on ai_call (started_at)`);
    this.addSql(`
      create table ai_budget_month (
        tenant_id uuid not null references tenant (id),
        integration_id uuid not null,
        month date not null,
        spent float8 not null default 0,
        warned_at timestamptz(3),
        primary key (tenant_id, integration_id, month))`);
    this.addSql(`
      ${fenceTenant('ai_call', ['select', 'insert', 'update'])}
      ${fenceProject('ai_call')}
      ${openToSystem('ai_call', ['select', 'delete'])}
      ${fenceTenant('ai_budget_month', ['select', 'insert', 'update'])}
      create policy project on ai_budget_month as restrictive to ${APP_ROLE}
        using ((select current_projects()) is null) with check ((select current_projects()) is null)`);
  }
}
