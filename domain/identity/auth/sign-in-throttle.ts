import type { Database } from '../../kernel/data/tables.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import { hashSecret } from '../../kernel/encryption/secrets.ts';
import {
  addFailure,
  claimAttempt,
  findFailures,
  isKnownSignIn,
  rememberSignIn,
  removeFailures,
  returnAttempt,
} from './sign-in-failures.queries.ts';

const FAILURES_MAX = 10;
const WINDOW_SECONDS = 15 * 60;
/** Delays of one account after failures from any address: 1 s after 10 failures, then 2 s, 4 s, … up to 5 minutes. */
const ACCOUNT_DELAYS = { free: 10, firstMs: 1_000, mostMs: 300_000, forgottenAfterMs: 3_600_000 };
const KNOWN_DAYS = 90;

/** Slows down guessing: counts failures per place and name, over all API processes. */
export interface SignInThrottle {
  /**
   * Makes an attempt. Those of one pair wait for each other, so that many at once cannot outrun the count; n processes
   * may let n − 1 more through. Throws `rate_limited` when the pair has failed too often.
   * @param place where the guess comes from, or what is guessed.
   * @param name whose secret is guessed.
   */
  attempt<T>(place: string, name: string, guess: () => Promise<Guess<T>>): Promise<T>;
  /**
   * Makes an attempt as `attempt` does, and counts failures of all addresses for the e-mail, too: they delay further
   * attempts, but not those from addresses from which this e-mail has signed in within 90 days.
   */
  attemptSignIn<T>(address: string, email: string, guess: () => Promise<Guess<T>>): Promise<T>;
}

export interface Guess<T> {
  value: T;
  /** `open`: neither; a further step decides. */
  verdict: 'right' | 'wrong' | 'open';
}

export function createSignInThrottle(database: Database): SignInThrottle {
  /** The last attempt under way, per key. */
  const attempts = new Map<string, Promise<unknown>>();

  const counted = async <T>(key: string, guess: () => Promise<Guess<T>>): Promise<T> => {
    const failures = await findFailures(database, key);
    if (failures && failures.points >= FAILURES_MAX) throw tooMany(failures.secondsLeft);
    const { value, verdict } = await guess();
    if (verdict === 'wrong') await addFailure(database, key, WINDOW_SECONDS);
    if (verdict === 'right' && failures) await removeFailures(database, key);
    return value;
  };

  const delayed = async <T>(address: string, email: string, guess: () => Promise<Guess<T>>): Promise<Guess<T>> => {
    const known = hashSecret(`known ${address} ${email}`);
    const account = hashSecret(`account ${email}`);
    const isKnown = await isKnownSignIn(database, known);
    if (!isKnown) {
      const secondsLeft = await claimAttempt(database, account, ACCOUNT_DELAYS);
      if (secondsLeft !== undefined) throw tooMany(secondsLeft);
    }
    let verdict: Guess<T>['verdict'] = 'open';
    try {
      const result = await guess();
      ({ verdict } = result);
      return result;
    } finally {
      // An attempt that failed for another reason is no failure of the caller's.
      if (verdict === 'open' && !isKnown) await returnAttempt(database, account);
      if (verdict === 'right') {
        if (!isKnown) await removeFailures(database, account);
        await rememberSignIn(database, known, KNOWN_DAYS);
      }
    }
  };

  const throttle: SignInThrottle = {
    attemptSignIn: (address, email, guess) =>
      throttle.attempt(address, email, () => delayed(address, email.toLowerCase(), guess)),
    async attempt(place, name, guess) {
      // Hashed, because the name may be one that nobody should find in a table.
      const key = hashSecret(`${place} ${name.toLowerCase()}`);
      const mine = (attempts.get(key) ?? Promise.resolve()).then(() => counted(key, guess));
      const settled = mine.catch(() => undefined);
      attempts.set(key, settled);
      try {
        return await mine;
      } finally {
        if (attempts.get(key) === settled) attempts.delete(key);
      }
    },
  };
  return throttle;
}

const tooMany = (secondsLeft: number) =>
  new DomainError('rate_limited', 'Too many failed sign-ins; try again later', {
    headers: { 'Retry-After': String(secondsLeft) },
  });
