import { defineEntity, p } from '@mikro-orm/core';
import { tenantOwned } from '../data/tenant-owned.ts';

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
  },
});
export class ChatWorkspace extends ChatWorkspaceSchema.class {}
ChatWorkspaceSchema.setClass(ChatWorkspace);
