import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts secrets at rest. The stored form is `v1.<key id>.<base64url of nonce, ciphertext and tag>`. */
export interface Encryption {
  /** @param context what the secret belongs to; a value moved to another row does not decrypt there. */
  encrypt(plain: string, context: string): string;
  /** Throws when the key is unknown, the context differs or the value was tampered with. */
  decrypt(stored: string, context: string): string;
  /** The key that new values are written with. */
  currentKeyId: string;
  /** A key for one purpose (RFC 5869), the same in all processes until another key becomes the current one. */
  derivedKey(purpose: string): Uint8Array;
}

/**
 * @param keys `id:base64 of 32 bytes`, comma-separated; the first one encrypts, all of them decrypt.
 */
export function createEncryption(keys: string): Encryption {
  const ring = new Map<string, Buffer>();
  for (const entry of keys.split(',')) {
    const [id = '', material = ''] = entry.trim().split(/:(.*)/s);
    const key = Buffer.from(material, 'base64');
    if (!/^[\w-]{1,32}$/.test(id) || key.length !== KEY_BYTES) {
      throw new Error('each entry must be <id>:<base64 of 32 bytes>');
    }
    ring.set(id, key);
  }
  const [currentKeyId = ''] = ring.keys();
  const keyOf = (id: string): Buffer => {
    const key = ring.get(id);
    if (!key) throw new Error(`unknown encryption key ${id}`);
    return key;
  };
  return {
    currentKeyId,
    derivedKey: (purpose) => new Uint8Array(hkdfSync('sha256', keyOf(currentKeyId), '', purpose, KEY_BYTES)),
    encrypt(plain, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, keyOf(currentKeyId), nonce).setAAD(Buffer.from(context));
      const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `v1.${currentKeyId}.${sealed.toString('base64url')}`;
    },
    decrypt(stored, context) {
      const [version, id = '', sealedText = ''] = stored.split('.');
      if (version !== 'v1') throw new Error('unknown form of an encrypted value');
      const sealed = Buffer.from(sealedText, 'base64url');
      const decipher = createDecipheriv(ALGORITHM, keyOf(id), sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(context))
        .setAuthTag(sealed.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString(
        'utf8',
      );
    },
  };
}
