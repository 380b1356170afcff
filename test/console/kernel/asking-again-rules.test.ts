import { mock } from 'node:test';
import { QueryObserver } from '@tanstack/react-query';
import { createQueries } from '../../../console/kernel/data/ask.ts';
import { askingAgain } from '../../../console/kernel/data/asking-again.ts';

const FRAME_MS = 250;
let ending: AbortController;

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: Date.parse('2026-03-02T10:00:00Z') });
  ending = new AbortController();
});
afterEach(() => {
  ending.abort();
  mock.timers.reset();
});

const inMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    mock.timers.tick(50);
    for (let step = 0; step < 20; step += 1) await Promise.resolve();
  }
}

/** A question that is shown, how often it was asked, and how changes are told of. */
function shown(answer: (count: number) => Promise<unknown>, meta: { isList?: boolean } = {}) {
  const queries = createQueries({});
  const asked = { count: 0 };
  const observer = new QueryObserver(queries, {
    queryKey: ['thing'] as readonly unknown[],
    queryFn: () => answer((asked.count += 1)),
    meta,
  });
  const leave = observer.subscribe(() => undefined);
  ending.signal.addEventListener('abort', () => {
    leave();
    queries.clear();
  });
  const again = askingAgain(() => true, ending.signal);
  return { observer, asked, tell: () => again(observer.getCurrentQuery()) };
}

async function tellFor(ms: number, tell: () => void): Promise<void> {
  for (let passed = 0; passed < ms; passed += FRAME_MS) {
    tell();
    await pass(FRAME_MS);
  }
}

test.each([
  ['comes at once', 0, {}, 30],
  ['takes longer than the pause between changes', 400, {}, 30],
  ['takes longer than the pause between requests', 3_000, {}, 20],
  ['is a list', 400, { isList: true }, 12],
])('changes four times a second: an answer that %s arrives, and is asked for sparingly', async (_, ms, meta, most) => {
  const { observer, asked, tell } = shown((count) => inMs(ms).then(() => count), meta);
  await tellFor(60_000, tell);
  expect(asked.count).toBeLessThanOrEqual(most + 1);
  expect(asked.count).toBeGreaterThan(most / 2);
  expect(Number(observer.getCurrentResult().data)).toBeGreaterThanOrEqual(asked.count - 1);
});

test.each([0, 400])('failures after %d ms are not repeated at the rate of changes', async (ms) => {
  const { observer, asked, tell } = shown(() => inMs(ms).then(() => Promise.reject(new Error('away'))));
  await tellFor(60_000, tell);
  await pass(10_000);
  expect(observer.getCurrentResult().error?.message).toBe('away');
  expect(asked.count).toBeGreaterThan(5);
  expect(asked.count).toBeLessThanOrEqual(30);
});

test('a change that is told of while an older answer is on its way is asked for again', async () => {
  const { observer, asked, tell } = shown((count) => inMs(4_000).then(() => count));
  await pass(100);
  tell();
  await pass(4_000);
  expect(observer.getCurrentResult().data).toBe(1);
  await pass(7_000);
  expect(observer.getCurrentResult().data).toBe(2);
  await pass(20_000);
  expect(asked.count).toBe(2);
});
