create or replace function webhook_lane_names(webhooks uuid[]) returns table ("webhookId" uuid, "laneName" text)
  language sql stable security definer set search_path = public, pg_temp as $$
  select id, lane_name from webhook where tenant_id = current_tenant() and id = any(webhooks) $$;
revoke all on function webhook_lane_names(uuid[]) from public;
grant execute on function webhook_lane_names(uuid[]) to :app_role, :browsers_role;
