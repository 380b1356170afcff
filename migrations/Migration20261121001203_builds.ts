import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, SYSTEM_ROLE, openToSystem, privileged } from './fences.ts';

const OF_PROJECT = `
  tenant_id uuid not null,
  project_id uuid not null,
  foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade`;

/** What hosts tell of pushes and builds, and what a build of a commit would concern. */
export class Builds extends Migration {
  override up(): void {
    this.addTable(
      'build_status',
      `
      commit_sha text not null,
      branch text,
      commit_message text,
      commit_author text,
      commit_date timestamptz(3) not null,
      ci_info jsonb,
      workflow_status jsonb not null default '{}',
      state text not null default 'pending' check (state in ('pending', 'running', 'succeeded', 'failed', 'cancelled')),
      first_seen_at timestamptz(3) not null default now(),
      last_updated_at timestamptz(3) not null default now(),
      primary key (tenant_id, project_id, commit_sha)`,
    );
    this.addSql(
      'create index build_status_newest on build_status (tenant_id, project_id, commit_date desc, commit_sha)',
    );

    this.addTable(
      'hook_secret',
      `
      secret text not null,
      created_by text not null,
      created_at timestamptz(3) not null default now(),
      primary key (tenant_id, project_id)`,
    );
    // A hook comes without a tenant: its repository tells the projects whose secret it may have been signed with. Names
    // are compared as hosts do, in any case; few of each tenant, so that none can crowd out another's.
    this.addSql(`
      create function hook_secrets_of(of_platform text, of_identifier text)
        returns table (tenant_id uuid, project_id uuid, secret text)
        language sql stable security definer set search_path = public, pg_temp as $$
        select f.tenant_id, f.project_id, f.secret from (
          select s.tenant_id, s.project_id, s.secret,
            row_number() over (partition by s.tenant_id order by p.identifier = of_identifier desc, p.id) as place
          from project p join hook_secret s on s.tenant_id = p.tenant_id and s.project_id = p.id
          where p.platform = of_platform and lower(p.identifier) = lower(of_identifier)) f
        where f.place <= 3 $$;
      ${privileged('hook_secrets_of(text, text)')}
      create index project_of_host on project (platform, lower(identifier))`);

    this.addTable(
      'hook_delivery',
      `
      delivery_id text not null,
      body_digest text not null,
      received_at timestamptz(3) not null default now(),
      primary key (tenant_id, project_id, delivery_id),
      unique (tenant_id, project_id, body_digest)`,
    );
    this.addSql(`
      create index hook_delivery_age on hook_delivery (received_at);
      create function purge_hook_deliveries() returns int language sql volatile security definer set search_path = public, pg_temp as $$
        with removed as (
          delete from hook_delivery where ctid = any (array(
            select ctid from hook_delivery where received_at < now() - interval '8 days' limit 10000)) returning 1)
        select count(*)::int from removed $$;
      revoke all on function purge_hook_deliveries() from public;
      grant execute on function purge_hook_deliveries() to ${SYSTEM_ROLE};`);

    this.addTable(
      'build_preview',
      `
      preview_key text not null,
      branch text not null,
      commit_sha text not null,
      base_sha text,
      forced_domains jsonb not null default '[]',
      forced_packages jsonb not null default '[]',
      generation int not null default 1,
      status text not null default 'pending' check (status in ('pending', 'available', 'error')),
      impacted_domains jsonb not null default '[]',
      message text,
      requested_at timestamptz not null default now(),
      computed_at timestamptz(3),
      primary key (tenant_id, project_id, preview_key)`,
    );
    this.addSql(`
      create index build_preview_pending on build_preview (requested_at) where status = 'pending';
      ${openToSystem('build_preview', ['select'])}
      create index flow_run_builds on flow_run (tenant_id, project_id, (payload ->> 'commitId'), created_at desc) where task_type = 'build'`);
  }

  private addTable(name: string, columns: string): void {
    this.addSql(`create table ${name} (${columns}, ${OF_PROJECT}); ${fenceTenant(name)} ${fenceProject(name)}`);
  }
}
