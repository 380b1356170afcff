import type { AuthUrl } from '../../crm/auth-url-rules.ts';
import type { Encryption } from '../../../kernel/encryption/encryption.ts';

/** The context under which what a row of `crm_token` holds is encrypted. */
export const crmTokenContext = (tokenId: string): string => `crm_token:${tokenId}`;

export interface StoredCredential extends AuthUrl {
  /** Digest of the dev hub's auth URL from which the credential of a scratch org comes; absent for other orgs. */
  source?: string;
}

export const sealCredential = (encryption: Encryption, tokenId: string, credential: StoredCredential): string =>
  encryption.encrypt(JSON.stringify(credential), crmTokenContext(tokenId));

export const openCredential = (encryption: Encryption, tokenId: string, stored: string): StoredCredential =>
  JSON.parse(encryption.decrypt(stored, crmTokenContext(tokenId))) as StoredCredential;

export const sealAccessToken = (encryption: Encryption, tokenId: string, accessToken: string): string =>
  encryption.encrypt(accessToken, crmTokenContext(tokenId));

export const openAccessToken = (encryption: Encryption, tokenId: string, stored: string): string =>
  encryption.decrypt(stored, crmTokenContext(tokenId));
