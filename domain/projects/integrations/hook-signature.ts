import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Platform } from '../projects/projects.entities.ts';
import { isWebhookSecret, signedHeaders, signingKey } from '../../events/webhooks/standard-webhooks.ts';
import { UntrustedJson } from '../../kernel/json/untrusted-json-rules.ts';

/** Headers by which the hosts identify and sign their hooks. */
export interface HookHeaders {
  'x-github-event'?: string | undefined;
  'x-github-delivery'?: string | undefined;
  'x-hub-signature-256'?: string | undefined;
  authorization?: string | undefined;
  'x-gitlab-token'?: string | undefined;
  'idempotency-key'?: string | undefined;
  'webhook-id'?: string | undefined;
  'webhook-timestamp'?: string | undefined;
  'webhook-signature'?: string | undefined;
}

/** A hook as it was received. */
export interface ReceivedHook {
  headers: HookHeaders;
  body: unknown;
  /** What a signature is over. */
  bodyBytes: Uint8Array;
}

type Host = Platform;

/** The oldest that a hook may be. Delivery ids are kept as long, so that a replay is recognised. */
export const REPLAY_WINDOW_MS = 7 * 86_400_000;
/** The tolerance that Standard Webhooks recommends for its timestamp, which is that of the attempt. */
const SIGNATURE_WINDOW_MS = 5 * 60_000;

const digest = (text: string | Uint8Array): Buffer => createHash('sha256').update(text).digest();
/** Compares in constant time. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

const isSha256InHex = (text: string): boolean => /^sha256=[0-9a-f]{64}$/.test(text);
const isStandardSignature = (text: string): boolean => /(^| )v1,[A-Za-z0-9+/]{43}=( |$)/.test(text);

/** The password of basic authentication; empty where there is none. */
function basicPassword(authorization: string): string {
  const [scheme = '', encoded = ''] = authorization.split(' ');
  if (scheme.toLowerCase() !== 'basic') return '';
  return /:(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8'))?.[1] ?? '';
}

/**
 * Whether a hook has proof of its sender in the form of its host. Otherwise no secret needs to be read, and neither does
 * the body.
 */
export function hasPlausibleProof(host: Host, headers: HookHeaders): boolean {
  switch (host) {
    case 'host-a':
      return isSha256InHex(headers['x-hub-signature-256'] ?? '');
    case 'host-b':
      return isWebhookSecret(basicPassword(headers.authorization ?? ''));
    case 'host-c':
      if (headers['webhook-signature'] === undefined) return isWebhookSecret(headers['x-gitlab-token'] ?? '');
      return isStandardSignature(headers['webhook-signature']) && Boolean(headers['webhook-id']);
  }
}

/**
 * Whether who sent a hook knows the secret. host-a signs the body (`X-Hub-Signature-256`, HMAC-SHA256); host-b sends the
 * secret as the password of basic authentication; host-c signs by Standard Webhooks where it has a signing token, else
 * sends the secret as `X-Gitlab-Token`.
 */
export function isProven(host: Host, { headers, bodyBytes }: ReceivedHook, secret: string, now: Date): boolean {
  switch (host) {
    case 'host-a':
      return isSame(
        headers['x-hub-signature-256'] ?? '',
        `sha256=${createHmac('sha256', secret).update(bodyBytes).digest('hex')}`,
      );
    case 'host-b':
      return isSame(basicPassword(headers.authorization ?? ''), secret);
    case 'host-c':
      if (headers['webhook-signature'] === undefined) return isSame(headers['x-gitlab-token'] ?? '', secret);
      return isSignedByStandard(headers, bodyBytes, secret, now);
  }
}

function isSignedByStandard(headers: HookHeaders, bodyBytes: Uint8Array, secret: string, now: Date): boolean {
  const sentAt = new Date(Number(headers['webhook-timestamp']) * 1_000);
  if (!(Math.abs(now.getTime() - sentAt.getTime()) <= SIGNATURE_WINDOW_MS)) return false;
  const expected =
    signedHeaders(headers['webhook-id'] ?? '', bodyBytes, [signingKey(secret)], sentAt)['webhook-signature'] ?? '';
  return (headers['webhook-signature'] ?? '').split(' ').some((given) => isSame(given, expected));
}

/** Whether a hook is recent enough; one without a time is accepted, and a replay is recognised by its body. */
export const isWithinWindow = (occurredAt: string | null, now: Date): boolean =>
  occurredAt === null || Math.abs(now.getTime() - Date.parse(occurredAt)) <= REPLAY_WINDOW_MS;

/** Identifies a hook, so that it is recorded once. */
export interface HookDelivery {
  /** The host's id of this delivery; the body's digest where it has none. */
  deliveryId: string;
  /** A replay may have another delivery id. */
  bodyDigest: string;
}

export function deliveryOf(host: Host, { headers, body, bodyBytes }: ReceivedHook): HookDelivery {
  const bodyDigest = digest(bodyBytes).toString('hex');
  const names = {
    'host-a': headers['x-github-delivery'],
    'host-b': new UntrustedJson(body).at('id').text(),
    'host-c': headers['webhook-id'] ?? headers['idempotency-key'],
  };
  return { bodyDigest, deliveryId: (names[host] || bodyDigest).slice(0, 255) };
}
