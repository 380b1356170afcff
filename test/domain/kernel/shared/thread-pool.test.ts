import { ThreadPool } from '../../../../domain/kernel/queues/thread-pool.ts';

/** Answers with its own number and what it was asked; some questions it never answers. */
const MODULE = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, threadId } from 'node:worker_threads';
    parentPort.on('message', (message) => {
      if (message === 'hang') for (;;);
      if (message === 'exit') process.exit();
      if (message === 'throw') throw new Error('thrown');
      if (message === 'fill') for (const all = [];;) all.push(new Array(1e5).fill({}));
      if (message !== 'wait') parentPort.postMessage({ threadId, message });
    });
  `)}`,
);
const LIMITS = {
  works: 'works',
  threads: 2,
  waitingPerHolder: 1,
  waitMs: 120_000,
  deadlineMs: 120_000,
  memoryMb: 16,
};
const pools: ThreadPool[] = [];
afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.close())));

function pooled(limits: Partial<typeof LIMITS> = {}) {
  const pool = new ThreadPool(MODULE, { ...LIMITS, ...limits });
  pools.push(pool);
  const ask = (message: string, tenant = 'a', wanted = '') =>
    pool.run(tenant, wanted, async (thread) => {
      if (wanted !== '') thread.held.add(wanted);
      return (await thread.ask(message)) as { threadId: number; message: string };
    });
  return { pool, ask };
}

test.each([
  ['passes its deadline', 'hang', 'deadline', { deadlineMs: 1 }],
  ['takes too much memory', 'fill', 'memory', {}],
  ['exits', 'exit', 'died', {}],
  ['throws', 'throw', 'died', {}],
])('a thread that %s is replaced', async (_, message, reason, limits) => {
  const { ask } = pooled(limits);
  await expect(ask(message)).rejects.toMatchObject({ reason });
  if (reason !== 'deadline') await expect(ask('again')).resolves.toMatchObject({ message: 'again' });
});

test('one thread answers a tenant, another one others, and what is wanted is asked where it is held', async () => {
  const { ask } = pooled();
  const [a, b] = await Promise.all([ask('1', 'a', 'kept by a'), ask('2', 'b', 'kept by b')]);
  expect(a.threadId).not.toBe(b.threadId);
  expect((await ask('3', 'c', 'kept by b')).threadId).toBe(b.threadId);
  expect((await ask('4', 'c', 'kept by a')).threadId).toBe(a.threadId);
});

test('a tenant whose thread does not answer has few waiting, keeps out nobody else, and all end with the pool', async () => {
  const { pool, ask } = pooled();
  const [asked, waiting] = [ask('wait'), ask('5')].map((one) => one.catch((error: unknown) => error));
  await expect(ask('6')).rejects.toMatchObject({ code: 'rate_limited' });
  await expect(ask('7', 'b')).resolves.toMatchObject({ message: '7' });
  await pool.close();
  expect(await asked).toMatchObject({ reason: 'died' });
  expect(await waiting).toMatchObject({ reason: 'died' });
});
