import { Migration } from '@mikro-orm/migrations';

/** An event without a dot belongs to no group; where it was left out because of one, it gets its own row. */
export class EventGroups extends Migration {
  override up(): void {
    this.addSql(`
      create or replace function event_group(event text) returns text language sql immutable parallel safe
        return case when strpos(event, '.') > 0 then split_part(event, '.', 1) || '.*' else event end;
      insert into webhook_subscription (tenant_id, event, webhook_id)
        select distinct w.tenant_id, given.event, w.id
        from webhook w cross join unnest(w.events) as given (event)
        where w.status = 'active' and w.deleted_at is null and strpos(given.event, '.') = 0
        on conflict do nothing`);
  }
}
