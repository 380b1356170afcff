import { eachAtOnce } from '../../../../domain/kernel/shared/at-once-rules.ts';

/** Work that ends when it is told to. */
function held() {
  const begun: number[] = [];
  const ends = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  const work = (item: number) =>
    new Promise<void>((resolve, reject) => {
      begun.push(item);
      ends.set(item, { resolve, reject });
    });
  const settle = async (item: number, error?: Error) => {
    const end = ends.get(item);
    if (error) end?.reject(error);
    else end?.resolve();
    await new Promise(setImmediate);
  };
  return { begun, work, settle };
}

test('so many are worked on at once, in order, and the next begins when one ends', async () => {
  const { begun, work, settle } = held();
  const done = eachAtOnce([1, 2, 3, 4], 2, work);
  expect(begun).toEqual([1, 2]);
  await settle(2);
  expect(begun).toEqual([1, 2, 3]);
  await settle(1);
  await settle(3);
  await settle(4);
  await done;
  expect(begun).toEqual([1, 2, 3, 4]);
});

test('none begins after it is over, or after one has failed', async () => {
  const stopped = held();
  let isOver = false;
  const done = eachAtOnce([1, 2, 3], 1, stopped.work, { isOver: () => isOver });
  isOver = true;
  await stopped.settle(1);
  await done;
  expect(stopped.begun).toEqual([1]);

  const failing = held();
  const failed = eachAtOnce([1, 2, 3, 4], 2, failing.work);
  const refused = expect(failed).rejects.toThrow('no');
  await failing.settle(1, new Error('no'));
  await failing.settle(2);
  await refused;
  expect(failing.begun).toEqual([1, 2]);
});

test('what was begun has ended when it rejects', async () => {
  const { work, settle } = held();
  let hasRejected = false;
  const failed = eachAtOnce([1, 2], 2, work).catch(() => {
    hasRejected = true;
  });
  await settle(1, new Error('no'));
  expect(hasRejected).toBe(false);
  await settle(2);
  await failed;
  expect(hasRejected).toBe(true);
});

test('an empty list is done', async () => {
  await eachAtOnce([], 4, () => Promise.reject(new Error('nothing to work on')));
});
