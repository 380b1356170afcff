import { aiUsageIn, aiUsageOf } from '../../../../domain/insight/metrics/ai-usage-rules.ts';
import { addUp, readEvent } from '../../../../domain/insight/metrics/event-rules.ts';
import { sampleLines } from '../../../../domain/insight/metrics/sample-line-rules.ts';
import { createSeriesReader } from '../../../../domain/insight/metrics/series-reader.ts';
import { isProblem, type MetricSample, type Series } from '../../../../domain/insight/metrics/series-rules.ts';

const NOW = Date.parse('2026-03-02T09:30:00Z');
const NAME = '__name__';
const HOUR_MS = 3_600_000;
const read = (event: unknown) => readEvent(event, NOW, { read: createSeriesReader() });

test('names become those of the store, and a count is 1 whatever is sent', () => {
  expect(
    read({ metric: 'déploy.count-x:y', type: 'count', value: 7, tags: { 'org.name': 'a.b', '1st': 'x', none: '' } }),
  ).toMatchObject({
    series: { name: 'd_ploy_count_x:y', type: 'count', labels: { _1st: 'x', org_name: 'a.b' } },
    value: 1,
    at: NOW,
  });
  expect(read({ metric: '9.lives', type: 'gauge', value: -2.5, timestamp: NOW - 1 })).toMatchObject({
    series: { name: '_9_lives', type: 'guage', labels: {} },
    value: -2.5,
    at: NOW - 1,
  });
});

test.each([
  [undefined, ''],
  [{ type: 'count' }, 'metric'],
  [{ metric: '', type: 'count' }, 'metric'],
  [{ metric: 'x'.repeat(129), type: 'count' }, 'metric'],
  [{ metric: '__name', type: 'count' }, 'metric'],
  [{ metric: '..x', type: 'count' }, 'metric'],
  [{ metric: 'quayside.deployments', type: 'count' }, 'metric'],
  [{ metric: 'quayside_x', type: 'count' }, 'metric'],
  [{ metric: 'x', type: 'meter' }, 'type'],
  [{ metric: 'x', type: 'guage' }, 'value'],
  [{ metric: 'x', type: 'guage', value: '1' }, 'value'],
  [{ metric: 'x', type: 'timers', value: -1 }, 'value'],
  [{ metric: 'x', type: 'guage', value: Number.MAX_VALUE }, 'value'],
  [{ metric: 'x', type: 'guage', value: -1.1e100 }, 'value'],
  [{ metric: 'ai.cost', type: 'guage', value: -0.5, tags: { repository: 'acme/shop' } }, 'value'],
  [{ metric: 'ai.tokens', type: 'guage', value: 2e15, tags: { repository: 'acme/shop', kind: 'input' } }, 'value'],
  [{ metric: 'x', type: 'count', timestamp: NOW + 10 * 60_000 + 1 }, 'timestamp'],
  [{ metric: 'x', type: 'count', timestamp: NOW - 48 * HOUR_MS - 1 }, 'timestamp'],
  [{ metric: 'x', type: 'count', timestamp: 1.5 }, 'timestamp'],
  [{ metric: 'x', type: 'count', tags: [] }, 'tags'],
  [{ metric: 'x', type: 'count', tags: { metric_type: 'x' } }, 'tags/metric_type'],
  [{ metric: 'x', type: 'count', tags: { 'metric.type': 'x' } }, 'tags/metric.type'],
  [{ metric: 'x', type: 'count', tags: { __tenant_id__: 'x' } }, 'tags/__tenant_id__'],
  [{ metric: 'x', type: 'count', tags: { '-.x': 'x' } }, 'tags/-.x'],
  [{ metric: 'x', type: 'count', tags: { 'a/b~': 1 } }, 'tags/a~1b~0'],
  [{ metric: 'x', type: 'count', tags: { 'a.b': 'x', a_b: 'y' } }, 'tags/a_b'],
  [{ metric: 'x', type: 'count', tags: { ['x'.repeat(65)]: 'y' } }, `tags/${'x'.repeat(64)}`],
  [{ metric: 'x', type: 'count', tags: { x: 'y'.repeat(257) } }, 'tags/x'],
  [
    { metric: 'x', type: 'count', tags: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`t${n}`, 'x'])) },
    'tags',
  ],
])('refuses %j at %s', (event, path) => {
  expect(read(event)).toEqual({ path, detail: expect.any(String) as string });
});

