import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, privileged, SYSTEM_ROLE } from './fences.ts';

const OWN_PROJECTS = 'project_id = any ((select current_projects())::uuid[])';

/** The command of a run reports with a token of its own, which ends with the run. */
export class RunTokens extends Migration {
  override up(): void {
    this.addSql(`
      create table run_token (
        tenant_id uuid not null references tenant (id),
        run_id uuid not null,
        token_hash text not null unique,
        expires_at timestamptz(3) not null,
        created_at timestamptz(3) not null default now(),
        primary key (tenant_id, run_id),
        foreign key (tenant_id, run_id) references flow_run (tenant_id, id) on delete cascade);
      create index run_token_expired on run_token (expires_at);
      ${fenceTenant('run_token')}
      create policy project on run_token as restrictive to ${APP_ROLE} using ((select current_projects()) is null)`);
    // A run without a project has a token that reaches the run alone.
    this.addSql(`
      create function current_run() returns uuid language sql stable parallel safe
        return nullif(current_setting('app.run_id', true), '')::uuid;
      drop policy project on flow_run;
      create policy project on flow_run as restrictive to ${APP_ROLE}
        using ((select current_projects()) is null or ${OWN_PROJECTS} or id = (select current_run()))
        with check ((select current_projects()) is null or ${OWN_PROJECTS} or id = (select current_run()))`);
    this.addSql(`
      create function auth_run_tokens(hashes text[])
        returns table (token_hash text, tenant_id uuid, run_id uuid, project_id uuid, repository_identifier text,
          domain text, release_name text, environment_names text[])
        language sql stable security definer set search_path = public, pg_temp as $$
          select t.token_hash, t.tenant_id, r.id, r.project_id, p.identifier, r.domain, r.release_name,
            array(select e.name from environment e where e.tenant_id = r.tenant_id and e.project_id = r.project_id
              and (e.id = r.environment_id or e.id in (select l.environment_id from environment_lock_ticket l
                where l.tenant_id = r.tenant_id and l.run_id = r.id and l.state = 'held')) order by 1)
          from run_token t
            join flow_run r on r.tenant_id = t.tenant_id and r.id = t.run_id
            left join project p on p.tenant_id = r.tenant_id and p.id = r.project_id
          where t.token_hash = any (hashes) and t.expires_at > now() and r.ended_at is null $$;
      ${privileged('auth_run_tokens(text[])')}`);
    this.addSql(`
      create function purge_run_tokens() returns int language sql volatile security definer set search_path = public, pg_temp as $$
        with removed as (
          delete from run_token where ctid = any (array(
            select ctid from run_token where expires_at < now() limit 10000)) returning 1)
        select count(*)::int from removed $$;
      revoke all on function purge_run_tokens() from public;
      grant execute on function purge_run_tokens() to ${SYSTEM_ROLE}`);
  }
}
