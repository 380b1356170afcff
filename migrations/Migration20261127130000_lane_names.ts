import { Migration } from '@mikro-orm/migrations';
import { BROWSERS_ROLE, privileged } from './fences.ts';

/** Names the lane of each webhook once and for all, for the id of its workflow. */
export class LaneNames extends Migration {
  override up(): void {
    this.addSql(`
      alter table webhook add column lane_name text;
      update webhook set lane_name = left(name, 60) || '-' || right(id::text, 8);
      create function webhook_lane_names(webhooks uuid[]) returns table ("webhookId" uuid, "laneName" text)
        language sql stable security definer set search_path = public, pg_temp as $$
          select id, lane_name from webhook where tenant_id = current_tenant() and id = any(webhooks) $$;
      ${privileged('webhook_lane_names(uuid[])')}
      grant execute on function webhook_lane_names(uuid[]) to ${BROWSERS_ROLE};`);
  }
}
