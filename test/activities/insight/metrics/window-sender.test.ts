import { pino } from 'pino';
import { createMetricsStore } from '../../../../activities/adapters/metrics/metrics-store.ts';
import { createWindowSender } from '../../../../activities/insight/metrics/window-sender.ts';
import type { MetricsStore } from '../../../../domain/insight/metrics/metrics-store.port.ts';
import { createWindowStore } from '../../../../domain/insight/metrics/window-store.queries.ts';
import { freePort } from '../../../support/free-port.ts';
import { startMetricsStore } from '../../../../tools/metrics-store.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { engineAway } from '../../../support/launch.ts';

let app: TestApp;
let activities: ReturnType<typeof activityDeps>;
/** Two tenants: the one whose windows would be sent first in the order of the ids, and the other. */
let [first, second]: string[] = [];
beforeAll(async () => {
  app = await testApp({ launch: engineAway });
  activities = activityDeps(app);
  [first, second] = (await app.sql<{ id: string }>('select id from tenant order by id')).map(({ id }) => id);
});
afterAll(async () => {
  await activities.close();
  await app.close();
});
afterEach(async () => {
  await app.sql('delete from metric_window');
  await app.sql('delete from metric_series');
});

/** Series of a tenant with one window each, which ended so many minutes ago. */
async function addWindows(tenantId: string, count: number, { tag = '', minutes = 0, isSent = false } = {}) {
  await app.sql(
    `insert into metric_series (tenant_id, series, name, type, labels, first_day)
     select ?, md5(i || ':' || ?)::uuid, 'x', 'count', jsonb_build_object('i', i::text, 'tag', ?::text), current_date
     from generate_series(1, ?::int) i`,
    [tenantId, String(minutes), tag, count],
  );
  await app.sql(
    `insert into metric_window (tenant_id, series, ends_at, last_at, last, count, sum, is_sent)
     select ?, md5(i || ':' || ?)::uuid, t, t, 1, 1, 1, ?
     from generate_series(1, ?::int) i, (select now() - make_interval(mins => ?) as t) at`,
    [tenantId, String(minutes), isSent, count, minutes],
  );
}

const unsent = (tenantId: string) =>
  app.sql<{ ago: number }>(
    `select round(extract(epoch from now() - ends_at) / 60)::int as ago from metric_window
     where not is_sent and tenant_id = ?`,
    [tenantId],
  );

interface Written {
  tenantId: string;
  lines: string;
}

/** A sender to a store that does what `write` does. */
function senderTo(write: (written: Written) => void | Promise<void>) {
  const written: Written[] = [];
  const store = {
    write: async (tenantId: string, lines: string) => {
      await write({ tenantId, lines });
      written.push({ tenantId, lines });
    },
    startedAt: () => Promise.resolve(undefined),
  } as unknown as MetricsStore;
  const windows = createWindowStore(activities.deps.system);
  return { written, ...createWindowSender({ windows, store, log: pino({ level: 'silent' }) }) };
}

test('a tenant with many windows does not hold up another, and its own oldest go first', async () => {
  await addWindows(first ?? '', 6_000);
  await addWindows(first ?? '', 10, { minutes: 60 });
  await addWindows(second ?? '', 5);
  const { send, written } = senderTo(() => undefined);
  expect(await send()).toMatchObject({ isMoreDue: true });
  expect(new Set(written.map(({ tenantId }) => tenantId))).toEqual(new Set([first, second]));
  expect(await unsent(second ?? '')).toEqual([]);
  const left = await unsent(first ?? '');
  expect(left.length).toBeGreaterThan(0);
  expect(left.every(({ ago }) => ago === 0)).toBe(true);
  let rounds = 0;
  while ((await send()).isMoreDue) rounds++;
  expect(rounds).toBeLessThan(5);
  expect(await unsent(first ?? '')).toEqual([]);
});

test('a tenant whose windows are refused holds up no other, and it fails when all are', async () => {
  await addWindows(first ?? '', 3);
  await addWindows(second ?? '', 3);
  const refused = new Set([first]);
  const { send } = senderTo(({ tenantId }) => {
    if (refused.has(tenantId)) throw new Error('refused');
  });
  expect(await send()).toMatchObject({ sent: 3 });
  expect(await unsent(second ?? '')).toEqual([]);
  expect(await unsent(first ?? '')).toHaveLength(3);
  // It is left out for a while, so that the others do not wait for it each time.
  expect(await send()).toMatchObject({ sent: 0 });
  await addWindows(second ?? '', 1, { minutes: 5 });
  refused.add(second);
  await expect(send()).rejects.toThrow('refused');
});

test('windows are written in bodies of bounded size, and what was taken is sent', async () => {
  await addWindows(first ?? '', 3_000, { tag: 'x'.repeat(4_000) });
  let bodies = 0;
  const { send, written } = senderTo(() => {
    if (++bodies === 3) throw new Error('refused');
  });
  const { sent } = await send();
  expect(written).toHaveLength(2);
  for (const { lines } of written) expect(Buffer.byteLength(lines)).toBeLessThanOrEqual(4 * 1024 * 1024);
  expect(sent).toBe(written.flatMap(({ lines }) => lines.trim().split('\n')).length);
  expect(await unsent(first ?? '')).toHaveLength(3_000 - sent);
});

test('what a store that is killed had not saved is sent again', async () => {
  const options = { dataDir: `${app.dataDir}/store`, port: await freePort(), onProgress: () => undefined };
  const died = await startMetricsStore(options);
  const store = createMetricsStore(died.url);
  try {
    const windows = createWindowStore(activities.deps.system);
    const { send } = createWindowSender({ windows, store, log: pino({ level: 'silent' }) });
    await addWindows(first ?? '', 7);
    expect(await send()).toEqual({ sent: 7, isMoreDue: false });
    process.kill(died.pid, 'SIGKILL');
    await died.ended;
    const started = await startMetricsStore(options);
    try {
      const restarted = createWindowSender({ windows, store, log: pino({ level: 'silent' }) });
      expect(await restarted.send()).toEqual({ sent: 7, isMoreDue: false });
      await fetch(`${started.url}/internal/force_flush`);
      const reply = await fetch(`${started.url}/api/v1/series?match[]=x&extra_label=__tenant_id__=${first}`);
      expect(((await reply.json()) as { data: unknown[] }).data).toHaveLength(7);
    } finally {
      await started.stop();
    }
  } finally {
    await store.close();
  }
});

test('what has expired is removed in pieces, as far as the time allows', async () => {
  await addWindows(first ?? '', 51, { minutes: 60 * 50, isSent: true });
  await addWindows(first ?? '', 1, { isSent: true });
  await addWindows(first ?? '', 1, { minutes: 60 * 51 });
  const { purge } = createWindowStore(activities.deps.system, 20);
  expect(await purge(49, 91, 1)).toBe(20);
  expect(await purge(49, 91, 60_000)).toBe(31);
  expect(await app.sql('select from metric_window')).toHaveLength(2);
});
