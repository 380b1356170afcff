import { AttentionAcknowledgementSchema } from './attention/attention.entities.ts';
import { ChatActionSchema, ChatMessageSchema, ChatWorkspaceSchema } from './chat/chat.entities.ts';
import type { TablesOf } from '../kernel/data/tables.ts';

/** The tables of the area. */
export const entities = [
  AttentionAcknowledgementSchema,
  ChatActionSchema,
  ChatMessageSchema,
  ChatWorkspaceSchema,
] as const;

declare module '../kernel/data/tables.ts' {
  interface Tables extends TablesOf<typeof entities> {}
}
