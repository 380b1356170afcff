import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, SYSTEM_ROLE, TENANT_OWNED } from './fences.ts';

const PROJECT_KEY = 'foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade';
/** What counts of runs are kept by. */
const TALLIED = [
  'tenant_id',
  'project_id',
  'status',
  'display_status',
  'category',
  'task_type',
  'flow_path',
  'execution_mode',
  'work_item_type',
  'is_internal',
  'is_scheduled',
] as const;
const NEWEST_FIRST = `created_at desc, id desc)
  include (display_status, category, task_type, execution_mode, is_internal, is_scheduled)`;

/** Flow runs, the exact counts of them, their schedules, the locks they hold and the checks they report. */
export class FlowRuns extends Migration {
  override up(): void {
    this.addSql(`
      create table flow_schedule (${TENANT_OWNED},
        project_id uuid,
        name text not null,
        cron text not null,
        timezone text not null,
        payload jsonb not null,
        schedule_path text not null,
        created_by text not null,
        deleted_at timestamptz(3),
        synced_at timestamptz(3),
        ${PROJECT_KEY},
        unique (tenant_id, id));
      create unique index flow_schedule_name on flow_schedule (tenant_id, name) where deleted_at is null;
      create index flow_schedule_unsynced on flow_schedule (updated_at) where synced_at is null;
      ${fenceTenant('flow_schedule', ['select', 'insert', 'update'])}
      ${fenceProject('flow_schedule')}
      create policy system on flow_schedule to ${SYSTEM_ROLE} using (true);
      grant select (id, tenant_id, cron, timezone, name, deleted_at, synced_at, updated_at), update (synced_at) on flow_schedule to ${SYSTEM_ROLE}`);

    // A run without a workflow is carried out elsewhere: its worker reports by the internal routes.
    this.addSql(`
      create table flow_run (${TENANT_OWNED},
        project_id uuid,
        environment_id uuid,
        parent_id uuid,
        schedule_id uuid,
        rerun_of_id uuid,
        rerun_type text,
        has_workflow boolean not null,
        task_type text not null,
        category text not null,
        flow_path text not null,
        execution_mode text not null check (execution_mode in ('flow', 'cicd')),
        is_internal boolean not null default false,
        is_scheduled boolean not null default false,
        schedule_path text,
        external_id text,
        domain text,
        release_name text,
        status text not null,
        display_status text not null,
        payload jsonb not null default '{}',
        result jsonb not null default '{}',
        error text,
        cicd_run_id text,
        cicd_run_url text,
        work_item_type text,
        work_item_key text,
        work_item jsonb,
        triggered_by text not null,
        requested_by jsonb not null,
        request_id text,
        traceparent text,
        output_tail text,
        output_object text,
        launched_at timestamptz(3),
        cancel_requested_at timestamptz(3),
        started_at timestamptz(3),
        ended_at timestamptz(3),
        ${PROJECT_KEY},
        foreign key (tenant_id, environment_id) references environment (tenant_id, id) on delete set null (environment_id),
        foreign key (tenant_id, schedule_id) references flow_schedule (tenant_id, id) on delete set null (schedule_id),
        unique (tenant_id, id),
        foreign key (tenant_id, parent_id) references flow_run (tenant_id, id) on delete cascade,
        foreign key (tenant_id, rerun_of_id) references flow_run (tenant_id, id) on delete set null (rerun_of_id))
        with (fillfactor = 70);
      create index flow_run_newest on flow_run (tenant_id, ${NEWEST_FIRST};
      create index flow_run_of_project on flow_run (tenant_id, project_id, ${NEWEST_FIRST};
      create index flow_run_of_status on flow_run (tenant_id, display_status, ${NEWEST_FIRST};
      create index flow_run_of_task_type on flow_run (tenant_id, task_type, ${NEWEST_FIRST};
      create index flow_run_of_category on flow_run (tenant_id, category, ${NEWEST_FIRST};
      create index flow_run_of_trigger on flow_run (tenant_id, triggered_by, ${NEWEST_FIRST};
      create index flow_run_of_flow_path on flow_run (tenant_id, flow_path, created_at desc, id desc);
      create index flow_run_of_work_item on flow_run (tenant_id, work_item_key, created_at desc, id desc) where work_item_key is not null;
      create index flow_run_of_work_item_type on flow_run (tenant_id, work_item_type, created_at desc, id desc) where work_item_type is not null;
      create index flow_run_children on flow_run (tenant_id, parent_id, created_at) where parent_id is not null;
      create unique index flow_run_external on flow_run (tenant_id, external_id) where external_id is not null;
      create index flow_run_reruns on flow_run (tenant_id, rerun_of_id) where rerun_of_id is not null;
      create index flow_run_of_environment on flow_run (tenant_id, environment_id) where environment_id is not null;
      create index flow_run_open on flow_run (updated_at) where ended_at is null and has_workflow;
      ${fenceTenant('flow_run', ['select', 'insert', 'update'])}
      ${fenceProject('flow_run')}
      create policy system on flow_run to ${SYSTEM_ROLE} using (true);
      grant select (id, tenant_id, task_type, status, has_workflow, launched_at, cancel_requested_at, created_at, updated_at, ended_at),
        update (launched_at) on flow_run to ${SYSTEM_ROLE}`);

    this.addTally();

    this.addSql(`
      create table flow_run_lock (
        tenant_id uuid not null,
        execution_id uuid not null,
        lock_key text not null,
        ticket_id text,
        run_id text,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        primary key (tenant_id, execution_id, lock_key),
        foreign key (tenant_id, execution_id) references flow_run (tenant_id, id) on delete cascade);
      ${fenceTenant('flow_run_lock', ['select', 'insert', 'update'])}`);
    this.addSql(`
      create table flow_check (
        tenant_id uuid not null,
        run_id uuid not null,
        kind text not null check (kind in ('check', 'validation', 'status', 'label')),
        wanted jsonb not null,
        revision int not null default 1,
        written_revision int not null default 0,
        error text,
        updated_at timestamptz(3) not null default now(),
        primary key (tenant_id, run_id, kind),
        foreign key (tenant_id, run_id) references flow_run (tenant_id, id) on delete cascade);
      create index flow_check_due on flow_check (updated_at) where written_revision < revision;
      ${fenceTenant('flow_check', ['select', 'insert', 'update'])}
      create policy system on flow_check to ${SYSTEM_ROLE} using (true);
      grant select (tenant_id, run_id, kind, revision, written_revision, updated_at) on flow_check to ${SYSTEM_ROLE}`);
  }

