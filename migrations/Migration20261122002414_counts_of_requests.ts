import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant } from './fences.ts';

/**
 * Requests are also counted by who made them and by the month they were made in: lists with one of these and a status
 * show their total without reading every request.
 */
export class CountsOfRequests extends Migration {
  override up(): void {
    const key = 'tenant_id, project_id, kind, value, status';
    const counted = (rows: string) => `
      select tenant_id, project_id, kind, value, status, sum(n) as n
      from ${rows} r cross join lateral (values ('creator', r.created_by),
        ('month', to_char(r.created_at at time zone 'UTC', 'YYYY-MM'))) v (kind, value)
      group by 1, 2, 3, 4, 5 having sum(n) <> 0 order by 1, 2, 3, 4, 5`;
    const add = (rows: string) => `
      insert into work_item_request_count as t (${key}, requests) ${counted(rows)}
      on conflict (${key}) do update set requests = t.requests + excluded.requests`;
    this.addSql(`
      create table work_item_request_count (
        tenant_id uuid not null,
        project_id uuid not null,
        kind text collate "C" not null check (kind in ('creator', 'month')),
        value text collate "C" not null,
        status text collate "C" not null,
        requests bigint not null,
        primary key (tenant_id, kind, value, status, project_id),
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade) with (fillfactor = 70);
      ${fenceTenant('work_item_request_count', ['select'])}
      ${fenceProject('work_item_request_count')}
      ${add('(select *, 1 as n from work_item_request)')}`);
    this.addSql(`
      create function count_work_item_requests() returns trigger
        language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
      begin
        -- In key order, so that writers of the same counts wait for each other and never in a circle.
        if tg_op = 'INSERT' then
          ${add('(select *, 1 as n from added)')};
        elsif tg_op = 'UPDATE' then
          ${add('(select *, -1 as n from removed union all select *, 1 from added)')};
        else
          -- With a project its counts are removed, too.
          update work_item_request_count t set requests = t.requests - gone.n
          from (${counted('(select *, 1 as n from removed)')}) gone
          where (t.tenant_id, t.project_id, t.kind, t.value, t.status)
            = (gone.tenant_id, gone.project_id, gone.kind, gone.value, gone.status);
        end if;
        return null;
      end $$;
      revoke all on function count_work_item_requests() from public`);
    const follow = 'for each statement execute function count_work_item_requests()';
    this.addSql(`
      create trigger counted_on_insert after insert on work_item_request referencing new table as added ${follow};
      create trigger counted_on_update after update on work_item_request
        referencing old table as removed new table as added ${follow};
      create trigger counted_on_delete after delete on work_item_request referencing old table as removed ${follow}`);
  }
}
