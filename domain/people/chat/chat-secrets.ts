import type { Encryption } from '../../kernel/encryption/encryption.ts';

/** The context under which the secrets of a workspace are encrypted. */
export const chatSecretContext = (workspaceId: string): string => `chat_workspace:${workspaceId}`;

export const sealChatSecret = (encryption: Encryption, workspaceId: string, secret: string): string =>
  encryption.encrypt(secret, chatSecretContext(workspaceId));

export const openChatSecret = (encryption: Encryption, workspaceId: string, stored: string): string =>
  encryption.decrypt(stored, chatSecretContext(workspaceId));