  /** Each change of a count is a row of its own, so that writers never wait for each other; they are added up later. */
  private addTally(): void {
    const columns = TALLIED.join(', ');
    const of = (row: 'old' | 'new') => TALLIED.map((column) => `${row}.${column}`).join(', ');
    this.addSql(`
      create table flow_run_tally (
        tenant_id uuid not null,
        project_id uuid,
        status text not null,
        display_status text not null,
        category text not null,
        task_type text not null,
        flow_path text not null,
        execution_mode text not null,
        work_item_type text,
        is_internal boolean not null,
        is_scheduled boolean not null,
        runs bigint not null,
        is_settled boolean not null default false);
      create unique index flow_run_tally_settled on flow_run_tally (${columns}) nulls not distinct where is_settled;
      create index flow_run_tally_of_tenant on flow_run_tally (tenant_id);
      create index flow_run_tally_unsettled on flow_run_tally (tenant_id) where not is_settled;
      ${fenceTenant('flow_run_tally', ['select'])}
      ${fenceProject('flow_run_tally')}`);
    this.addSql(`
      create function tally_flow_run() returns trigger
        language plpgsql security definer set search_path = public, pg_temp as $$
      begin
        if tg_op <> 'INSERT' then insert into flow_run_tally (${columns}, runs) values (${of('old')}, -1); end if;
        if tg_op <> 'DELETE' then insert into flow_run_tally (${columns}, runs) values (${of('new')}, 1); end if;
        return null;
      end $$;
      revoke all on function tally_flow_run() from public`);
    this.addSql(`
      create trigger tallied after insert or delete on flow_run for each row execute function tally_flow_run();
      create trigger tallied_again after update on flow_run for each row
        when (${TALLIED.map((column) => `old.${column} is distinct from new.${column}`).join(' or ')}) execute function tally_flow_run()`);
    this.addSql(`
      create function settle_flow_run_tally() returns int
        language sql volatile security definer set search_path = public, pg_temp as $$
        with gone as (delete from flow_run_tally where not is_settled returning *),
          summed as (
            insert into flow_run_tally as t (${columns}, runs, is_settled)
            select ${columns}, sum(runs), true from gone group by ${columns} having sum(runs) <> 0
            on conflict (${columns}) where is_settled do update set runs = t.runs + excluded.runs)
        select count(*)::int from gone $$;
      revoke all on function settle_flow_run_tally() from public;
      grant execute on function settle_flow_run_tally() to ${SYSTEM_ROLE}`);
  }
}
