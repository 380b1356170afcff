import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const NEW_SECRET_BYTES = 24;
/** What the specification allows for symmetric keys. */
const KEY_BYTES = { min: 24, max: 64 };

/** How long the previous secret still signs after a rotation. */
export const ROTATION_OVERLAP_MS = 24 * 3_600_000;

export const newWebhookSecret = (): string => SECRET_PREFIX + randomBytes(NEW_SECRET_BYTES).toString('base64');

/** Whether a secret chosen by a caller is `whsec_` and the base64 of 24 to 64 bytes. */
export function isWebhookSecret(secret: string): boolean {
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)) return false;
  const { length } = keyBytes(secret);
  return length >= KEY_BYTES.min && length <= KEY_BYTES.max;
}

const keyBytes = (secret: string): Buffer => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');

/** The key with which a secret signs. An HMAC with it costs a sixth of one with the bytes, which would be imported each time. */
export const signingKey = (secret: string): KeyObject => createSecretKey(keyBytes(secret));

/**
 * The headers of https://www.standardwebhooks.com: HMAC-SHA256 over `id.timestamp.body`, one signature per key. The id
 * is the same for all attempts, so that receivers can drop repeats.
 */
export function signedHeaders(
  id: string,
  body: string | Uint8Array,
  keys: readonly KeyObject[],
  now: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`,
  );
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
