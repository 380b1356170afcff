import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, hideFromProjects, openToSystem, PROJECT_KEY } from './fences.ts';

const METRIC_SERIES = `
  create table metric_series (
    tenant_id uuid not null references tenant (id),
    series uuid not null,
    name text not null,
    type text not null check (type in ('count', 'guage', 'timers')),
    labels jsonb not null,
    first_day date not null,
    primary key (tenant_id, series));
  ${fenceTenant('metric_series', ['select', 'insert'])}
  ${openToSystem('metric_series', ['select', 'delete'])}
  ${hideFromProjects('metric_series')}`;

const METRIC_SERIES_DAY = `
  create table metric_series_day (
    tenant_id uuid not null references tenant (id),
    day date not null,
    created int not null default 0,
    limited_at timestamptz(3),
    primary key (tenant_id, day));
  ${fenceTenant('metric_series_day', ['select', 'insert', 'update'])}
  ${openToSystem('metric_series_day', ['select', 'delete'])}
  ${hideFromProjects('metric_series_day')}`;

/** Windows grow many times before they are done: room for them on their page spares the indexes. */
const METRIC_WINDOW = `
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
    sent_at timestamptz(3),
    primary key (tenant_id, series, ends_at),
    foreign key (tenant_id, series) references metric_series (tenant_id, series)) with (fillfactor = 70);
  create index metric_window_ends_at_idx on metric_window (ends_at);
  create index metric_window_unsent on metric_window (tenant_id, ends_at) where not is_sent;
  create index metric_window_sent on metric_window (sent_at) where is_sent;
  ${fenceTenant('metric_window', ['select', 'insert', 'update'])}
  ${openToSystem('metric_window', ['select', 'update', 'delete'])}
  ${hideFromProjects('metric_window')}`;

const AI_USAGE_DAY = `
  create table ai_usage_day (
    tenant_id uuid not null,
    project_id uuid not null,
    day date not null,
    measure text not null,
    amount float8 not null,
    primary key (tenant_id, project_id, day, measure),
    ${PROJECT_KEY});
  create index ai_usage_day_day_idx on ai_usage_day (day);
  ${fenceTenant('ai_usage_day', ['select', 'insert', 'update'])}
  ${openToSystem('ai_usage_day', ['select', 'delete'])}
  ${fenceProject('ai_usage_day')}`;

/** Metrics on their way to the store, and what AI tools reported of a day. */
export class Metrics extends Migration {
  override up(): void {
    for (const sql of [METRIC_SERIES, METRIC_SERIES_DAY, METRIC_WINDOW, AI_USAGE_DAY]) this.addSql(sql);
  }
}
