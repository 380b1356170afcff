import type { Encryption } from '../../kernel/encryption/encryption.ts';

/** Binds a secret to its webhook: copied to another row, it cannot be decrypted. */
export const webhookSecretContext = (webhookId: string): string => `webhook:${webhookId}`;

export const sealSecret = (encryption: Encryption, webhookId: string, secret: string): string =>
  encryption.encrypt(secret, webhookSecretContext(webhookId));

export const openSecret = (encryption: Encryption, webhookId: string, sealed: string): string =>
  encryption.decrypt(sealed, webhookSecretContext(webhookId));

/** Headers are encrypted, because many contain a secret; null if there are none. */
export const sealHeaders = (
  encryption: Encryption,
  webhookId: string,
  headers: Record<string, string>,
): string | null =>
  Object.keys(headers).length === 0 ? null : sealSecret(encryption, webhookId, JSON.stringify(headers));

export const openHeaders = (
  encryption: Encryption,
  webhookId: string,
  sealed: string | null,
): Record<string, string> =>
  sealed === null ? {} : (JSON.parse(openSecret(encryption, webhookId, sealed)) as Record<string, string>);
