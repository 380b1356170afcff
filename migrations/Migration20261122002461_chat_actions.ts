import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, openToSystem, privileged, SYSTEM_ROLE } from './fences.ts';

/** What people did in a chat: stored as it comes, done by the lane of its workspace. */
export class ChatActions extends Migration {
  override up(): void {
    this.addSql(`
      create table chat_action (
        tenant_id uuid not null references tenant (id),
        id uuid not null,
        workspace_id uuid not null,
        signature text not null,
        event_id text,
        content jsonb not null,
        response_url text,
        status text not null default 'pending' check (status in ('pending', 'done', 'failed')),
        attempts int not null default 0,
        due_at timestamptz(6) not null default now(),
        lease_until timestamptz(3),
        error text,
        created_at timestamptz(3) not null default now(),
        completed_at timestamptz(3),
        primary key (tenant_id, id),
        unique (tenant_id, workspace_id, signature),
        unique (tenant_id, workspace_id, event_id),
        foreign key (tenant_id, workspace_id) references chat_workspace (tenant_id, id) on delete cascade);
      create index on chat_action (workspace_id, due_at) where status = 'pending';
      create index on chat_action (created_at);
      ${fenceTenant('chat_action')}
      create policy project on chat_action as restrictive to ${APP_ROLE} using ((select current_projects()) is null);
      ${openToSystem('chat_action', ['select', 'update'])}`);
    // A request comes without a tenant: the key in its address names that, and so whose secrets may have signed it.
    this.addSql(`
      create function chat_workspaces_of(of_key text)
        returns table (tenant_id uuid, workspace_id uuid, team_id text, signing_secret text, is_active boolean)
        language sql stable security definer set search_path = public, pg_temp as $$
        select w.tenant_id, w.id, w.team_id, w.signing_secret, w.is_active
        from tenant t join chat_workspace w on w.tenant_id = t.id where t.chat_key = of_key $$;
      ${privileged('chat_workspaces_of(text)')}`);
    this.addSql(`
      create function purge_chat_actions() returns int language sql volatile security definer set search_path = public, pg_temp as $$
        with removed as (
          delete from chat_action where ctid = any (array(
            select ctid from chat_action where created_at < now() - interval '8 days' limit 10000)) returning 1)
        select count(*)::int from removed $$;
      revoke all on function purge_chat_actions() from public;
      grant execute on function purge_chat_actions() to ${SYSTEM_ROLE}`);
  }
}
