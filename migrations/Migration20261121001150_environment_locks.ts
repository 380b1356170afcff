import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, SYSTEM_ROLE, openToSystem, TENANT_OWNED } from './fences.ts';

const LIVE = `state in ('asked', 'queued', 'held')`;

/** Tickets for the locks of environments: one line of them per environment, in the order of `number`. */
export class EnvironmentLocks extends Migration {
  override up(): void {
    this.addSql(`
      create table environment_lock_ticket (${TENANT_OWNED},
        project_id uuid not null,
        environment_id uuid not null,
        number bigint generated always as identity,
        holder jsonb not null,
        holder_key text not null,
        execution_id text,
        run_id uuid,
        reason text,
        lease_minutes float8 not null,
        state text not null default 'asked' check (state in ('asked', 'queued', 'held', 'released', 'expired', 'withdrawn')),
        held_at timestamptz(3),
        expires_at timestamptz,
        ended_at timestamptz(3),
        foreign key (tenant_id, environment_id) references environment (tenant_id, id) on delete cascade,
        unique (tenant_id, id));
      create unique index environment_lock_holder on environment_lock_ticket (tenant_id, environment_id) where state = 'held';
      create unique index environment_lock_of_holder on environment_lock_ticket (tenant_id, environment_id, holder_key) where ${LIVE};
      create index environment_lock_line on environment_lock_ticket (tenant_id, environment_id, number) where ${LIVE};
      create index environment_lock_past on environment_lock_ticket (tenant_id, environment_id, ended_at desc)
        where held_at is not null and ended_at is not null;
      create index environment_lock_of_run on environment_lock_ticket (tenant_id, run_id) where ${LIVE} and run_id is not null;
      create index environment_lock_live on environment_lock_ticket (created_at) where ${LIVE};
      create index environment_lock_ended on environment_lock_ticket (ended_at);
      ${fenceTenant('environment_lock_ticket', ['select', 'insert', 'update'])}
      ${fenceProject('environment_lock_ticket')}
      ${openToSystem('environment_lock_ticket', ['select'])}`);
    this.addSql(`
      create policy system on environment to ${SYSTEM_ROLE} using (true);
      grant select (id, tenant_id, project_id, name) on environment to ${SYSTEM_ROLE}`);
    this.addSql(`
      create function purge_lock_tickets() returns int language sql volatile security definer set search_path = public, pg_temp as $$
        with removed as (
          delete from environment_lock_ticket where ctid = any (array(
            select ctid from environment_lock_ticket where ended_at < now() - interval '90 days' limit 10000)) returning 1)
        select count(*)::int from removed $$;
      revoke all on function purge_lock_tickets() from public;
      grant execute on function purge_lock_tickets() to ${SYSTEM_ROLE}`);
  }
}
