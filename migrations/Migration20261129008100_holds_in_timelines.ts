import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE } from './fences.ts';

const EVENTS = `
  alter table release_candidate_event
    drop constraint release_candidate_event_type_check,
    add constraint release_candidate_event_type_check
      check (type in ('created', 'content_changed', 'status_changed', 'held', 'hold_lifted')),
    add column reason text,
    add column until timestamptz(3),
    add column environment_id uuid,
    add foreign key (tenant_id, environment_id) references environment (tenant_id, id)
      on delete set null (environment_id);
  create index release_candidate_event_of_environment on release_candidate_event (tenant_id, environment_id, at desc, id desc)
    where environment_id is not null;
  grant insert on release_candidate_event to ${APP_ROLE};`;

/** Only holds that count become events: those of the content that the candidate has, and of an environment that exists. */
const STANDING = `
  insert into release_candidate_event
    (id, tenant_id, project_id, candidate_id, type, after, by, at, reason, until, environment_id)
  select gen_random_uuid(), c.tenant_id, c.project_id, c.id, 'held', 'held', h ->> 'by', (h ->> 'since')::timestamptz,
    h ->> 'reason', (h ->> 'until')::timestamptz, e.id
  from release_candidate c
  cross join lateral jsonb_array_elements(c.holds) h
  left join environment e on e.tenant_id = c.tenant_id and e.id = (h -> 'verification' ->> 'environmentId')::uuid
  where c.holds <> '[]'
    and (h -> 'verification' is null
      or (e.id is not null and h -> 'verification' ->> 'contentDigest' = c.content_digest));`;

/** Holds of candidates, and their ends, among what became of them. */
export class HoldsInTimelines extends Migration {
  override up(): void {
    this.addSql(EVENTS);
    this.addSql(STANDING);
  }
}
