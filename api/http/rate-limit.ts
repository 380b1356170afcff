import type { Database } from '../../domain/kernel/data/tables.ts';
import {
  createSharedLimit,
  type SharedLimitOptions,
  type Usage,
} from '../../domain/kernel/rate-limits/shared-limit.ts';
import { DomainError } from '../../domain/kernel/shared/errors.ts';

const WINDOW_SECONDS = 60;

/** What a reply that says that nothing has changed (304) counts of a request. */
const UNCHANGED_COSTS = 0.1;

export interface RateLimit {
  /**
   * Counts a request of a key over all API processes and returns the headers for the reply
   * (draft-ietf-httpapi-ratelimit-headers). Throws `rate_limited`.
   */
  (key: string): Promise<Record<string, string>>;
  /** Counts a request that was answered by 304 as a tenth of one. @param countedAt by `performance.now()`. */
  countUnchanged(key: string, countedAt: number): void;
}

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
  const count = async (key: string) => {
    const usage = await limit(key);
    if (!usage.isRefused) return headers(usage);
    throw new DomainError('rate_limited', `More than ${perMinute} requests in a minute`, {
      headers: { ...headers(usage), 'Retry-After': String(Math.ceil(usage.msLeft / 1000)) },
    });
  };
  const countUnchanged = (key: string, countedAt: number) => limit.giveBack(key, 1 - UNCHANGED_COSTS, countedAt);
  return Object.assign(count, { countUnchanged });
}
