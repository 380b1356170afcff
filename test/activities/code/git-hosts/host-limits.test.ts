import { limitedForMs } from '../../../../activities/adapters/git-hosts/host-failures.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const inSeconds = (seconds: number) => String(NOW / 1_000 + seconds);

test.each([
  ['a missing permission', 403, {}, 'Resource not accessible', undefined],
  ['a used up limit on another failure', 404, { 'x-ratelimit-remaining': '0' }, '', undefined],
  ['the primary limit', 403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inSeconds(90) }, '', 90_000],
  ['a reset that is over', 403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inSeconds(-5) }, '', 1_000],
  ['a reset that is no time', 429, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': 'soon' }, '', 60_000],
  ['the secondary limit', 403, { 'retry-after': '30', 'x-ratelimit-remaining': '12' }, '', 30_000],
  ['a secondary limit by its message', 403, {}, 'You have exceeded a secondary rate limit', 60_000],
  ['a secondary limit beside the reset of the primary one', 429, { 'x-ratelimit-reset': inSeconds(900) }, '', 60_000],
  ['a date', 429, { 'retry-after': 'Sun, 22 Nov 2026 12:02:00 GMT' }, '', 120_000],
  ['no time at all', 429, {}, '', 60_000],
] as const)('%s', (_, status, headers, message, expected) => {
  expect(limitedForMs(status, headers, { message, nowMs: NOW })).toBe(expected);
});
