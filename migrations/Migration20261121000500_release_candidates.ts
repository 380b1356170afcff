import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, SYSTEM_ROLE, openToSystem, TENANT_OWNED } from './fences.ts';

const PROJECT_KEY = 'foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade';

/** Release candidates, their exact counts, and the records of their deployments. */
export class ReleaseCandidates extends Migration {
  override up(): void {
    this.addSql(`
      create table release_candidate (${TENANT_OWNED},
        project_id uuid not null,
        domain text not null,
        release_name text not null,
        commit_sha text not null,
        branch text,
        tag text,
        value jsonb not null default '{}',
        status text not null default 'pending',
        status_changed_at timestamptz(3),
        status_changed_by text,
        created_by text not null,
        updated_by text not null,
        version int not null default 1,
        ${PROJECT_KEY},
        unique (tenant_id, id),
        unique (tenant_id, project_id, domain, release_name));
      ${fenceTenant('release_candidate')}
      ${fenceProject('release_candidate')}`);
    const newestFirst = 'created_at desc, id desc) include (domain, branch, status)';
    this.addSql(`
      create index release_candidate_open on release_candidate (tenant_id, project_id, ${newestFirst} where status <> 'finalized';
      create index release_candidate_all on release_candidate (tenant_id, project_id, ${newestFirst};
      create index release_candidate_of_domain on release_candidate (tenant_id, project_id, domain, ${newestFirst};
      create index release_candidate_of_branch on release_candidate (tenant_id, project_id, branch, ${newestFirst};
      create index release_candidate_of_commit on release_candidate (tenant_id, project_id, commit_sha text_pattern_ops)`);

    this.addSql(`
      create table release_candidate_count (
        tenant_id uuid not null,
        project_id uuid not null,
        domain text not null,
        branch text not null,
        status text not null,
        candidates bigint not null,
        primary key (tenant_id, project_id, domain, branch, status),
        ${PROJECT_KEY}) with (fillfactor = 70);
      ${fenceTenant('release_candidate_count', ['select'])}
      ${fenceProject('release_candidate_count')}`);
    this.addSql(`
      create function count_release_candidates() returns trigger
        language plpgsql security definer set search_path = public, pg_temp as $$
      begin
        -- In key order, so that writers of the same counts wait for each other and never in a circle.
        if tg_op <> 'INSERT' then
          update release_candidate_count c set candidates = c.candidates - gone.n
          from (select tenant_id, project_id, domain, coalesce(branch, '') as branch, status, count(*) as n
            from removed group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5) gone
          where (c.tenant_id, c.project_id, c.domain, c.branch, c.status)
            = (gone.tenant_id, gone.project_id, gone.domain, gone.branch, gone.status);
        end if;
        if tg_op <> 'DELETE' then
          insert into release_candidate_count as c
          select tenant_id, project_id, domain, coalesce(branch, ''), status, count(*)
          from added group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
          on conflict (tenant_id, project_id, domain, branch, status) do update set candidates = c.candidates + excluded.candidates;
        end if;
        return null;
      end $$;
      revoke all on function count_release_candidates() from public`);
    const counts = 'for each statement execute function count_release_candidates()';
    this.addSql(`
      create trigger counted_on_insert after insert on release_candidate referencing new table as added ${counts};
      create trigger counted_on_update after update on release_candidate referencing old table as removed new table as added ${counts};
      create trigger counted_on_delete after delete on release_candidate referencing old table as removed ${counts}`);

    this.addSql(`
      create table release_deployment (${TENANT_OWNED},
        project_id uuid not null,
        environment_id uuid not null,
        candidate_id uuid,
        domain text not null,
        release_name text not null,
        status text not null check (status in ('Success', 'Failed', 'Partial', 'Cancelled')),
        deployed_at timestamptz(3) not null,
        dedupe_key text not null,
        execution_id text,
        packages jsonb not null default '{}',
        package_details jsonb not null default '[]',
        release_definition jsonb,
        metadata jsonb,
        approval jsonb,
        rolled_back_at timestamptz(3),
        reported_by jsonb not null,
        request_id text,
        traceparent text,
        applied_at timestamptz(3),
        outcome jsonb,
        ${PROJECT_KEY},
        foreign key (tenant_id, environment_id) references environment (tenant_id, id) on delete cascade,
        foreign key (tenant_id, candidate_id) references release_candidate (tenant_id, id) on delete set null (candidate_id),
        unique (tenant_id, project_id, domain, release_name, environment_id, dedupe_key));
      create index release_deployment_of_candidate on release_deployment (tenant_id, candidate_id, environment_id, deployed_at desc, id desc);
      create index release_deployment_of_environment on release_deployment (tenant_id, environment_id, deployed_at desc, id desc);
      create index release_deployment_of_project on release_deployment (tenant_id, project_id, deployed_at desc, id desc);
      create index release_deployment_unapplied on release_deployment (created_at) where applied_at is null;
      ${fenceTenant('release_deployment')}
      ${fenceProject('release_deployment')}
      ${openToSystem('release_deployment', ['select'])}`);
    this.addSql(`
      create policy system on project to ${SYSTEM_ROLE} using (true);
      grant select (id, tenant_id, identifier) on project to ${SYSTEM_ROLE}`);
  }
}
