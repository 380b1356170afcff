import { mock } from 'node:test';
import { batched } from '../../../../domain/kernel/queues/batched.ts';

test('calls that come during a flush make the next one, each with its own result', async () => {
  const flushes: number[][] = [];
  const double = batched(async (items: number[]) => {
    flushes.push(items);
    await new Promise(setImmediate);
    return items.map((item) => item * 2);
  });
  await expect(Promise.all([1, 2, 3, 4].map(double))).resolves.toEqual([2, 4, 6, 8]);
  expect(flushes).toEqual([[1], [2, 3, 4]]);
});

test('a failed flush fails its own calls and no others', async () => {
  const call = batched(async (items: string[]) => {
    if (items.includes('bad')) throw new Error('refused');
    return items;
  });
  const results = await Promise.allSettled([call('a'), call('bad'), call('b')]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  await expect(call('c')).resolves.toBe('c');
});

test('a batch has at most as many items as it may', async () => {
  const sizes: number[] = [];
  const call = batched(
    async (items: number[]) => {
      sizes.push(items.length);
      return items;
    },
    { maxBatch: 2 },
  );
  await Promise.all([1, 2, 3, 4, 5].map(call));
  expect(sizes).toEqual([1, 2, 2]);
});

test('between flushes it rests, so that calls gather; after a pause none waits', async () => {
  let now = 1_000;
  mock.method(performance, 'now', () => now);
  mock.timers.enable({ apis: ['setTimeout'] });
  const pass = async (ms: number) => {
    now += ms;
    mock.timers.tick(ms);
    await new Promise(setImmediate);
  };
  try {
    const sizes: number[] = [];
    const call = batched(
      async (items: number[]) => {
        sizes.push(items.length);
        return items;
      },
      { restMs: 400 },
    );
    await call(1);
    const gathered = [call(2)];
    await pass(399);
    gathered.push(call(3));
    await pass(0);
    expect(sizes).toEqual([1]);
    await pass(1);
    await Promise.all(gathered);
    expect(sizes).toEqual([1, 2]);
    await pass(400);
    // Nothing moves the clock: a call that rested would never be answered.
    await call(4);
    expect(sizes).toEqual([1, 2, 1]);
  } finally {
    mock.reset();
  }
});
