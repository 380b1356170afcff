import { setTimeout as sleep } from 'node:timers/promises';
import { Slots } from '../../../../domain/kernel/queues/slots.ts';
import { eventually } from '../../../support/eventually.ts';

const LIMITS = { works: 'works', total: 3, perHolder: 2, waitingPerHolder: 2, waitMs: 120_000, restFactor: 0 };

/** Begins works that last until they are told to end, and notes which have begun. */
function workshop(limits: Partial<typeof LIMITS> = {}) {
  const slots = new Slots({ ...LIMITS, ...limits });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (name: string, options?: Parameters<Slots['run']>[2]) => {
    const work = async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name;
    };
    return slots.run(name.slice(0, 1), work, options).catch((error: { code?: string }) => error.code);
  };
  const end = async (name: string) => {
    const endIt = await eventually(
      async () => ends.get(name),
      (found) => found !== undefined,
    );
    endIt?.();
  };
  const haveBegun = (count: number) =>
    eventually(
      async () => begun,
      ({ length }) => length >= count,
    );
  return { slots, begun, begin, end, haveBegun };
}

test('a holder has its share of the slots, some wait, and the rest is refused with the time to come back', async () => {
  const { slots, begun, begin } = workshop();
  for (const name of ['a1', 'a2', 'a3', 'a4']) void begin(name);
  expect(await begin('a5')).toBe('rate_limited');
  await expect(slots.run('a', async () => undefined)).rejects.toMatchObject({
    extras: { headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } },
  });
  void begin('b1');
  expect(begun).toEqual(['a1', 'a2', 'b1']);
});

test('a free slot goes to the holders in turn', async () => {
  const { begin, end, haveBegun } = workshop({ total: 1, perHolder: 1 });
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) void begin(name);
  for (const name of ['a1', 'a2', 'b1', 'c1']) await end(name);
  expect(await haveBegun(5)).toEqual(['a1', 'a2', 'b1', 'c1', 'a3']);
});

test('what goes on with something that has begun is never refused', async () => {
  const { begin, end, haveBegun } = workshop({ waitingPerHolder: 0 });
  for (const name of ['a1', 'a2']) void begin(name);
  void begin('a3', { isContinued: true });
  await end('a1');
  expect(await haveBegun(3)).toEqual(['a1', 'a2', 'a3']);
});

test('who leaves, or has waited too long, gives up the turn', async () => {
  const { slots, begun, begin, end } = workshop({ total: 1, waitMs: 50 });
  const gone = new AbortController();
  void begin('a1');
  const left = slots.run('a', async () => undefined, { signal: gone.signal });
  const waited = begin('a3');
  gone.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  expect(await waited).toBe('unavailable');
  await end('a1');
  await eventually(
    async () => slots.isUsedBy('a'),
    (isUsed) => !isUsed,
  );
  expect(begun).toEqual(['a1']);
  await expect(slots.run('a', async () => 'b', { signal: gone.signal })).rejects.toThrow('gone');
});

test('a slot rests in proportion to the time that its work took, also when that failed', async () => {
  const { slots } = workshop({ total: 1, restFactor: 2 });
  const failing = slots.run('a', async () => {
    await sleep(100);
    throw new Error('failed');
  });
  await expect(failing).rejects.toThrow('failed');
  const freeAt = performance.now();
  await slots.run('a', async () => undefined);
  expect(performance.now() - freeAt).toBeGreaterThan(150);
});

test('a slot that is taken without waiting is given back once, and the next in line has it', async () => {
  const { slots, begun, begin, haveBegun } = workshop({ total: 2, perHolder: 1 });
  const leave = slots.take('a');
  expect(slots.take('a')).toBeUndefined();
  void begin('b1');
  expect(slots.take('c')).toBeUndefined();
  void begin('c1');
  expect(begun).toEqual(['b1']);
  leave?.();
  leave?.();
  expect(await haveBegun(2)).toEqual(['b1', 'c1']);
  expect(slots.take('d')).toBeUndefined();
  expect(slots.isUsedBy('a') || slots.isUsedBy('d')).toBe(false);
});
