import { connectDatabase, type DatabaseConnection } from '../../../../domain/kernel/data/database.ts';
import { createSignInThrottle, type SignInThrottle } from '../../../../domain/identity/auth/sign-in-throttle.ts';
import { type TestDatabase, testDatabase } from '../../../support/postgres.ts';

const GUESSES = 10_000;
let database: TestDatabase;
let processes: DatabaseConnection[];
beforeAll(async () => {
  database = await testDatabase();
  processes = [1, 2].map(() =>
    connectDatabase({ databaseUrl: database.url, role: 'quayside_app', poolSize: 5 }, () => undefined),
  );
});
afterAll(async () => {
  await Promise.all(processes.map(({ close }) => close()));
  await database.drop();
});

/** Makes many wrong guesses at once by each of some processes; answers how many were checked. */
async function guessAll(by: DatabaseConnection[], name: string, count: number): Promise<number> {
  let checked = 0;
  const wrong = async () => {
    checked++;
    return { verdict: 'wrong' as const, value: undefined };
  };
  const throttles = by.map(({ db }) => createSignInThrottle(db));
  const outcomes = await Promise.allSettled(
    Array.from({ length: count }, (_, at) =>
      (throttles[at % throttles.length] as SignInThrottle).attempt('203.0.113.7', name, wrong),
    ),
  );
  const refusals = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(refusals.every(({ reason }) => (reason as { code?: string }).code === 'rate_limited')).toBe(true);
  expect(refusals).toHaveLength(count - checked);
  return checked;
}

test('of 10,000 attempts at once ten are checked', async () => {
  expect(await guessAll(processes.slice(0, 1), 'ada@acme.example', GUESSES)).toBe(10);
});

test('a second process lets one more through at most', async () => {
  expect(await guessAll(processes, 'bob@acme.example', 200)).toBeLessThanOrEqual(11);
});

test('a right one resets the count, and one that is open leaves it', async () => {
  const { attempt } = createSignInThrottle((processes[0] as DatabaseConnection).db);
  const make = (verdict: 'right' | 'wrong' | 'open') =>
    attempt('203.0.113.7', 'eve@acme.example', async () => ({ verdict, value: verdict }));
  for (let time = 0; time < 9; time++) await make('wrong');
  expect(await make('open')).toBe('open');
  expect(await make('right')).toBe('right');
  for (let time = 0; time < 10; time++) await make('wrong');
  await expect(make('right')).rejects.toMatchObject({ code: 'rate_limited' });
});

describe('failures of one account from many addresses', () => {
  const guess = async (throttle: SignInThrottle, address: string, email: string, verdict: 'right' | 'wrong' | 'open') =>
    throttle.attemptSignIn(address, email, async () => ({ verdict, value: verdict }));
  const codeOf = (attempt: Promise<string>) =>
    attempt.catch(({ code, extras }: { code: string; extras: { headers: Record<string, string> } }) => ({
      code,
      retryAfter: Number(extras.headers['Retry-After']),
    }));
  const throttles = () => processes.map(({ db }) => createSignInThrottle(db));

  test('of 300 at once over two processes ten are checked, whatever the addresses are', async () => {
    const [one, two] = throttles() as [SignInThrottle, SignInThrottle];
    const outcomes = await Promise.all(
      Array.from({ length: 300 }, (_, n) =>
        codeOf(guess(n % 2 ? one : two, `10.0.${n}.1`, 'Spread@acme.example', 'wrong')),
      ),
    );
    const checked = outcomes.filter((outcome) => outcome === 'wrong').length;
    expect(checked).toBeGreaterThanOrEqual(10);
    // The first delay is a second.
    expect(checked).toBeLessThanOrEqual(12);
  });

  test('the delay grows up to five minutes, and is forgotten an hour after the last failure', async () => {
    const [throttle] = throttles() as [SignInThrottle];
    const { db } = processes[0] as DatabaseConnection;
    const later = (ms: number) =>
      db
        .updateTable('sign_in_failure')
        .where('points', '>=', 10)
        .set(({ eb }) => ({ expire: eb('expire', '-', String(ms)) }))
        .execute();
    await db.deleteFrom('sign_in_failure').execute();
    for (let n = 0; n < 10; n++) await guess(throttle, `10.1.${n}.1`, 'grow@acme.example', 'wrong');
    const delays: number[] = [];
    for (let n = 0; n < 12; n++) {
      const refused = await codeOf(guess(throttle, `10.2.${n}.1`, 'grow@acme.example', 'right'));
      expect(refused).toMatchObject({ code: 'rate_limited' });
      const { retryAfter } = refused as { retryAfter: number };
      delays.push(retryAfter);
      await later(retryAfter * 1_000);
      expect(await guess(throttle, `10.3.${n}.1`, 'grow@acme.example', 'wrong')).toBe('wrong');
    }
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
    await later(3_600_000);
    for (let n = 0; n < 10; n++)
      expect(await guess(throttle, `10.4.${n}.1`, 'grow@acme.example', 'wrong')).toBe('wrong');
  });

  test('an address from which the account has signed in is not delayed by others', async () => {
    const [throttle] = throttles() as [SignInThrottle];
    expect(await guess(throttle, '192.0.2.1', 'own@acme.example', 'right')).toBe('right');
    for (let n = 0; n < 10; n++) await guess(throttle, `10.5.${n}.1`, 'own@acme.example', 'wrong');
    expect(await codeOf(guess(throttle, '10.6.0.1', 'own@acme.example', 'right'))).toMatchObject({
      code: 'rate_limited',
    });
    expect(await guess(throttle, '192.0.2.1', 'OWN@acme.example', 'right')).toBe('right');
    // Success from there does not open the account to the others.
    expect(await codeOf(guess(throttle, '10.6.0.2', 'own@acme.example', 'right'))).toMatchObject({
      code: 'rate_limited',
    });
    // It knows this account only, and has tries like any address.
    for (let n = 0; n < 10; n++) await guess(throttle, '192.0.2.1', 'own@acme.example', 'wrong');
    expect(await codeOf(guess(throttle, '192.0.2.1', 'own@acme.example', 'right'))).toMatchObject({
      code: 'rate_limited',
    });
  });

  test('an attempt that is open, or fails for another reason, does not count', async () => {
    const [throttle] = throttles() as [SignInThrottle];
    for (let n = 0; n < 15; n++) await guess(throttle, `10.7.${n}.1`, 'open@acme.example', 'open');
    for (let n = 0; n < 15; n++) {
      const failing = throttle.attemptSignIn(`10.8.${n}.1`, 'open@acme.example', () =>
        Promise.reject(new Error('away')),
      );
      await expect(failing).rejects.toThrow('away');
    }
    expect(await guess(throttle, '10.9.0.1', 'open@acme.example', 'right')).toBe('right');
  });
});
