import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceProject, fenceTenant, openToSystem } from './fences.ts';

/** Series belong to the tenant as a whole: a token with projects has none. */
const closeToProjects = (table: string): string => `
  create policy project on ${table} as restrictive to ${APP_ROLE}
    using ((select current_projects()) is null) with check ((select current_projects()) is null);`;

/** Metrics on their way to the store: known series, their windows, and what AI tools reported of a day. */
export class Metrics extends Migration {
  override up(): void {
    this.addSql(`
      create table metric_series (
        tenant_id uuid not null references tenant (id),
        series uuid not null,
        name text not null,
        type text not null check (type in ('count', 'guage', 'timers')),
        labels jsonb not null,
        first_day date not null,
        primary key (tenant_id, series))`);
    this.addSql(`
      create table metric_series_day (
        tenant_id uuid not null references tenant (id),
        day date not null,
        created int not null default 0,
        limited_at timestamptz(3),
        primary key (tenant_id, day))`);
    // Windows grow many times before they are done: room for them on their page spares the indexes.
    this.addSql(`
      create table metric_window (
        tenant_id uuid not null,
        series uuid not null,
        ends_at timestamptz(3) not null,
        last_at timestamptz(3) not null,
        last float8 not null,
        count float8 not null,
        sum float8 not null,
        revision int not null default 1,
        is_sent boolean not null default false,
        primary key (tenant_id, series, ends_at),
        foreign key (tenant_id, series) references metric_series (tenant_id, series)
      ) with (fillfactor = 70);
      create index on metric_window (tenant_id) where not is_sent;
      create index on metric_window (ends_at)`);
    this.addSql(`
      create table ai_usage_day (
        tenant_id uuid not null,
        project_id uuid not null,
        day date not null,
        measure text not null,
        amount float8 not null,
        primary key (tenant_id, project_id, day, measure),
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade);
      create index on ai_usage_day (day)`);
    this.addSql(`
      ${fenceTenant('metric_series', ['select', 'insert'])}
      ${openToSystem('metric_series', ['select', 'delete'])}
      ${fenceTenant('metric_series_day', ['select', 'insert', 'update'])}
      ${openToSystem('metric_series_day', ['select', 'delete'])}
      ${fenceTenant('metric_window', ['select', 'insert', 'update'])}
      ${openToSystem('metric_window', ['select', 'update', 'delete'])}
      ${fenceTenant('ai_usage_day', ['select', 'insert', 'update'])}
      ${openToSystem('ai_usage_day', ['select', 'delete'])}
      ${['metric_series', 'metric_series_day', 'metric_window'].map(closeToProjects).join('')}
      ${fenceProject('ai_usage_day')}`);
  }
}
