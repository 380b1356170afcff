import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { DomainError } from '../../domain/shared/errors.ts';

const WINDOW_SECONDS = 60;

/**
 * Counts a request of a key and returns the headers for the reply (draft-ietf-httpapi-ratelimit-headers). Throws
 * `rate_limited`. Counts per process: with n API processes, a key has up to n times the limit.
 */
export type RateLimit = (key: string) => Promise<Record<string, string>>;

export function createRateLimit(name: string, perMinute: number): RateLimit {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: WINDOW_SECONDS });
  const policy = `"${name}";q=${perMinute};w=${WINDOW_SECONDS}`;
  const headers = ({ remainingPoints, msBeforeNext }: RateLimiterRes) => ({
    'RateLimit-Policy': policy,
    RateLimit: `"${name}";r=${Math.max(0, remainingPoints)};t=${Math.ceil(msBeforeNext / 1000)}`,
  });
  return async (key) => {
    try {
      return headers(await limiter.consume(key));
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      throw new DomainError('rate_limited', `More than ${perMinute} requests in a minute`, {
        headers: { ...headers(refusal), 'Retry-After': String(Math.ceil(refusal.msBeforeNext / 1000)) },
      });
    }
  };
}
