import type { TryErrorKind } from './delivery-rules.ts';

export interface OutgoingRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
  /** For the whole try: look-up, connection, answer. */
  timeoutMs: number;
}

/** What one request came to: exactly one of `statusCode` and `error` is set. */
export interface TryOutcome {
  statusCode?: number;
  errorKind?: TryErrorKind;
  error?: string;
  responseHeaders?: Record<string, string>;
  /** At most 64 KiB of the answer, without U+0000. */
  responseBody?: string;
  /** Value of `Retry-After`. */
  retryAfter?: string | undefined;
  durationMs: number;
}

/**
 * Sends one request and follows no redirect. Never throws for what the receiver did: a refused connection is an
 * outcome with `error`. Throws what `stop` gives as its reason when that ends the request.
 */
export type WebhookSender = (request: OutgoingRequest, stop: AbortSignal) => Promise<TryOutcome>;
