import { pino } from 'pino';
import { Spares } from '../../../activities/browser-host/chromium/spares.ts';
import { FakeRunningBrowser } from '../../support/fake-running-browser.ts';
import { eventually } from '../../support/worker.ts';

const started: FakeRunningBrowser[] = [];
let starting: Promise<void>;
const start = async () => {
  await starting;
  const browser = new FakeRunningBrowser();
  started.push(browser);
  return browser;
};
const newSpares = () => new Spares(1, start, pino({ level: 'silent' }));
const countBecomes = (count: number) =>
  eventually(
    async () => started.length,
    (length) => length === count,
  );
beforeEach(() => {
  started.length = 0;
  starting = Promise.resolve();
});

test('a spare browser is taken once, and another one waits after that', async () => {
  const spares = newSpares();
  expect(spares.take()).toBeUndefined();
  await spares.fill();
  expect(spares.take()).toBe(started[0]);
  expect(spares.take()).toBeUndefined();
  await countBecomes(2);
  await spares.fill();
  expect(spares.take()).toBe(started[1]);
  await spares.close();
  // What was taken belongs to whoever took it.
  expect(started.map(({ isRunning }) => isRunning)).toEqual([true, true]);
});

test('a spare browser that ends is not allocated, and another one takes its place', async () => {
  const spares = newSpares();
  await spares.fill();
  started[0]?.kill({ reason: 'provider_error', detail: 'The browser crashed' });
  await countBecomes(2);
  await spares.fill();
  expect(spares.take()).toBe(started[1]);
  await spares.close();
});

test('spare browsers are ended when they are not wanted any more, one that is being started as well', async () => {
  const spares = newSpares();
  await spares.fill();
  await spares.close();
  await expect(started[0]?.ended).resolves.toMatchObject({ reason: 'stopped' });
  await spares.fill();
  expect(started).toHaveLength(1);

  const slow = Promise.withResolvers<void>();
  starting = slow.promise;
  const others = newSpares();
  const filled = others.fill();
  const closed = others.close();
  slow.resolve();
  await Promise.all([filled, closed]);
  await expect(started[1]?.ended).resolves.toMatchObject({ reason: 'stopped' });
  expect(started).toHaveLength(2);
});
