import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, SYSTEM_ROLE, TENANT_OWNED } from './fences.ts';

const NEWEST_FIRST = 'created_at desc, id desc';
const PROJECT_KEY = 'foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade';

/** Requests for automation that are made in work items. */
export class WorkItemRequests extends Migration {
  override up(): void {
    this.addSql(`
      create table work_item_request (${TENANT_OWNED},
        project_id uuid not null,
        platform text collate "C" not null check (platform in ('tracker-a', 'host-a', 'host-b')),
        work_item_key text collate "C",
        work_item_url text,
        title text,
        task_type text collate "C",
        release_candidate text collate "C",
        repository_identifier text collate "C" not null,
        created_by text collate "C" not null,
        status text collate "C" not null
          check (status in ('creating', 'open', 'in_progress', 'completed', 'closed', 'failed')),
        execution_id text collate "C",
        execution_ids text[] collate "C" not null default '{}',
        started_at timestamptz(3),
        completed_at timestamptz(3),
        message text,
        error text,
        result jsonb,
        history jsonb not null default '[]',
        is_item_closed boolean not null default false,
        item_state_at timestamptz(3),
        report jsonb,
        report_revision integer not null default 0,
        report_written_revision integer not null default 0,
        report_changed_at timestamptz(3),
        report_error text,
        comment_id text,
        close_due_at timestamptz(3),
        ${PROJECT_KEY});
      ${fenceTenant('work_item_request', ['select', 'insert', 'update'])}
      ${fenceProject('work_item_request')}`);
    this.addIndexes();
    this.addTally();
    this.openToSweeps();
  }

  private addIndexes(): void {
    // Pages and counts are read from an index alone: each has what the others filter by, and what the fence asks for.
    this.addSql(`
      create index work_item_request_newest on work_item_request (tenant_id, ${NEWEST_FIRST})
        include (project_id, status, platform, task_type);
      create index work_item_request_by_project on work_item_request (tenant_id, project_id, ${NEWEST_FIRST})
        include (status, platform, task_type, created_by);
      create index work_item_request_by_status on work_item_request (tenant_id, status, ${NEWEST_FIRST})
        include (project_id, platform, task_type);
      create index work_item_request_by_type on work_item_request (tenant_id, task_type, ${NEWEST_FIRST})
        include (project_id, status, platform);
      create index work_item_request_by_platform on work_item_request (tenant_id, platform, ${NEWEST_FIRST})
        include (project_id, status, task_type);
      create index work_item_request_by_creator on work_item_request (tenant_id, created_by, ${NEWEST_FIRST})
        include (project_id, status, platform, task_type, repository_identifier);
      create index work_item_request_by_candidate on work_item_request (tenant_id, release_candidate, ${NEWEST_FIRST})
        include (project_id, status, platform, task_type) where release_candidate is not null;
      create index work_item_request_by_repository on work_item_request (tenant_id, repository_identifier, ${NEWEST_FIRST})
        include (project_id, status, platform, task_type)`);
    this.addSql(`
      create index work_item_request_of_item on work_item_request
        (tenant_id, project_id, platform, work_item_key, ${NEWEST_FIRST});
      create index work_item_request_of_execution on work_item_request using gin (execution_ids) with (fastupdate = off);
      create index work_item_request_creating on work_item_request (created_at) where status = 'creating';
      create index work_item_request_unreported on work_item_request (report_changed_at)
        where report_written_revision < report_revision;
      create index work_item_request_closing on work_item_request (close_due_at) where close_due_at is not null;
      alter table work_item_request set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02)`);
  }

  private addTally(): void {
    this.addSql(`
      create table work_item_request_tally (
        tenant_id uuid not null,
        project_id uuid not null,
        repository_identifier text collate "C" not null,
        platform text collate "C" not null,
        status text collate "C" not null,
        task_type text collate "C" not null,
        requests bigint not null,
        primary key (tenant_id, project_id, repository_identifier, platform, status, task_type),
        ${PROJECT_KEY}) with (fillfactor = 70);
      ${fenceTenant('work_item_request_tally', ['select'])}
      ${fenceProject('work_item_request_tally')}`);
    const key = 'tenant_id, project_id, repository_identifier, platform, status, task_type';
    const counted = (rows: string) => `
      select tenant_id, project_id, repository_identifier, platform, status, coalesce(task_type, '') as task_type, sum(n) as n
      from ${rows} group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0 order by 1, 2, 3, 4, 5, 6`;
    const add = (rows: string) => `
      insert into work_item_request_tally as t (${key}, requests) ${counted(rows)}
      on conflict (${key}) do update set requests = t.requests + excluded.requests`;
    this.addSql(`
      create function follow_work_item_requests() returns trigger
        language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
      begin
        -- In key order, so that writers of the same counts wait for each other and never in a circle.
        if tg_op = 'INSERT' then
          ${add('(select *, 1 as n from added) changed')};
        elsif tg_op = 'UPDATE' then
          ${add('(select *, -1 as n from removed union all select *, 1 from added) changed')};
        else
          -- With a project its counts are removed, too.
          update work_item_request_tally t set requests = t.requests - gone.n
          from (${counted('(select *, 1 as n from removed) changed')}) gone
          where (t.tenant_id, t.project_id, t.repository_identifier, t.platform, t.status, t.task_type)
            = (gone.tenant_id, gone.project_id, gone.repository_identifier, gone.platform, gone.status, gone.task_type);
        end if;
        return null;
      end $$;
      revoke all on function follow_work_item_requests() from public`);
    const follow = 'for each statement execute function follow_work_item_requests()';
    this.addSql(`
      create trigger followed_on_insert after insert on work_item_request referencing new table as added ${follow};
      create trigger followed_on_update after update on work_item_request
        referencing old table as removed new table as added ${follow};
      create trigger followed_on_delete after delete on work_item_request referencing old table as removed ${follow}`);
  }

  private openToSweeps(): void {
    this.addSql(`
      create policy system on work_item_request to ${SYSTEM_ROLE} using (true) with check (true);
      grant select (tenant_id, id, status, created_at, report_revision, report_written_revision, report_changed_at, close_due_at)
        on work_item_request to ${SYSTEM_ROLE}`);
  }
}
