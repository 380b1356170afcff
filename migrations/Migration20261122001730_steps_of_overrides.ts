import { Migration } from '@mikro-orm/migrations';

const STATUSES = `status in ('requested', 'approved', 'rejected', 'expired', 'stale', 'overridden')`;

/** An override is a step of its own where nobody was asked for an approval. */
export class StepsOfOverrides extends Migration {
  override up(): void {
    this.addSql(`
      alter table approval_event alter column approval_id drop not null,
        drop constraint approval_event_status_check,
        add constraint approval_event_status_check check (${STATUSES}),
        add check ((approval_id is null) = (status = 'overridden'));
      create unique index approval_event_of_override on approval_event (tenant_id, run_id) where approval_id is null`);
    // The children of a run have its override.
    this.addSql(`
      insert into approval_event (id, tenant_id, project_id, repository_identifier, run_id, task_type, environment_name, domain,
        release_name, status, source, approvers, requested_by, requested_at, override, occurred_at)
      select uuidv7(), r.tenant_id, r.project_id, p.identifier, r.id, r.task_type, r.payload->>'environmentName', r.domain,
        r.release_name, 'overridden', 'run', '{}', coalesce(r.requested_by->>'email', r.triggered_by), r.created_at, r.override,
        (r.override->>'at')::timestamptz
      from flow_run r
      left join project p on p.tenant_id = r.tenant_id and p.id = r.project_id
      where r.override is not null
        and not exists (select from approval a where a.tenant_id = r.tenant_id and a.run_id = r.id)
        and not exists (select from flow_run c where c.tenant_id = r.tenant_id and c.parent_id = r.id)`);
  }
}
