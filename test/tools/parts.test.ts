import { mock } from 'node:test';
import { createParts, createRestartLimit, createRestartPauses, type Part } from '../../tools/parts.ts';
import { startSettings } from '../../tools/start-settings.ts';

const part: Part = { pid: 1, ended: new Promise(() => undefined), stop: async () => undefined, kill: () => undefined };

/** A part that is never ready, and ends when it is told to. */
const hanging = (signal: AbortSignal) =>
  new Promise<Part>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

const newParts = (startTimeoutSeconds?: number) => {
  const said: string[] = [];
  const parts = createParts({
    onStarted: (name) => said.push(`${name} started`),
    onLost: () => undefined,
    onWaiting: (name, seconds) => said.push(`${name} ${seconds}`),
    startTimeoutSeconds: () => startTimeoutSeconds,
  });
  return { parts, said };
};

const pass = (seconds: number) => {
  for (let second = 0; second < seconds; second++) mock.timers.tick(1_000);
};

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

test('a part that is not ready yet is waited for without an end, and named now and then', async () => {
  const { parts, said } = newParts();
  const ready = Promise.withResolvers<Part>();
  const starting = parts.start('API', 'process', () => ready.promise);
  pass(600);
  expect(said.slice(0, 3)).toEqual(['API 10', 'API 40', 'API 70']);
  expect(said).toHaveLength(20);
  ready.resolve(part);
  await starting;
  pass(600);
  expect(said.slice(20)).toEqual(['API started']);
});

test('START_TIMEOUT_SECONDS ends the start of a part, and not one that is ready', async () => {
  const { parts, said } = newParts(60);
  await parts.start('PostgreSQL', 'database', async () => part);
  const refused = expect(parts.start('API', 'process', hanging)).rejects.toThrow(
    'The API was not ready after 60 s (START_TIMEOUT_SECONDS).',
  );
  pass(60);
  await refused;
  expect(said).toEqual(['PostgreSQL started', 'API 10', 'API 40']);
});

test('a stop ends what is still starting', async () => {
  const { parts } = newParts();
  const refused = expect(parts.start('API', 'process', hanging)).rejects.toThrow('stopping');
  await parts.stopAll();
  await refused;
  await expect(parts.start('worker', 'process', async () => part)).rejects.toThrow('stopping');
});

test('so many restarts are allowed within any minute, and no more', () => {
  const mayRestart = createRestartLimit(3, 60_000);
  const at = [0, 10_000, 20_000, 59_999, 60_000, 60_001, 70_000, 80_000, 80_001];
  expect(at.map(mayRestart)).toEqual([true, true, true, false, true, false, true, true, false]);
});

test('a part that never stays is restarted for ever, after longer and longer pauses', () => {
  const pauseMs = createRestartPauses(60_000);
  let now = 0;
  const pauses = Array.from({ length: 10 }, () => {
    const pause = pauseMs(now);
    now += pause;
    return pause / 1000;
  });
  expect(pauses).toEqual([0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
  expect(pauseMs(now + 59_999)).toBe(60_000);
  expect(pauseMs(now + 59_999 + 120_000)).toBe(0);
});

test.each(['0', '-1', '1.5', 'long', '86401'])('the setting START_TIMEOUT_SECONDS refuses %s', (text) => {
  expect(() => startSettings({ START_TIMEOUT_SECONDS: text })).toThrow('START_TIMEOUT_SECONDS is malformed');
});

test('the setting START_TIMEOUT_SECONDS is optional', () => {
  expect(startSettings({}).startTimeoutSeconds).toBeUndefined();
  expect(startSettings({ START_TIMEOUT_SECONDS: '90' }).startTimeoutSeconds).toBe(90);
});
