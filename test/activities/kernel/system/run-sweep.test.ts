import { defineSweep } from '../../../../activities/kernel/system/define-sweep.ts';
import { runSweep } from '../../../../activities/kernel/system/run-sweep.ts';
import { SWEEPS } from '../../../../activities/sweeps.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { engineAway } from '../../../support/launch.ts';

let app: TestApp;
let activities: ReturnType<typeof activityDeps>;
beforeAll(async () => {
  app = await testApp({ launch: engineAway });
  activities = activityDeps(app);
});
afterAll(async () => {
  await activities.close();
  await app.close();
});

test.each(SWEEPS.map((sweep) => [sweep.name, sweep] as const))(
  '%s finds nothing amiss where nothing is',
  async (_, sweep) => {
    await expect(runSweep(activities.deps, sweep)).resolves.toMatchObject({ handled: 0, failed: 0 });
  },
);

test('names are unique: they tell activities, metrics and failures apart', () => {
  expect(new Set(SWEEPS.map(({ name }) => name)).size).toBe(SWEEPS.length);
});

interface Row {
  id: string;
  isPoisoned: boolean;
}

/** A sweep over rows that are due until they are dealt with. */
function sweepOver(name: string, rows: Row[], more: { limit?: number; rowTimeoutMs?: number } = {}) {
  const handled: string[] = [];
  const sweep = defineSweep<Row>({
    name,
    concurrency: 2,
    due: async (_deps, limit) => rows.filter(({ id }) => !handled.includes(id)).slice(0, limit),
    key: ({ id }) => id,
    async handle(_deps, { id, isPoisoned }) {
      if (isPoisoned && more.rowTimeoutMs !== undefined) await new Promise(() => undefined);
      if (isPoisoned) throw new Error(`poisoned ${id}`);
      handled.push(id);
    },
    ...more,
  });
  return { handled, pass: () => runSweep(activities.deps, sweep) };
}

const row = (id: string, isPoisoned = false): Row => ({ id, isPoisoned });
const failures = (sweep: string) =>
  app.sql<{ row_key: string; attempts: number; last_error: string; wait: number }>(
    `select row_key, attempts, last_error, round(extract(epoch from next_attempt_at - now()))::int as wait
     from sweep_failure where sweep = ? order by row_key`,
    [sweep],
  );

test('poisoned rows are counted and backed off from, ever longer, and stop nobody else', async () => {
  // As many as one pass takes, and before all others.
  const { handled, pass } = sweepOver('a', [row('p1', true), row('p2', true), row('a'), row('b'), row('c')], {
    limit: 2,
  });
  await expect(pass()).resolves.toEqual({ found: 2, handled: 0, failed: 2, backedOff: 0 });
  await expect(pass()).resolves.toEqual({ found: 2, handled: 2, failed: 0, backedOff: 2 });
  await expect(pass()).resolves.toEqual({ found: 1, handled: 1, failed: 0, backedOff: 2 });
  expect(handled).toEqual(['a', 'b', 'c']);
  await expect(failures('a')).resolves.toMatchObject([
    { row_key: 'p1', attempts: 1, last_error: 'Error: poisoned p1', wait: 10 },
    { row_key: 'p2', attempts: 1 },
  ]);
  for (const wait of [20, 40, 80]) {
    await app.sql(`update sweep_failure set next_attempt_at = now() - interval '1 second' where sweep = 'a'`);
    await expect(pass()).resolves.toMatchObject({ failed: 2 });
    await expect(failures('a')).resolves.toMatchObject([{ wait }, { wait }]);
  }
  await app.sql(
    `update sweep_failure set attempts = 1000, next_attempt_at = now() - interval '1 second' where sweep = 'a'`,
  );
  await pass();
  await expect(failures('a')).resolves.toMatchObject([{ attempts: 1001, wait: 3600 }, { wait: 3600 }]);
});

test('a row that succeeds in the end starts without a past', async () => {
  const rows = [row('a', true)];
  const { pass } = sweepOver('b', rows);
  await pass();
  rows[0] = row('a');
  await expect(pass()).resolves.toMatchObject({ handled: 0, backedOff: 1 });
  await app.sql(`update sweep_failure set next_attempt_at = now() - interval '1 second' where sweep = 'b'`);
  await expect(pass()).resolves.toMatchObject({ handled: 1, backedOff: 0 });
  await expect(failures('b')).resolves.toEqual([]);
});

test('a row that hangs has failed after a time, and holds up nobody meanwhile', async () => {
  const { handled, pass } = sweepOver('c', [row('h', true), row('a'), row('b')], { rowTimeoutMs: 300 });
  await expect(pass()).resolves.toMatchObject({ handled: 2, failed: 1 });
  expect(handled).toEqual(['a', 'b']);
  await expect(failures('c')).resolves.toMatchObject([{ last_error: 'Error: It took longer than 0.3 s' }]);
});

test('failures of rows that are no longer due are forgotten', async () => {
  const purge = SWEEPS.find(({ name }) => name === 'expired-sweep-failures');
  await sweepOver('d', [row('gone', true)]).pass();
  await app.sql(`update sweep_failure set next_attempt_at = now() - interval '8 days' where sweep = 'd'`);
  if (purge) await runSweep(activities.deps, purge);
  await expect(failures('d')).resolves.toEqual([]);
});
