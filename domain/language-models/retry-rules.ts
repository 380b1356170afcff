import type { ModelFailure, ModelFailureKind } from './language-model.port.ts';

/** Calls for one question, the first included. */
export const CALLS_MAX = 5;
/** A provider that wants to be left alone for longer has refused. */
export const RETRY_AFTER_MAX_MS = 10 * 60_000;
const FIRST_WAIT_MS = 1_000;
const WAIT_MAX_MS = 30_000;

const RETRIED: ReadonlySet<ModelFailureKind> = new Set<ModelFailureKind>(['limited', 'unavailable']);

/**
 * How long to wait before the next call; undefined where none follows. What the provider asks for is kept; else the wait
 * doubles, a part of it random, so that many who were refused at once do not come back at once.
 * @param callsMade at least 1. @param random 0 to 1.
 */
export function waitBeforeRetry(
  { kind, retryAfterMs }: Pick<ModelFailure, 'kind' | 'retryAfterMs'>,
  callsMade: number,
  random: number,
): number | undefined {
  if (!RETRIED.has(kind) || callsMade >= CALLS_MAX) return undefined;
  if (retryAfterMs !== null) return retryAfterMs > RETRY_AFTER_MAX_MS ? undefined : retryAfterMs;
  return Math.min(FIRST_WAIT_MS * 2 ** (callsMade - 1), WAIT_MAX_MS) * (0.5 + random / 2);
}

/** What an HTTP status of a provider means. Both name their errors beside it: `code` and `type`. */
export function failureOfStatus(status: number, code: string): ModelFailureKind {
  if (OUT_OF_MONEY.has(code)) return 'quota';
  if (TOO_LONG.has(code)) return 'length';
  if (status === 401 || status === 403) return 'auth_failed';
  if (status === 429) return 'limited';
  if (status === 402) return 'quota';
  if (status === 408 || status === 409 || status >= 500) return 'unavailable';
  return status >= 400 ? 'rejected' : 'malformed';
}

const OUT_OF_MONEY: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_error',
]);
const TOO_LONG: ReadonlySet<string> = new Set(['context_length_exceeded', 'request_too_large']);

/**
 * The time of a `Retry-After` (RFC 9110, section 10.2.3: seconds or a date), or of OpenAI's `retry-after-ms`; null for
 * none that can be read.
 */
export function retryAfterMsOf(header: (name: string) => string | null, nowMs: number): number | null {
  const milliseconds = header('retry-after-ms');
  if (milliseconds !== null && /^\d+(\.\d+)?$/.test(milliseconds)) return Math.ceil(Number(milliseconds));
  const given = header('retry-after');
  if (given === null) return null;
  if (/^\d+(\.\d+)?$/.test(given)) return Math.ceil(Number(given) * 1_000);
  const date = Date.parse(given);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
