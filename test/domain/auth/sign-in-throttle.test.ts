import pg from 'pg';
import { createSignInThrottle, type SignInThrottle } from '../../../domain/auth/sign-in-throttle.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

const GUESSES = 10_000;
let database: TestDatabase;
let pools: pg.Pool[];
beforeAll(async () => {
  database = await testDatabase();
  pools = [1, 2].map(() => new pg.Pool({ connectionString: database.url, max: 5 }));
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await database.drop();
});

/** Makes many wrong guesses at once by each of some processes; answers how many were looked at. */
async function guessAll(processes: pg.Pool[], name: string, count: number): Promise<number> {
  let lookedAt = 0;
  const wrong = async () => {
    lookedAt++;
    return { verdict: 'wrong' as const, value: undefined };
  };
  const signInThrottle = processes.map(createSignInThrottle);
  const outcomes = await Promise.allSettled(
    Array.from({ length: count }, (_, at) =>
      (signInThrottle[at % signInThrottle.length] as SignInThrottle).attempt('203.0.113.7', name, wrong),
    ),
  );
  const refusals = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(refusals.every(({ reason }) => (reason as { code?: string }).code === 'rate_limited')).toBe(true);
  expect(refusals).toHaveLength(count - lookedAt);
  return lookedAt;
}

test('of 10,000 signInThrottle at once ten are looked at', async () => {
  expect(await guessAll(pools.slice(0, 1), 'ada@acme.example', GUESSES)).toBe(10);
});

test('a second process lets one more through at most', async () => {
  expect(await guessAll(pools, 'bob@acme.example', 200)).toBeLessThanOrEqual(11);
});

test('a right one wipes the count, and one that is open leaves it', async () => {
  const { attempt } = createSignInThrottle(pools[0] as pg.Pool);
  const make = (verdict: 'right' | 'wrong' | 'open') =>
    attempt('203.0.113.7', 'eve@acme.example', async () => ({ verdict, value: verdict }));
  for (let time = 0; time < 9; time++) await make('wrong');
  expect(await make('open')).toBe('open');
  expect(await make('right')).toBe('right');
  for (let time = 0; time < 10; time++) await make('wrong');
  await expect(make('right')).rejects.toMatchObject({ code: 'rate_limited' });
});
