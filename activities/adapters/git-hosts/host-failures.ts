import type { IncomingHttpHeaders } from 'node:http';
import type { HostFailure } from '../../../domain/code/git-hosts/git-host.port.ts';
import { parseRetryAfter } from '../../../domain/kernel/outbound/retry-after-rules.ts';
import { headerOf, type OutboundFailure } from '../outbound/outbound-http.ts';

/** The connection was not established. */
const UNREACHED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** What it means that no whole reply of a host came. */
export const unanswered = ({ kind, code = '' }: OutboundFailure, name: string): HostFailure =>
  kind === 'refused'
    ? { isOk: false, isTransient: false, mayBeDone: false, reason: `The address of ${name} is not permitted` }
    : {
        isOk: false,
        isTransient: true,
        mayBeDone: !UNREACHED.has(code),
        isTimeout: kind === 'timeout',
        reason: `${name} could not be reached`,
      };

/** GitHub asks for at least this where a secondary limit names no time. */
const UNNAMED_LIMIT_MS = 60_000;

/**
 * How long a host's rate limit holds; undefined for a response that is not about one. GitHub answers 403 or 429 with
 * `retry-after`, with `x-ratelimit-reset` (seconds since the epoch) when none remains, or with the message alone; the
 * other hosts 429.
 */
export function limitedForMs(
  status: number,
  headers: IncomingHttpHeaders,
  { message, nowMs }: { message: string; nowMs: number },
): number | undefined {
  const header = (name: string) => headerOf(headers, name);
  const isUsedUp = header('x-ratelimit-remaining') === '0' || header('ratelimit-remaining') === '0';
  const retryAfter = header('retry-after');
  const isLimited = isUsedUp || retryAfter !== undefined || /rate limit/i.test(message);
  if (status !== 429 && !(status === 403 && isLimited)) return undefined;
  const reset = isUsedUp
    ? Number(header('x-ratelimit-reset') ?? header('ratelimit-reset')) * 1_000 - nowMs
    : Number.NaN;
  const after = retryAfter === undefined ? reset : (parseRetryAfter(retryAfter, nowMs) ?? Number.NaN);
  return Number.isFinite(after) ? Math.max(after, 1_000) : UNNAMED_LIMIT_MS;
}
