import type { AttemptErrorKind, Verdict } from './delivery-rules.ts';

export interface OutgoingRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
  /** For the whole attempt: look-up, connection, response. */
  timeoutMs: number;
}

/** The result of one request: `statusCode` if the receiver answered, otherwise `errorKind` and `error`. */
export interface AttemptOutcome {
  statusCode?: number;
  errorKind?: AttemptErrorKind;
  /** What an answer of status 200 means that says it is no success; `error` says why. */
  verdict?: Verdict;
  error?: string;
  responseHeaders?: Record<string, string>;
  /** At most 64 KiB of the response, without U+0000. */
  responseBody?: string;
  /** Value of `Retry-After`. */
  retryAfter?: string | undefined;
  durationMs: number;
}

/**
 * Sends one request and follows no redirect. Never throws for what the receiver did: a refused connection is an
 * outcome with `error`. Throws the reason of `stop` when that ends the request.
 */
export type WebhookSender = (request: OutgoingRequest, stop: AbortSignal) => Promise<AttemptOutcome>;
