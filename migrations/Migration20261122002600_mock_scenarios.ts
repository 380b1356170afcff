import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, openToSystem, privileged, TENANT_OWNED } from './fences.ts';

const TABLES = ['mock_workspace', 'mock_scenario', 'mock_step', 'mock_run', 'mock_call'];

/** Scenarios belong to the tenant as a whole: a token with projects has none. */
const closeToProjects = (table: string): string => `
  create policy project on ${table} as restrictive to ${APP_ROLE}
    using ((select current_projects()) is null) with check ((select current_projects()) is null);`;

/** Mock scenarios: what external systems would answer, and the calls of those who asked. */
export class MockScenarios extends Migration {
  override up(): void {
    this.addSql(`
      create table mock_workspace (${TENANT_OWNED},
        name text collate "C" not null,
        key text not null,
        key_hash text not null unique,
        unique (tenant_id, id),
        unique (tenant_id, name))`);
    this.addSql(`
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
        check ((status = 'armed') = (armed_until is not null)),
        unique (tenant_id, id),
        unique (tenant_id, workspace_id, name),
        foreign key (tenant_id, workspace_id) references mock_workspace (tenant_id, id));
      create unique index mock_scenario_active on mock_scenario (tenant_id, workspace_id)
        where status in ('recording', 'armed');
      create index mock_scenario_armed on mock_scenario (armed_until) where status = 'armed'`);
    this.addSql(`
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
        foreign key (tenant_id, scenario_id) references mock_scenario (tenant_id, id) on delete cascade)`);
    // Changed with every batch of calls: room for the new version on the same page spares the index.
    this.addSql(`
      create table mock_run (
        tenant_id uuid not null,
        scenario_id uuid not null,
        name text collate "C" not null,
        revision int not null default 0,
        cursor int not null default 0,
        hits jsonb not null default '{}'::jsonb,
        variables jsonb not null default '{}'::jsonb,
        matched int not null default 0,
        unmatched int not null default 0,
        used_at timestamptz(3) not null default now(),
        primary key (tenant_id, scenario_id, name),
        foreign key (tenant_id, scenario_id) references mock_scenario (tenant_id, id) on delete cascade
      ) with (fillfactor = 50)`);
    this.addSql(`
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
        foreign key (tenant_id, scenario_id) references mock_scenario (tenant_id, id) on delete cascade)`);
    this.addSql(`
      create function mock_workspace_of(hash text) returns table (tenant_id uuid, workspace_id uuid)
        language sql stable security definer set search_path = public, pg_temp as $$
        select w.tenant_id, w.id from mock_workspace w where w.key_hash = hash $$;
      ${privileged('mock_workspace_of(text)')}`);
    this.addSql(`
      ${TABLES.map((table) => fenceTenant(table) + closeToProjects(table)).join('')}
      ${openToSystem('mock_scenario', ['select'])}
      ${openToSystem('mock_call', ['select', 'delete'])}`);
  }
}