test.each([1e100, -1e100])('the bounds of values are accepted: %d', (value) => {
  expect(read({ metric: 'x', type: 'guage', value })).toHaveProperty('value', value);
});

test.each([NOW + 10 * 60_000, NOW - 48 * HOUR_MS])('the bounds of time are accepted: %d', (timestamp) => {
  expect(isProblem(read({ metric: 'x', type: 'count', timestamp }))).toBe(false);
});

const sample = ({ value = 1, at = NOW, ...series }: Partial<Omit<MetricSample, 'series'> & Series>): MetricSample => ({
  series: { id: 'one', name: 'x', type: 'count', labels: {}, ...series },
  value,
  at,
});

test('a window ends at a multiple of five minutes, which belongs to it', () => {
  const windows = addUp([sample({}), sample({ at: NOW + 1 }), sample({ at: NOW - 299_999 })]);
  expect(windows.map(({ endsAt, count, lastAt }) => [endsAt, count, lastAt])).toEqual([
    [NOW, 2, NOW],
    [NOW + 300_000, 1, NOW + 1],
  ]);
});

test('the latest value stays, of equal times the highest; counts and sums add up', () => {
  const type = 'timers';
  const windows = addUp([
    sample({ type, value: 5, at: NOW - 10 }),
    sample({ type, value: 3, at: NOW - 5 }),
    sample({ type, value: 9, at: NOW - 20 }),
    sample({ type, value: 4, at: NOW - 5 }),
  ]);
  expect(windows).toMatchObject([{ last: 4, lastAt: NOW - 5, count: 4, sum: 21 }]);
});

test('the order of tags makes no other series, the type does', () => {
  const reader = createSeriesReader();
  const key = ({ type = 'count', tags = {} }: { type?: string; tags?: object }) => {
    const found = reader('x', type, tags);
    expect(found).toEqual(createSeriesReader()('x', type, tags));
    return isProblem(found) ? found.detail : found.id;
  };
  expect(key({ tags: { a: '1', b: '2' } })).toBe(key({ tags: { b: '2', a: '1' } }));
  expect(key({ type: 'guage' })).not.toBe(key({}));
  expect(key({ tags: { a: '1","b":"2' } })).not.toBe(key({ tags: { a: '1', b: '2' } }));
});

test('timers are three series for the store', () => {
  const state = { name: 'x', labels: { org: 'a"b' }, lastAt: NOW, last: 4, count: 2, sum: 7 };
  const lines = (type: 'count' | 'guage' | 'timers') =>
    sampleLines({ ...state, type })
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { metric: Record<string, string>; values: number[]; timestamps: number[] });
  expect(lines('timers').map(({ metric, values }) => [metric[NAME], values[0]])).toEqual([
    ['x', 4],
    ['x_count', 2],
    ['x_sum', 7],
  ]);
  expect(lines('count')).toEqual([
    { metric: { __name__: 'x', org: 'a"b', metric_type: 'count' }, values: [2], timestamps: [NOW] },
  ]);
  expect(lines('guage')[0]?.values).toEqual([4]);
});

test('the use of AI is added up by repository, day and measure', () => {
  const of = (name: string, value: number, labels: Record<string, string> = {}) =>
    sample({ name, value, type: 'guage', labels: { repository: 'acme/shop', ...labels } });
  const changes = aiUsageIn([
    of('ai_sessions', 2),
    of('ai_sessions', 3),
    of('ai_tokens', 10, { kind: 'cacheRead' }),
    of('ai_tokens', 10, { kind: 'other' }),
    of('ai_tokens', 10),
    of('deploy', 1),
    sample({ name: 'ai_turns' }),
  ]);
  expect(changes).toEqual([
    { repositoryIdentifier: 'acme/shop', day: '2026-03-02', measure: 'cacheRead', amount: 10 },
    { repositoryIdentifier: 'acme/shop', day: '2026-03-02', measure: 'sessions', amount: 5 },
  ]);
  expect(aiUsageOf(changes)).toMatchObject({ sessions: 5, turns: 0, tokens: { cacheRead: 10, input: 0 }, cost: null });
  expect(aiUsageOf([{ measure: 'cost', amount: 0 }]).cost).toBe(0);
});
