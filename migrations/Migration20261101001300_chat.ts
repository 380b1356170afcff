import { Migration } from '@mikro-orm/migrations';
import { fenceTenant, hideFromProjects, limitProjects, openToSystem, TENANT_OWNED } from './fences.ts';

const CHAT_WORKSPACE = `
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
    connected_at timestamptz(3) not null default now(),
    unique (tenant_id, id),
    unique (tenant_id, team_id));
  ${fenceTenant('chat_workspace')}
  ${hideFromProjects('chat_workspace')}`;

/** Whoever settles an approval, be it a token with projects, has its messages changed. */
const CHAT_MESSAGE = `
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
  create index chat_message_tenant_id_approval_id_idx on chat_message (tenant_id, approval_id);
  create index chat_message_workspace_id_due_at_idx on chat_message (workspace_id, due_at)
    where shown_revision < wanted_revision;
  ${fenceTenant('chat_message')}
  ${openToSystem('chat_message', ['select', 'update'])}
  ${limitProjects(
    'chat_message',
    'exists (select from approval a where a.tenant_id = chat_message.tenant_id and a.id = chat_message.approval_id)',
  )}`;

/** What people did in a chat: stored as it comes, done by the lane of its workspace. */
const CHAT_ACTION = `
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
  create index chat_action_workspace_id_due_at_idx on chat_action (workspace_id, due_at) where status = 'pending';
  create index chat_action_created_at_idx on chat_action (created_at);
  ${fenceTenant('chat_action')}
  ${hideFromProjects('chat_action')}
  ${openToSystem('chat_action', ['select', 'update'])}`;

/** Workspaces of chats, and the messages and actions of these. */
export class Chat extends Migration {
  override up(): void {
    for (const sql of [CHAT_WORKSPACE, CHAT_MESSAGE, CHAT_ACTION]) this.addSql(sql);
  }
}
