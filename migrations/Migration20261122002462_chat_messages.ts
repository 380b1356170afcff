import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, openToSystem } from './fences.ts';

/** Webhooks that notify channels of a chat, and messages there that change with what they show. */
export class ChatMessages extends Migration {
  override up(): void {
    this.addSql('alter table webhook add column channel text, add column chat_team_id text');
    this.addSql(`
      create table chat_message (
        tenant_id uuid not null references tenant (id),
        workspace_id uuid not null,
        channel text not null,
        ts text not null,
        approval_id uuid not null,
        wanted_revision int not null default 0,
        shown_revision int not null default 0,
        attempts int not null default 0,
        due_at timestamptz(6) not null default now(),
        lease_until timestamptz(3),
        error text,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        primary key (tenant_id, workspace_id, channel, ts),
        foreign key (tenant_id, workspace_id) references chat_workspace (tenant_id, id) on delete cascade,
        foreign key (tenant_id, approval_id) references approval (tenant_id, id) on delete cascade);
      create index on chat_message (tenant_id, approval_id);
      create index on chat_message (workspace_id, due_at) where shown_revision < wanted_revision;
      ${fenceTenant('chat_message')}
      ${openToSystem('chat_message', ['select', 'update'])}`);
    // Whoever settles an approval, be it a token with projects, has its messages changed.
    const check = `case when (select current_projects()) is null then true
      else exists (select from approval a where a.tenant_id = chat_message.tenant_id and a.id = chat_message.approval_id) end`;
    this.addSql(
      `create policy project on chat_message as restrictive to ${APP_ROLE} using (${check}) with check (${check})`,
    );
  }
}
