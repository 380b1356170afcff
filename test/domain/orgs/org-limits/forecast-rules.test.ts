import { forecastOf } from '../../../../domain/orgs/org-limits/forecast-rules.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 2, 2, 12);
const every15 = (used: number[]) => used.map((value, index) => ({ at: START + index * 15 * MINUTE, used: value }));

test('a line through the samples reaches the maximum', () => {
  // 10 in 15 minutes, 50 at the end: 50 more take 75 minutes.
  expect(forecastOf('DailyApiRequests', every15([0, 10, 20, 30, 40, 50]), 100)).toBe(START + 150 * MINUTE);
});

test('the line is that of least squares', () => {
  const samples = every15([0, 12, 18, 33, 39, 48]);
  // Slope by hand: sum (t - 37.5)(u - 25) / sum (t - 37.5)^2 = 2520 / 3937.5 per minute.
  const perMinute = 2_520 / 3_937.5;
  const expected = START + (37.5 + (100 - 25) / perMinute) * MINUTE;
  expect(forecastOf('DailyApiRequests', samples, 100)).toBe(Math.round(expected));
});

test.each([
  ['fewer than six samples', 'DailyApiRequests', [0, 10, 20, 30, 40], 100],
  ['flat', 'DailyApiRequests', [5, 5, 5, 5, 5, 5], 100],
  ['fewer than six since the last fall', 'DailyApiRequests', [0, 10, 20, 5, 10, 20, 30, 40], 100],
  ['a maximum of 0', 'DailyApiRequests', [0, 10, 20, 30, 40, 50], 0],
  ['beyond the hour of an hourly limit', 'HourlyEvents', [0, 10, 20, 30, 40, 50], 100],
  ['beyond the day of a daily limit', 'DailyApiRequests', [0, 1, 2, 3, 4, 5], 200],
  ['beyond 90 days', 'DataStorageMB', [0, 1, 2, 3, 4, 5], 9_000],
])('no forecast: %s', (_, name, used, max) => {
  expect(forecastOf(name, every15(used), max)).toBeNull();
});

test('only what came since the last fall counts, the lowest sample included', () => {
  const samples = every15([80, 90, 0, 10, 20, 30, 40, 50]);
  expect(forecastOf('DataStorageMB', samples, 100)).toBe(START + 180 * MINUTE);
});

test('a limit that is used up is so now', () => {
  const samples = every15([60, 70, 80, 90, 100, 110]);
  expect(forecastOf('DataStorageMB', samples, 100)).toBe(samples.at(-1)?.at);
});
