import { decodeJwt } from 'jose';
import { APPLICATION_TOKEN_PREFIX, RUN_TOKEN_PREFIX } from '../../kernel/encryption/secrets.ts';

/** Whether an `Authorization` header has a token of the service at `publicUrl`, valid or not. */
export function isOwnCredential(authorization: string, publicUrl: string): boolean {
  const [, bearer = ''] = /^bearer\s+(\S+)\s*$/i.exec(authorization) ?? [];
  if (bearer === '') return false;
  if (bearer.startsWith(APPLICATION_TOKEN_PREFIX) || bearer.startsWith(RUN_TOKEN_PREFIX)) return true;
  try {
    return decodeJwt(bearer).iss === publicUrl;
  } catch {
    return false;
  }
}
