import { Migration } from '@mikro-orm/migrations';
import { fenceTenant, hideFromProjects, openToSystem, TENANT_OWNED } from './fences.ts';

const MOCK_WORKSPACE = `
  create table mock_workspace (${TENANT_OWNED},
    name text collate "C" not null,
    key text not null,
    key_hash text not null unique,
    unique (tenant_id, id),
    unique (tenant_id, name));
  ${fenceTenant('mock_workspace')}
  ${hideFromProjects('mock_workspace')}`;

const MOCK_SCENARIO = `
  create table mock_scenario (${TENANT_OWNED},
    workspace_id uuid not null,
    name text collate "C" not null,
    description text not null default '',
    status text not null check (status in ('idle', 'recording', 'armed', 'stopped')),
    mode text not null check (mode in ('strict', 'perEndpoint', 'any')),
    upstream text,
    unmatched jsonb not null,
    seed int not null,
    version int not null default 1,
    round int not null default 1,
    armed_until timestamptz(3),
    matched_before int not null default 0,
    unmatched_before int not null default 0,
    unmatched_at timestamptz(3),
    created_by text not null,
    updated_by text not null,
    upstreams jsonb not null default '[]' check (jsonb_typeof(upstreams) = 'array'),
    check ((status = 'armed') = (armed_until is not null)),
    unique (tenant_id, id),
    unique (tenant_id, workspace_id, name),
    foreign key (tenant_id, workspace_id) references mock_workspace (tenant_id, id));
  create unique index mock_scenario_active on mock_scenario (tenant_id, workspace_id)
    where status in ('recording', 'armed');
  create index mock_scenario_armed on mock_scenario (armed_until) where status = 'armed';
  ${fenceTenant('mock_scenario')}
  ${hideFromProjects('mock_scenario')}
  ${openToSystem('mock_scenario', ['select'])}`;

const MOCK_STEP = `
  create table mock_step (
    tenant_id uuid not null,
    scenario_id uuid not null,
    seq int not null,
    request jsonb not null,
    response jsonb not null,
    body bytea,
    body_form text check (body_form in ('json', 'text', 'base64')),
    times int,
    check ((body is null) = (body_form is null)),
    primary key (tenant_id, scenario_id, seq),
    foreign key (tenant_id, scenario_id) references mock_scenario (tenant_id, id) on delete cascade);
  ${fenceTenant('mock_step')}
  ${hideFromProjects('mock_step')}`;

/** Changed with every batch of calls: room for the new version on the same page spares the index. */
const MOCK_RUN = `
  create table mock_run (
    tenant_id uuid not null,
    scenario_id uuid not null,
    name text collate "C" not null,
    revision int not null default 0,
    cursor int not null default 0,
    hits jsonb not null default '{}',
    variables jsonb not null default '{}',
    matched int not null default 0,
    unmatched int not null default 0,
    used_at timestamptz(3) not null default now(),
    primary key (tenant_id, scenario_id, name),
    foreign key (tenant_id, scenario_id) references mock_scenario (tenant_id, id)
      on delete cascade) with (fillfactor = 50);
  ${fenceTenant('mock_run')}
  ${hideFromProjects('mock_run')}`;

const MOCK_CALL = `
  create table mock_call (
    tenant_id uuid not null,
    scenario_id uuid not null,
    number bigint generated always as identity,
    called_at timestamptz(3) not null default now(),
    run text not null,
    round int not null,
    outcome text not null check (outcome in ('matched', 'unmatched', 'passed_on', 'recorded')),
    seq int,
    method text not null,
    path text not null,
    status int,
    fault text,
    request jsonb not null,
    primary key (tenant_id, scenario_id, number),
    foreign key (tenant_id, scenario_id) references mock_scenario (tenant_id, id) on delete cascade);
  ${fenceTenant('mock_call')}
  ${hideFromProjects('mock_call')}
  ${openToSystem('mock_call', ['select', 'delete'])}`;

/** Comparisons of scenarios with the hosts that they stand for. */
const MOCK_DRIFT = `
  create table mock_drift (${TENANT_OWNED},
    scenario_id uuid not null,
    status text not null default 'queued' check (status in ('queued', 'running', 'completed', 'failed')),
    requested_by text not null,
    checked int not null default 0,
    skipped int not null default 0,
    findings jsonb not null default '[]',
    error text,
    ended_at timestamptz(3),
    unique (tenant_id, id),
    foreign key (tenant_id, scenario_id) references mock_scenario (tenant_id, id) on delete cascade);
  create index mock_drift_of_scenario on mock_drift (tenant_id, scenario_id, created_at);
  create index mock_drift_under_way on mock_drift (updated_at) where status in ('queued', 'running');
  ${fenceTenant('mock_drift')}
  ${hideFromProjects('mock_drift')}
  ${openToSystem('mock_drift', ['select'])}`;

/** Mock scenarios: what external systems would answer, and the calls of those who asked. */
export class Mocks extends Migration {
  override up(): void {
    for (const sql of [MOCK_WORKSPACE, MOCK_SCENARIO, MOCK_STEP, MOCK_RUN, MOCK_CALL, MOCK_DRIFT]) this.addSql(sql);
  }
}
