import { connectDatabase, type DatabaseConnection } from '../../../domain/data/database.ts';
import { createSignInThrottle, type SignInThrottle } from '../../../domain/auth/sign-in-throttle.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

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
