import type { Encryption } from '../shared/encryption.ts';

/** A secret belongs to one webhook: moved to another row it does not open. */
export const webhookSecretContext = (webhookId: string): string => `webhook:${webhookId}`;

export const sealSecret = (encryption: Encryption, webhookId: string, secret: string): string =>
  encryption.encrypt(secret, webhookSecretContext(webhookId));

export const openSecret = (encryption: Encryption, webhookId: string, sealed: string): string =>
  encryption.decrypt(sealed, webhookSecretContext(webhookId));

/** Headers are kept like secrets, because many hold one; none are null. */
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
