import { parseRetryAfter } from '../../../../domain/kernel/outbound/retry-after-rules.ts';

test.each([
  ['120', 120_000],
  ['0.5', 500],
  [' 0 ', 0],
  ['Sat, 21 Nov 2026 10:00:30 GMT', 30_000],
  ['Sat, 21 Nov 2026 09:00:00 GMT', 0],
  ['-5', undefined],
  ['soon', undefined],
  ['2026', 2_026_000],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %p is %p ms', (header, expected) => {
  expect(parseRetryAfter(header, Date.parse('2026-11-21T10:00:00Z'))).toBe(expected);
});
