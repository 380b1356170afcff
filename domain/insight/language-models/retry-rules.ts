import { parseRetryAfter } from '../../kernel/outbound/retry-after-rules.ts';
import { backoffMs } from '../../kernel/shared/backoff-rules.ts';
import type { ModelFailure, ModelFailureKind } from './language-model.port.ts';

/** Calls for one question, the first included. */
export const CALLS_MAX = 5;
/** A provider that wants to be left alone for longer has refused. */
export const RETRY_AFTER_MAX_MS = 10 * 60_000;
/** No call for a question begins later than this after the first one: the activity that asks has an hour. */
export const QUESTION_MAX_MS = 40 * 60_000;
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
  return backoffMs(callsMade, FIRST_WAIT_MS, WAIT_MAX_MS) * (0.5 + random / 2);
}

/**
 * What a failure of a provider means.
 * @param status of HTTP; undefined for an error that came within a stream.
 * @param codes how the provider names the error: `code` and `type`.
 */
export function failureKindOf(status: number | undefined, codes: readonly string[]): ModelFailureKind {
  for (const code of codes) {
    const kind = BY_CODE.get(code);
    if (kind) return kind;
  }
  if (status === undefined) return 'unavailable';
  const kind = BY_STATUS.get(status);
  if (kind) return kind;
  if (status >= 500) return 'unavailable';
  return status >= 400 ? 'rejected' : 'malformed';
}

const BY_CODE: ReadonlyMap<string, ModelFailureKind> = new Map<string, ModelFailureKind>([
  ['insufficient_quota', 'quota'],
  ['billing_hard_limit_reached', 'quota'],
  ['billing_error', 'quota'],
  ['context_length_exceeded', 'length'],
  ['request_too_large', 'length'],
  ['content_filter', 'refused'],
  ['content_policy_violation', 'refused'],
  ['rate_limit_exceeded', 'limited'],
  ['rate_limit_error', 'limited'],
  ['authentication_error', 'auth_failed'],
  ['permission_error', 'auth_failed'],
]);
const BY_STATUS: ReadonlyMap<number, ModelFailureKind> = new Map<number, ModelFailureKind>([
  [401, 'auth_failed'],
  [402, 'quota'],
  [403, 'auth_failed'],
  [408, 'unavailable'],
  [409, 'unavailable'],
  [413, 'length'],
  [429, 'limited'],
]);

/** The time of OpenAI's `retry-after-ms`, or of `Retry-After`; null for none that can be read. */
export function retryAfterMsOf(header: (name: string) => string | null, nowMs: number): number | null {
  const milliseconds = header('retry-after-ms') ?? '';
  if (/^\d+(\.\d+)?$/.test(milliseconds)) return Math.ceil(Number(milliseconds));
  return parseRetryAfter(header('retry-after'), nowMs) ?? null;
}
