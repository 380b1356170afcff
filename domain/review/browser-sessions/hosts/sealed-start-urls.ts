import { EncryptJWT, exportJWK, generateKeyPair, importJWK, type JWK, jwtDecrypt } from 'jose';

const ALGORITHM = 'ECDH-ES';
const CONTENT = 'A256GCM';
/** A host opens what it asked for at once. */
const HOLDS_SECONDS = 120;

/** The key of one browser host, from its start to its end. */
export interface StartUrlKey {
  /** A JSON Web Key (RFC 7517), for the row of the host. */
  publicKey: string;
  /** Rejects for what was sealed for another host or session, is altered, or is too old. */
  open(sealed: string, sessionId: string): Promise<URL>;
}

/** A new key; its private part stays in this process. */
export async function newStartUrlKey(): Promise<StartUrlKey> {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM);
  return {
    publicKey: JSON.stringify(await exportJWK(publicKey)),
    async open(sealed, sessionId) {
      const algorithms = { keyManagementAlgorithms: [ALGORITHM], contentEncryptionAlgorithms: [CONTENT] };
      const { payload } = await jwtDecrypt(sealed, privateKey, { ...algorithms, subject: sessionId });
      return new URL(String(payload.url));
    },
  };
}

/** The address at which a session begins, a credential, as the host of this key alone can read it (RFC 7516). */
export async function sealStartUrl(url: URL, publicKey: string, sessionId: string): Promise<string> {
  const key = await importJWK(JSON.parse(publicKey) as JWK, ALGORITHM);
  return new EncryptJWT({ url: url.href })
    .setProtectedHeader({ alg: ALGORITHM, enc: CONTENT })
    .setSubject(sessionId)
    .setExpirationTime(`${HOLDS_SECONDS} seconds`)
    .encrypt(key);
}
