import type pg from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { DomainError } from '../shared/errors.ts';
import { hashSecret } from './secrets.ts';

const FAILURES = 10;
const WINDOW_SECONDS = 15 * 60;

/** Holds back guessing of passwords: counts failures per address and e-mail, over all API processes. */
export interface Guesses {
  /** Throws `rate_limited` when the pair has failed too often. */
  admit(address: string, email: string): Promise<{ failed(): Promise<void>; succeeded(): Promise<void> }>;
}

export function createGuesses(pool: pg.Pool): Guesses {
  const limiter = new RateLimiterPostgres({
    storeClient: pool,
    tableName: 'sign_in_failure',
    tableCreated: true,
    keyPrefix: '',
    points: FAILURES,
    duration: WINDOW_SECONDS,
    clearExpiredByTimeout: false,
  });
  const refuse = (state: RateLimiterRes) =>
    new DomainError('rate_limited', 'Too many failed sign-ins; try again later', {
      headers: { 'Retry-After': String(Math.ceil(state.msBeforeNext / 1000)) },
    });
  return {
    async admit(address, email) {
      // Hashed, because the e-mail may be one that nobody should find in a table.
      const key = hashSecret(`${address} ${email.toLowerCase()}`);
      const state = await limiter.get(key);
      if (state && state.consumedPoints >= FAILURES) throw refuse(state);
      return {
        async failed() {
          try {
            await limiter.consume(key);
          } catch (refusal) {
            if (!(refusal instanceof RateLimiterRes)) throw refusal;
          }
        },
        async succeeded() {
          if (state) await limiter.delete(key);
        },
      };
    },
  };
}
