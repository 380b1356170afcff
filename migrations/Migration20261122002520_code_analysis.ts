import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, openToSystem, TENANT_OWNED } from './fences.ts';

/** Results of code analyses: a row for each commit of a branch, its issues, and the files of the object store. */
export class CodeAnalysisResults extends Migration {
  override up(): void {
    this.addSql(`
      create table code_analysis_body (
        tenant_id uuid not null references tenant (id),
        id uuid not null,
        size_bytes bigint,
        created_at timestamptz(3) not null default now(),
        primary key (tenant_id, id));
      create index on code_analysis_body (created_at);
      ${fenceTenant('code_analysis_body')}
      ${openToSystem('code_analysis_body', ['select', 'delete'])}`);
    this.addSql(`
      create table code_analysis (
        ${TENANT_OWNED},
        project_id uuid not null,
        branch text collate "C" not null,
        commit_id text collate "C" not null,
        analyzed_at timestamptz(3) not null,
        duration_ms double precision,
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
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade,
        foreign key (tenant_id, body_id) references code_analysis_body (tenant_id, id));
      create index on code_analysis (tenant_id, project_id, branch, analyzed_at desc, id desc);
      create index on code_analysis (tenant_id, body_id);
      create index on code_analysis (updated_at) where compared_at is null or status_due;
      ${fenceTenant('code_analysis')}
      ${fenceProject('code_analysis')}
      ${openToSystem('code_analysis', ['select'])}`);
    this.addSql(`
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
      ${fenceProject('code_analysis_result')}`);
  }
}
