import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { ChatActionContent } from './inbound-rules.ts';

/** A chat workspace in which the tenant's own app is installed. */
export const ChatWorkspaceSchema = defineEntity({
  name: 'ChatWorkspace',
  tableName: 'chat_workspace',
  properties: {
    ...tenantOwned,
    /** The vendor's id of the workspace; unique in the tenant. */
    teamId: p.text(),
    teamName: p.text(),
    /** Given, or found out by a test. */
    appId: p.text().nullable(),
    appName: p.text().nullable(),
    botUserId: p.text().nullable(),
    /** Encrypted, as the other secrets. */
    botToken: p.text(),
    appToken: p.text().nullable(),
    signingSecret: p.text(),
    /** False once the app was removed there or its tokens were revoked. */
    isActive: p.boolean().default(true),
    createdBy: p.text(),
    /** When it was made active, or given its tokens, last. */
    connectedAt: p.datetime(3).defaultRaw('now()'),
  },
});
export class ChatWorkspace extends ChatWorkspaceSchema.class {}
ChatWorkspaceSchema.setClass(ChatWorkspace);

/** What somebody did in a chat, or the platform told of the app; done once by the lane of the workspace. */
export const ChatActionSchema = defineEntity({
  name: 'ChatAction',
  tableName: 'chat_action',
  properties: {
    tenantId: p.uuid().primary(),
    id: p.uuid().primary(),
    workspaceId: p.uuid(),
    /** Signature of the request, which therefore counts once. */
    signature: p.text(),
    /** The platform's id of an event, which it sends again when it gets no answer. */
    eventId: p.text().nullable(),
    content: jsonColumn<ChatActionContent>(),
    /** Where answers go; null once it is done. */
    responseUrl: p.text().nullable(),
    status: p.text().$type<'pending' | 'done' | 'failed'>().default('pending'),
    attempts: p.integer().default(0),
    dueAt: p.datetime(6).defaultRaw('now()'),
    leaseUntil: p.datetime(3).nullable(),
    error: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    completedAt: p.datetime(3).nullable(),
  },
});

/** A message about an approval, which is changed whenever that is. */
export const ChatMessageSchema = defineEntity({
  name: 'ChatMessage',
  tableName: 'chat_message',
  properties: {
    tenantId: p.uuid().primary(),
    workspaceId: p.uuid().primary(),
    channel: p.text().primary(),
    /** The platform's timestamp of the message. */
    ts: p.text().primary(),
    approvalId: p.uuid(),
    /** Grows with each change of the approval; the message is to show that revision. */
    wantedRevision: p.integer().default(0),
    shownRevision: p.integer().default(0),
    attempts: p.integer().default(0),
    dueAt: p.datetime(6).defaultRaw('now()'),
    leaseUntil: p.datetime(3).nullable(),
    error: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});
