import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { exactBase64url } from '../shared/base64url-rules.ts';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** How many bytes at the end of a nonce count the values that were encrypted together. */
const COUNTER_BYTES = 2;

/** Encrypts secrets at rest. The stored form is `v1.<key id>.<base64url of nonce, ciphertext and tag>`. */
export interface Encryption {
  /** @param context what the secret belongs to; a value moved to another row does not decrypt there. */
  encrypt(plain: string, context: string): string;
  /**
   * Encrypts so that the same text and context give the same value under the same key, which shows that they are the same.
   * The nonce is a code of both, made with a key of its own.
   */
  encryptStably(plain: string, context: string): string;
  /** Values that belong together, at most 65,536, for less than each by itself: one code is made of all of them. */
  encryptAllStably(plains: readonly string[], context: string): string[];
  /** Throws when the key is unknown, the context differs or the value is not as it was written, to the letter. */
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
  // Key objects: setting up a cipher with one costs a quarter of what it costs with the bytes.
  const ring = new Map<string, KeyObject>();
  for (const entry of keys.split(',')) {
    const [id = '', material = ''] = entry.trim().split(/:(.*)/s);
    const key = Buffer.from(material, 'base64');
    if (!/^[\w-]{1,32}$/.test(id) || key.length !== KEY_BYTES) {
      throw new Error('each entry must be <id>:<base64 of 32 bytes>');
    }
    ring.set(id, createSecretKey(key));
  }
  const [currentKeyId = ''] = ring.keys();
  const keyOf = (id: string): KeyObject => {
    const key = ring.get(id);
    if (!key) throw new Error(`unknown encryption key ${id}`);
    return key;
  };
  const seal = (plain: string, context: string, nonce: Buffer): string => {
    const cipher = createCipheriv(ALGORITHM, keyOf(currentKeyId), nonce).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `v1.${currentKeyId}.${sealed.toString('base64url')}`;
  };
  const derivedKey = (purpose: string): Uint8Array<ArrayBuffer> =>
    new Uint8Array(hkdfSync('sha256', keyOf(currentKeyId), '', purpose, KEY_BYTES));
  const nonceKey = createSecretKey(derivedKey('nonces of equal values'));
  return {
    currentKeyId,
    derivedKey,
    encrypt: (plain, context) => seal(plain, context, randomBytes(NONCE_BYTES)),
    encryptStably(plain, context) {
      const code = createHmac('sha256', nonceKey).update(`${context.length}:${context}${plain}`);
      return seal(plain, context, code.digest().subarray(0, NONCE_BYTES));
    },
    encryptAllStably(plains, context) {
      const lengths = plains.map(({ length }) => length).join(',');
      const code = createHmac('sha256', nonceKey)
        .update(`all ${context.length}:${lengths}:${context}${plains.join('')}`)
        .digest();
      return plains.map((plain, place) => {
        // No nonce serves two values: the code is of all of them in their order, and each has its place.
        const nonce = Buffer.from(code.subarray(0, NONCE_BYTES));
        nonce.writeUInt16BE(place, NONCE_BYTES - COUNTER_BYTES);
        return seal(plain, context, nonce);
      });
    },
    decrypt(stored, context) {
      const [version, id = '', sealedText = '', ...more] = stored.split('.');
      const sealed = exactBase64url(sealedText);
      if (version !== 'v1' || more.length > 0 || !sealed) throw new Error('unknown form of an encrypted value');
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
