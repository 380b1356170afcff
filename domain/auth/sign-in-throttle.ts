import type pg from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { DomainError } from '../shared/errors.ts';
import { hashSecret } from './secrets.ts';

const FAILURES = 10;
const WINDOW_SECONDS = 15 * 60;

/** Holds back guessing: counts failures per place and name, over all API processes. */
export interface SignInThrottle {
  /**
   * Makes an attempt. Those of one pair wait for each other, so that many at once cannot outrun the count; n processes
   * may let n − 1 more through. Throws `rate_limited` when the pair has failed too often.
   * @param place where the guess comes from, or what is guessed.
   * @param name whose secret is guessed.
   */
  attempt<T>(place: string, name: string, guess: () => Promise<Guess<T>>): Promise<T>;
}

export interface Guess<T> {
  value: T;
  /** `open`: neither; a further step decides. */
  verdict: 'right' | 'wrong' | 'open';
}

export function createSignInThrottle(pool: pg.Pool): SignInThrottle {
  const limiter = new RateLimiterPostgres({
    storeClient: pool,
    tableName: 'sign_in_failure',
    tableCreated: true,
    keyPrefix: '',
    points: FAILURES,
    duration: WINDOW_SECONDS,
    clearExpiredByTimeout: false,
  });
  const turns = new Map<string, Promise<unknown>>();

  const counted = async <T>(key: string, guess: () => Promise<Guess<T>>): Promise<T> => {
    const state = await limiter.get(key);
    if (state && state.consumedPoints >= FAILURES) throw tooMany(state);
    const { value, verdict } = await guess();
    if (verdict === 'wrong') await count(limiter, key);
    if (verdict === 'right' && state) await limiter.delete(key);
    return value;
  };

  return {
    async attempt(place, name, guess) {
      // Hashed, because the name may be one that nobody should find in a table.
      const key = hashSecret(`${place} ${name.toLowerCase()}`);
      const mine = (turns.get(key) ?? Promise.resolve()).then(() => counted(key, guess));
      const settled = mine.catch(() => undefined);
      turns.set(key, settled);
      try {
        return await mine;
      } finally {
        if (turns.get(key) === settled) turns.delete(key);
      }
    },
  };
}

async function count(limiter: RateLimiterPostgres, key: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
  }
}

const tooMany = (state: RateLimiterRes) =>
  new DomainError('rate_limited', 'Too many failed sign-ins; try again later', {
    headers: { 'Retry-After': String(Math.ceil(state.msBeforeNext / 1000)) },
  });
