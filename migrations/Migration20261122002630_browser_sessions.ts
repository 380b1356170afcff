import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceProject, fenceTenant, openToAll, openToSystem, SYSTEM_ROLE, TENANT_OWNED } from './fences.ts';

const OF_SESSION = 'foreign key (tenant_id, session_id) references browser_session (tenant_id, id) on delete cascade';

/** Browsers that are lent for a time, with their timelines and recordings, and the hosts on which they run. */
export class BrowserSessions extends Migration {
  override up(): void {
    this.addSql(`
      create table browser_host (
        id uuid primary key,
        name text not null,
        queue text not null unique,
        isolation text not null check (isolation in ('jailed', 'sandboxed', 'none')),
        records boolean not null,
        trouble text,
        places int not null check (places >= 0),
        places_used int not null default 0,
        started_at timestamptz(3) not null,
        seen_at timestamptz(3) not null);
      create index on browser_host (seen_at);
      ${openToAll('browser_host', SYSTEM_ROLE, ['select', 'insert', 'update', 'delete'])}
      create policy readable on browser_host for select to ${APP_ROLE} using (true);
      grant select on browser_host to ${APP_ROLE}`);
    this.addSql(`
      create table browser_session (${TENANT_OWNED},
        project_id uuid not null,
        pr_number int,
        environment_id uuid,
        assignment_id uuid,
        org_username text not null,
        provider text not null check (provider in ('local', 'browserbase', 'external')),
        status text not null default 'provisioning'
          check (status in ('provisioning', 'live', 'ended', 'expired', 'error')),
        status_reason text,
        status_detail text,
        isolation text check (isolation in ('jailed', 'sandboxed', 'none')),
        provider_session_id text,
        live_view_url text,
        host_id uuid references browser_host (id) on delete set null,
        minutes int not null check (minutes between 1 and 60),
        start_path text,
        viewport jsonb not null,
        allowed_hosts jsonb not null default '[]',
        is_recorded boolean not null default true,
        expires_at timestamptz(3) not null,
        recording_state text not null default 'none'
          check (recording_state in ('none', 'recording', 'processing', 'ready', 'partial', 'expired')),
        recording_pages int not null default 0,
        recording_bytes bigint not null default 0,
        recording_reason text,
        flow_run_id uuid,
        created_by jsonb not null,
        live_at timestamptz(3),
        ended_at timestamptz(3),
        released_at timestamptz(3),
        removed_at timestamptz(3),
        seen_at timestamptz(3),
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade,
        foreign key (tenant_id, environment_id) references environment (tenant_id, id) on delete set null (environment_id),
        foreign key (tenant_id, assignment_id) references review_assignment (tenant_id, id) on delete set null (assignment_id),
        foreign key (tenant_id, flow_run_id) references flow_run (tenant_id, id) on delete set null (flow_run_id),
        unique (tenant_id, id));
      create unique index browser_session_of_pr on browser_session (tenant_id, project_id, pr_number)
        where pr_number is not null and removed_at is null and status in ('provisioning', 'live');
      create index browser_session_list on browser_session (tenant_id, created_at, id);
      create index browser_session_of_project on browser_session (tenant_id, project_id, created_at, id);
      create index on browser_session (tenant_id, environment_id) where environment_id is not null;
      create index on browser_session (tenant_id, assignment_id) where assignment_id is not null;
      create index on browser_session (tenant_id, flow_run_id) where flow_run_id is not null;
      create index on browser_session (host_id) where host_id is not null;
      create index browser_session_open on browser_session (created_at) where released_at is null or removed_at is not null;
      create index browser_session_recorded on browser_session (ended_at) where recording_state in ('processing', 'ready', 'partial');
      ${fenceTenant('browser_session')}
      ${fenceProject('browser_session')}
      ${openToSystem('browser_session', ['select'])}`);
    this.addSql(`
      create table browser_session_event (
        tenant_id uuid not null,
        session_id uuid not null,
        number bigint generated always as identity,
        project_id uuid not null,
        occurred_at timestamptz(3) not null,
        kind text not null,
        summary text not null,
        by_email text not null,
        data jsonb not null default '{}',
        primary key (tenant_id, session_id, number),
        ${OF_SESSION});
      ${fenceTenant('browser_session_event')}
      ${fenceProject('browser_session_event')}`);
    this.addSql(`
      create table browser_replay_page (
        tenant_id uuid not null,
        session_id uuid not null,
        page_id int not null check (page_id between 0 and 999),
        project_id uuid not null,
        title text not null default '',
        started_at timestamptz(3) not null,
        ended_at timestamptz(3),
        segments int not null default 0,
        bytes bigint not null default 0,
        is_whole boolean not null default true,
        primary key (tenant_id, session_id, page_id),
        ${OF_SESSION});
      ${fenceTenant('browser_replay_page')}
      ${fenceProject('browser_replay_page')}`);
  }
}
