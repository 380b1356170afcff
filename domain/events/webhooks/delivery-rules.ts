import { backoffMs } from '../../kernel/shared/backoff-rules.ts';
/** Every status of a delivery; all but `pending` are final. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'filtered', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * Why an attempt got no answer: `network` and `timeout` are worth another attempt; `refused` (the policy forbids the address)
 * and `template` (the body could not be made) are not.
 */
export type AttemptErrorKind = 'network' | 'timeout' | 'refused' | 'template';

/** What an answer of status 200 means that says it is no success; `limited`: as one of status 429. */
export type Verdict = 'retried' | 'limited' | 'final';

/** What the next step depends on: `statusCode` if the receiver answered, otherwise `errorKind`. */
export interface AttemptResult {
  statusCode?: number;
  errorKind?: AttemptErrorKind;
  verdict?: Verdict;
  /** What the receiver asked for with `Retry-After`. */
  retryAfterMs?: number | undefined;
}

export interface RetryPolicy {
  /** Attempts after the first. */
  retryCount: number;
  retryDelayMs: number;
}

export type NextStep =
  | { status: 'delivered' }
  | { status: 'pending'; retryInMs: number }
  /** `isExhausted`: no further attempt was left; `isGone`: the receiver answered 410 and wants no more. */
  | { status: 'failed'; isExhausted: boolean; isGone: boolean };

/** Deliveries in a row that used up their attempts, after which the service stops delivering to a webhook. */
export const EXHAUSTED_LIMIT = 20;

const LONGEST_WAIT_MS = 24 * 3_600_000;
/** Retries spread by up to this share, so that receivers are not hit in step. */
const JITTER = 0.2;
const GONE = 410;
/** Client errors that another attempt may cure: Request Timeout, Too Early, Too Many Requests. */
const RETRIED_CLIENT_ERRORS = new Set([408, 425, 429]);

/**
 * What follows attempt number `attempt` (from 1 on). The wait is `retryDelayMs` × 2^(attempt−1), with up to 20 % on
 * top, or what the receiver asked for when that is longer; never more than 24 h.
 * @param random in [0, 1).
 */
export function nextStep(result: AttemptResult, attempt: number, policy: RetryPolicy, random: number): NextStep {
  const { statusCode, retryAfterMs = 0 } = result;
  const isSuccess = statusCode !== undefined && statusCode >= 200 && statusCode < 300;
  if (isSuccess && result.verdict === undefined) return { status: 'delivered' };
  if (!isWorthRetrying(result)) return { status: 'failed', isExhausted: false, isGone: statusCode === GONE };
  if (attempt > policy.retryCount) return { status: 'failed', isExhausted: true, isGone: false };
  const waitMs = backoffMs(attempt, policy.retryDelayMs, LONGEST_WAIT_MS) * (1 + random * JITTER);
  return { status: 'pending', retryInMs: Math.ceil(Math.min(Math.max(waitMs, retryAfterMs), LONGEST_WAIT_MS)) };
}

/** What a log says of an answer that is no success. */
export function errorOfStatus(statusCode: number): string {
  const answered = `the receiver answered ${statusCode}`;
  if (statusCode >= 300 && statusCode < 400) return `${answered}; redirects are not followed`;
  if (statusCode === GONE) return `${answered}: it wants no more deliveries`;
  return isWorthRetrying({ statusCode }) ? answered : `${answered}, which is not retried`;
}

function isWorthRetrying({ statusCode, errorKind, verdict }: AttemptResult): boolean {
  if (verdict !== undefined) return verdict !== 'final';
  if (statusCode === undefined) return errorKind === 'network' || errorKind === 'timeout';
  return statusCode >= 500 || RETRIED_CLIENT_ERRORS.has(statusCode);
}
