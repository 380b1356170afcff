import type { Database } from '../../domain/kernel/data/tables.ts';
import {
  createSharedLimit,
  type SharedLimitOptions,
  type Usage,
} from '../../domain/kernel/rate-limits/shared-limit.ts';
import { DomainError } from '../../domain/kernel/shared/errors.ts';

const WINDOW_SECONDS = 60;

/**
 * Counts a request of a key over all API processes and returns the headers for the reply
 * (draft-ietf-httpapi-ratelimit-headers). Throws `rate_limited`.
 */
export type RateLimit = (key: string) => Promise<Record<string, string>>;

export function createRateLimit(
  database: Database,
  { name, perMinute, withoutStore }: Pick<SharedLimitOptions, 'name' | 'withoutStore'> & { perMinute: number },
): RateLimit {
  const limit = createSharedLimit(database, { name, limit: perMinute, windowSeconds: WINDOW_SECONDS, withoutStore });
  const policy = `"${name}";q=${perMinute};w=${WINDOW_SECONDS}`;
  const headers = ({ left, msLeft }: Usage) => ({
    'RateLimit-Policy': policy,
    RateLimit: `"${name}";r=${left};t=${Math.ceil(msLeft / 1000)}`,
  });
  return async (key) => {
    const usage = await limit(key);
    if (!usage.isRefused) return headers(usage);
    throw new DomainError('rate_limited', `More than ${perMinute} requests in a minute`, {
      headers: { ...headers(usage), 'Retry-After': String(Math.ceil(usage.msLeft / 1000)) },
    });
  };
}
