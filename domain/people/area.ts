import type { Area } from '../kernel/area.port.ts';
import { encryptedById } from '../kernel/encryption/encrypted-columns.ts';
import { chatSecretContext } from './chat/chat-secrets.ts';

/** What the area adds to the service. */
export const people = {
  encryptedColumns: [
    ...encryptedById('chat_workspace', ['bot_token', 'app_token', 'signing_secret'], chatSecretContext),
  ],
} satisfies Area;
