import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, PROJECT_KEY } from './fences.ts';

/** What became of candidates, as a trigger notes it; of those from before, what comes from now on. */
const RELEASE_CANDIDATE_EVENT = `
  create table release_candidate_event (
    id uuid primary key,
    tenant_id uuid not null references tenant (id),
    project_id uuid not null,
    candidate_id uuid not null,
    type text not null check (type in ('created', 'content_changed', 'status_changed')),
    before text,
    after text not null,
    superseded_by text,
    by text,
    at timestamptz(3) not null,
    ${PROJECT_KEY},
    foreign key (tenant_id, candidate_id) references release_candidate (tenant_id, id) on delete cascade);
  create index release_candidate_event_newest on release_candidate_event (tenant_id, candidate_id, at desc, id desc);
  ${fenceTenant('release_candidate_event', ['select'])}
  ${fenceProject('release_candidate_event')}`;

const RUNS = `
  create index flow_run_of_release on flow_run (tenant_id, project_id, domain, release_name)
    where release_name is not null;
  create index flow_run_ended_in_environment on flow_run (tenant_id, environment_id, ended_at desc)
    where environment_id is not null and ended_at is not null;
  create index environment_lock_ticket_of_run on environment_lock_ticket (tenant_id, run_id) where run_id is not null;`;

/** What timelines of candidates and environments are read from. */
export class Timelines extends Migration {
  override up(): void {
    this.addSql(RELEASE_CANDIDATE_EVENT);
    this.addSql(RUNS);
  }
}
