import { Migration } from '@mikro-orm/migrations';
import {
  APP_ROLE,
  BROWSERS_ROLE,
  fenceProject,
  fenceTenant,
  openToAll,
  openToSystem,
  PROJECT_KEY,
  SYSTEM_ROLE,
  TENANT_OWNED,
} from './fences.ts';

const BROWSER_HOST = `
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
    seen_at timestamptz(3) not null,
    address text,
    start_url_key text);
  create index browser_host_seen_at_idx on browser_host (seen_at);
  ${openToAll('browser_host', SYSTEM_ROLE, ['select', 'insert', 'update', 'delete'])}
  create policy readable on browser_host for select to ${APP_ROLE} using (true);
  grant select on browser_host to ${APP_ROLE};`;

const BROWSER_SESSION = `
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
    minutes int not null check (minutes >= 1 and minutes <= 60),
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
    unique (tenant_id, id),
    ${PROJECT_KEY},
    foreign key (tenant_id, environment_id) references environment (tenant_id, id)
      on delete set null (environment_id),
    foreign key (tenant_id, assignment_id) references review_assignment (tenant_id, id)
      on delete set null (assignment_id),
    foreign key (tenant_id, flow_run_id) references flow_run (tenant_id, id) on delete set null (flow_run_id));
  create unique index browser_session_of_pr on browser_session (tenant_id, project_id, pr_number)
    where pr_number is not null and removed_at is null and (status in ('provisioning', 'live'));
  create index browser_session_list on browser_session (tenant_id, created_at, id);
  create index browser_session_of_project on browser_session (tenant_id, project_id, created_at, id);
  create index browser_session_tenant_id_environment_id_idx on browser_session (tenant_id, environment_id)
    where environment_id is not null;
  create index browser_session_tenant_id_assignment_id_idx on browser_session (tenant_id, assignment_id)
    where assignment_id is not null;
  create index browser_session_tenant_id_flow_run_id_idx on browser_session (tenant_id, flow_run_id)
    where flow_run_id is not null;
  create index browser_session_host_id_idx on browser_session (host_id) where host_id is not null;
  create index browser_session_open on browser_session (created_at)
    where released_at is null or removed_at is not null;
  create index browser_session_recorded on browser_session (ended_at)
    where recording_state in ('processing', 'ready', 'partial');
  ${fenceTenant('browser_session')}
  ${fenceProject('browser_session')}
  ${openToSystem('browser_session', ['select'])}`;

const BROWSER_SESSION_EVENT = `
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
    foreign key (tenant_id, session_id) references browser_session (tenant_id, id) on delete cascade);
  ${fenceTenant('browser_session_event')}
  ${fenceProject('browser_session_event')}`;

const BROWSER_REPLAY_PAGE = `
  create table browser_replay_page (
    tenant_id uuid not null,
    session_id uuid not null,
    page_id int not null check (page_id >= 0 and page_id <= 999),
    project_id uuid not null,
    title text not null default '',
    started_at timestamptz(3) not null,
    ended_at timestamptz(3),
    segments int not null default 0,
    bytes bigint not null default 0,
    is_whole boolean not null default true,
    reason text,
    primary key (tenant_id, session_id, page_id),
    foreign key (tenant_id, session_id) references browser_session (tenant_id, id) on delete cascade);
  ${fenceTenant('browser_replay_page')}
  ${fenceProject('browser_replay_page')}`;

/** Links by which people without an account watch a session. The links themselves are signed, and kept nowhere. */
const BROWSER_LIVE_LINK = `
  create table browser_live_link (${TENANT_OWNED},
    project_id uuid not null,
    session_id uuid not null,
    mode text not null check (mode in ('watch', 'control')),
    expires_at timestamptz(3) not null,
    revoked_at timestamptz(3),
    created_by jsonb not null,
    foreign key (tenant_id, session_id) references browser_session (tenant_id, id) on delete cascade);
  create index browser_live_link_tenant_id_session_id_idx on browser_live_link (tenant_id, session_id);
  ${fenceTenant('browser_live_link')}
  ${fenceProject('browser_live_link')}`;

/** A session that goes on, ended within a day, or of which something is left to be done. */
const UNDER_WAY = `provider = 'local' and (ended_at is null or updated_at > now() - interval '1 day'
  or recording_state = 'processing' or removed_at is not null)`;

const EVENTS = `starts_with(event, 'browser_session.')`;

/** There is a session that hosts see, and to which this applies. */
const ofSession = (table: string, more = ''): string =>
  `exists (select from browser_session s where s.tenant_id = ${table}.tenant_id${more})`;

/** Opens rows of a table to hosts of browsers. */
const open = (table: string, rights: string, rows: string): string => `
  create policy browsers on ${table} to ${BROWSERS_ROLE} using (${rows}) with check (${rows});
  grant ${rights} on ${table} to ${BROWSERS_ROLE};`;

const openOfTenant = (table: string, rights: string, rows: string): string =>
  open(table, rights, `tenant_id = (select current_tenant()) and ${rows}`);

/**
 * Hosts can do their statements and no others. They see no session that has been over, and unchanged, for a day, and of
 * a tenant without such sessions nothing.
 */
const BROWSER_HOSTS = `
  ${open('browser_host', 'select, insert, delete, update (places, places_used, seen_at)', 'true')}
  ${openOfTenant(
    'browser_session',
    `select, update (status, status_reason, status_detail, isolation, provider_session_id, host_id, expires_at,
      recording_state, recording_pages, recording_bytes, recording_reason, live_at, updated_at)`,
    UNDER_WAY,
  )}
  ${openOfTenant(
    'browser_session_event',
    'insert (tenant_id, session_id, project_id, occurred_at, kind, summary, by_email, data)',
    ofSession('browser_session_event', ' and s.id = browser_session_event.session_id'),
  )}
  ${openOfTenant(
    'browser_replay_page',
    `select, insert (tenant_id, session_id, page_id, project_id, title, started_at),
      update (title, segments, bytes, ended_at, is_whole, reason)`,
    ofSession('browser_replay_page', ' and s.id = browser_replay_page.session_id'),
  )}
  ${openOfTenant('project', 'select (tenant_id, id, identifier)', ofSession('project', ' and s.project_id = project.id'))}
  ${openOfTenant(
    'environment',
    'select (tenant_id, id, name)',
    ofSession('environment', ' and s.environment_id = environment.id'),
  )}
  ${openOfTenant(
    'webhook_subscription',
    'select (tenant_id, event, webhook_id)',
    `${EVENTS} and ${ofSession('webhook_subscription')}`,
  )}
  ${openOfTenant(
    'webhook_delivery',
    'select (webhook_id), insert (id, tenant_id, webhook_id, event, payload, traceparent)',
    `${EVENTS} and ${ofSession('webhook_delivery')}`,
  )}`;

/** Browsers that people and runs use, their recordings, and what hosts of browsers may do. */
export class BrowserSessions extends Migration {
  override up(): void {
    for (const sql of [
      BROWSER_HOST,
      BROWSER_SESSION,
      BROWSER_SESSION_EVENT,
      BROWSER_REPLAY_PAGE,
      BROWSER_LIVE_LINK,
      BROWSER_HOSTS,
    ])
      this.addSql(sql);
  }
}
