import type { Tx } from '../../unit-of-work.ts';
import { markApprovalMessages } from './chat-messages.queries.ts';

/** Has the messages about an approval in chats changed after the commit. */
export async function changeApprovalMessages(tx: Tx, approvalId: string): Promise<void> {
  for (const workspaceId of await markApprovalMessages(tx, approvalId)) tx.after('chatWorkspace', workspaceId);
}
