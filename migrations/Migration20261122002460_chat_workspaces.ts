import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, TENANT_OWNED } from './fences.ts';

/** Chat workspaces in which the app of a tenant is installed, with its secrets, which are encrypted. */
export class ChatWorkspaces extends Migration {
  override up(): void {
    this.addSql(`
      create table chat_workspace (${TENANT_OWNED},
        team_id text not null,
        team_name text not null,
        app_id text,
        app_name text,
        bot_user_id text,
        bot_token text not null,
        app_token text,
        signing_secret text not null,
        is_active boolean not null default true,
        created_by text not null,
        unique (tenant_id, id),
        unique (tenant_id, team_id));
      ${fenceTenant('chat_workspace')}
      create policy project on chat_workspace as restrictive to ${APP_ROLE} using ((select current_projects()) is null)`);
    // Names the tenant in the public addresses of its app: the same for all its workspaces, and known before the first.
    this.addSql(`
      alter table tenant add column chat_key text not null default gen_random_uuid()::text;
      create unique index tenant_chat_key on tenant (chat_key)`);
  }
}
