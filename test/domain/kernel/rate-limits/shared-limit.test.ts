import { sql } from 'kysely';
import { connectDatabase, type DatabaseConnection } from '../../../../domain/kernel/data/database.ts';
import { createSharedLimit, type SharedLimitOptions } from '../../../../domain/kernel/rate-limits/shared-limit.ts';
import { type TestDatabase, testDatabase } from '../../../support/postgres.ts';

let database: TestDatabase;
let processes: DatabaseConnection[];
let root: DatabaseConnection;
beforeAll(async () => {
  database = await testDatabase();
  const access = { databaseUrl: database.url, role: 'quayside_app', poolSize: 2 };
  processes = [1, 2, 3].map(() => connectDatabase(access, () => undefined));
  root = connectDatabase({ databaseUrl: database.url, poolSize: 1 }, () => undefined);
});
afterAll(async () => {
  await Promise.all([...processes, root].map(({ close }) => close()));
  await database.drop();
});

const BASE: SharedLimitOptions = { name: 'limit', limit: 600, windowSeconds: 60, withoutStore: 'refuse' };
let names = 0;
/** The same limit in some processes, apart from that of other tests. */
function limitsOf(count: number, options: Partial<SharedLimitOptions> = {}) {
  const settings = { ...BASE, name: `limit-${names++}`, ...options };
  return processes.slice(0, count).map(({ db }) => createSharedLimit(db, settings));
}
/** Makes requests at once, by the processes in turn; answers how many were let through. */
async function pass(limits: ReturnType<typeof limitsOf>, key: string, requests: number): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: requests }, async (_, at) => limits[at % limits.length]?.(key)),
  );
  return answers.filter((usage) => usage?.isRefused === false).length;
}

test('one process lets through the limit, and says how many are left', async () => {
  const [limit] = limitsOf(1, { limit: 20 });
  for (let left = 19; left >= 0; left--) expect(await limit?.('a')).toMatchObject({ isRefused: false, left });
  expect(await limit?.('a')).toMatchObject({ isRefused: true, left: 0 });
  expect(await limit?.('b')).toMatchObject({ isRefused: false, left: 19 });
});

test('ten requests of which nine tenths are given back count as one', async () => {
  const [limit] = limitsOf(1, { limit: 3 });
  for (let n = 0; n < 20; n++) {
    expect(await limit?.('a')).toMatchObject({ isRefused: false });
    limit?.giveBack('a', 0.9, performance.now());
  }
  expect(await limit?.('a')).toMatchObject({ isRefused: false, left: 0 });
  expect(await limit?.('a')).toMatchObject({ isRefused: true });
});

test('nothing is given back that was not counted', async () => {
  const [limit] = limitsOf(1, { limit: 3 });
  limit?.giveBack('a', 0.9, performance.now());
  await limit?.('a');
  for (let n = 0; n < 10; n++) limit?.giveBack('a', 0.9, performance.now() - 61_000);
  for (let n = 0; n < 10; n++) limit?.giveBack('a', 0.9, performance.now());
  expect(await pass(limit ? [limit] : [], 'a', 10)).toBe(3);
});

test.each([600, 30, 7, 1])('three processes let through %i, or a twentieth less for each other one', async (limit) => {
  const limits = limitsOf(3, { limit });
  const passed = await pass(limits, 'a', limit * 3);
  expect(passed).toBeLessThanOrEqual(limit);
  expect(passed).toBeGreaterThanOrEqual(limit - 2 * Math.ceil(limit / 20));
});

test('a process that asks late gets what the others have left', async () => {
  const limits = limitsOf(2, { limit: 100 });
  expect(await pass(limits.slice(0, 1), 'a', 60)).toBe(60);
  const rest = await pass(limits.slice(1), 'a', 100);
  expect(rest).toBeLessThanOrEqual(40);
  expect(rest).toBeGreaterThanOrEqual(35);
});

test('most requests are counted without a statement', async () => {
  const { db } = processes[0] as DatabaseConnection;
  let asked = 0;
  const counted = new Proxy(db, {
    get(target, name) {
      if (name === 'getExecutor') asked++;
      const member = Reflect.get(target, name, target) as unknown;
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  const limit = createSharedLimit(counted, { ...BASE, name: 'counted' });
  for (let n = 0; n < 500; n++) await limit('a');
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThan(50);
});

test('a window that has ended begins anew, for all processes', async () => {
  let now = 0;
  const limits = limitsOf(2, { limit: 10, windowSeconds: 600, now: () => now });
  expect(await pass(limits, 'a', 40)).toBeLessThanOrEqual(10);
  expect(await pass(limits, 'a', 40)).toBe(0);
  const { db } = root;
  await sql`update rate_limit set expires_at = expires_at - make_interval(secs => 600)`.execute(db);
  now += 600_000;
  const passed = await pass(limits, 'a', 40);
  expect(passed).toBeGreaterThanOrEqual(9);
  expect(passed).toBeLessThanOrEqual(10);
});

test('without the store each process counts alone, or refuses, and asks again when it is back', async () => {
  const alone = limitsOf(2, { limit: 5, withoutStore: 'count-alone' });
  const [strict] = limitsOf(1, { limit: 5 });
  await root.db.schema.alterTable('rate_limit').renameTo('rate_limit_away').execute();
  try {
    expect(await pass(alone, 'a', 20)).toBe(10);
    await expect(strict?.('a')).rejects.toMatchObject({ code: 'unavailable' });
  } finally {
    await root.db.schema.alterTable('rate_limit_away').renameTo('rate_limit').execute();
  }
  expect(await strict?.('a')).toMatchObject({ isRefused: false });
});
