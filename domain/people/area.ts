import type { Area } from '../kernel/area-manifest.ts';
import { changeApprovalMessages } from './chat/approval-messages.mutations.ts';
import { encryptedById } from '../kernel/encryption/encrypted-columns.ts';
import { chatSecretContext } from './chat/chat-secrets.ts';

/** What the area adds to the service. */
export const people = {
  encryptedColumns: encryptedById('chat_workspace', ['bot_token', 'app_token', 'signing_secret'], chatSecretContext),
  hooks: {
    approvalChanged: changeApprovalMessages,
  },
} satisfies Area;
