import { POINTS_MAX, seriesOf, spanOf } from '../../../../domain/orgs/org-limits/dashboard-rules.ts';
import { nextPollAt, retryPollAt } from '../../../../domain/orgs/org-limits/poll-schedule-rules.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 2, 9, 12);

test('days are those of UTC', () => {
  expect(spanOf('today', NOON)).toEqual({ label: 'Today', start: Date.UTC(2026, 2, 9), end: NOON });
  expect(spanOf('yesterday', NOON)).toEqual({
    label: 'Yesterday',
    start: Date.UTC(2026, 2, 8),
    end: Date.UTC(2026, 2, 9),
  });
  expect(spanOf('last_7_days', NOON)).toEqual({ label: 'Last 7 days', start: Date.UTC(2026, 2, 3), end: NOON });
});

test('few samples are shown as they are, and a limit of 0 not at all', () => {
  const samples = [
    { at: NOON - 30 * MINUTE, used: [10, 0], max: [100, 0] },
    { at: NOON - 15 * MINUTE, used: [20, 0, 7], max: [100, 0, 10] },
    { at: NOON, used: [null, 0, 8], max: [null, 0, 10] },
  ];
  expect(seriesOf(['A', 'B', 'C'], samples, { label: '', start: NOON - 60 * MINUTE, end: NOON })).toEqual([
    {
      limitName: 'A',
      dataPoints: [
        { timestamp: '2026-03-09T11:30:00.000Z', usagePct: 10 },
        { timestamp: '2026-03-09T11:45:00.000Z', usagePct: 20 },
      ],
    },
    {
      limitName: 'C',
      dataPoints: [
        { timestamp: '2026-03-09T11:45:00.000Z', usagePct: 70 },
        { timestamp: '2026-03-09T12:00:00.000Z', usagePct: 80 },
      ],
    },
  ]);
});

test('many samples are at most 300 points, each the highest of its part', () => {
  const span = spanOf('last_7_days', NOON);
  const count = Math.floor((span.end - span.start) / MINUTE);
  const samples = Array.from({ length: count }, (_, index) => ({
    at: span.start + index * MINUTE,
    used: [index === 5_000 ? 99 : index % 7],
    max: [100],
  }));
  const [series] = seriesOf(['A'], samples, span);
  expect(series?.dataPoints.length).toBeLessThanOrEqual(POINTS_MAX);
  expect(series?.dataPoints.length).toBeGreaterThan(POINTS_MAX - 5);
  expect(series?.dataPoints).toContainEqual({
    timestamp: new Date(span.start + 5_000 * MINUTE).toISOString(),
    usagePct: 99,
  });
});

test('the polls of many orgs are spread over the interval, and each comes at its moment', () => {
  const everyMs = 15 * MINUTE;
  const parts = Array.from({ length: 15 }, () => 0);
  for (let count = 0; count < 3_000; count++) {
    const id = newId();
    const first = nextPollAt(id, NOON, everyMs);
    expect(first - NOON).toBeGreaterThanOrEqual(everyMs / 4);
    expect(first - NOON).toBeLessThan(everyMs * 1.25);
    expect(nextPollAt(id, first + 5_000, everyMs)).toBe(first + everyMs);
    parts[Math.floor((first % everyMs) / MINUTE)] = (parts[Math.floor((first % everyMs) / MINUTE)] ?? 0) + 1;
  }
  expect(Math.min(...parts)).toBeGreaterThan(120);
  expect(Math.max(...parts)).toBeLessThan(280);
});

test.each([
  ['unreachable', 1, 15],
  ['unreachable', 2, 30],
  ['timeout', 5, 240],
  ['unreachable', 6, 360],
  ['unreachable', 1_000, 360],
  ['limited', 2, 30],
  ['limited', 9, 60],
] as const)('%s for the time no. %d: tried again after %d minutes', (kind, failures, minutes) => {
  expect(retryPollAt(kind, failures, NOON, 15 * MINUTE) - NOON).toBe(minutes * MINUTE);
});
