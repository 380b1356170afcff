import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { DomainError } from '../../kernel/shared/errors.ts';

/** Headers by which the platform signs its requests. */
export interface InboundHeaders {
  'x-slack-signature'?: string | undefined;
  'x-slack-request-timestamp'?: string | undefined;
  'x-slack-retry-num'?: string | undefined;
}

const WINDOW_MS = 5 * 60_000;
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Strangers learn neither whether a key is known, nor which part of the proof was wrong. */
export const unproven = () =>
  new DomainError('unauthenticated', 'The request is not signed with the secret of a chat workspace, or not anew');

/** Throws `unauthenticated` for a request whose headers cannot prove its sender now, whatever its body is. */
export function assertPlausibleSignature(headers: InboundHeaders, now: Date): void {
  const timestamp = headers['x-slack-request-timestamp'] ?? '';
  const isFormed = /^v0=[0-9a-f]{64}$/.test(headers['x-slack-signature'] ?? '') && /^\d{1,12}$/.test(timestamp);
  if (!isFormed || Math.abs(now.getTime() - Number(timestamp) * 1_000) > WINDOW_MS) throw unproven();
}

/**
 * Whether who sent a request knows the signing secret: `v0=` and HMAC-SHA256 of `v0:{timestamp}:{raw body}` in hex.
 * Compared in constant time. https://docs.slack.dev/authentication/verifying-requests-from-slack
 */
export function isSignedBy(secret: string, headers: InboundHeaders, bodyBytes: Uint8Array): boolean {
  const mac = createHmac('sha256', secret)
    .update(`v0:${headers['x-slack-request-timestamp'] ?? ''}:`)
    .update(bodyBytes)
    .digest('hex');
  return timingSafeEqual(digest(headers['x-slack-signature'] ?? ''), digest(`v0=${mac}`));
}
