import { requestedRange } from '../../../../domain/kernel/objects/byte-range-rules.ts';

test.each([
  [null, undefined],
  ['', undefined],
  ['bytes=-', undefined],
  ['bytes=0-1,3-4', undefined],
  ['bytes=5-3', undefined],
  ['items=0-1', undefined],
  ['bytes=0-0', { start: 0, end: 0 }],
  ['bytes=2-', { start: 2, end: 9 }],
  ['bytes=2-100', { start: 2, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-100', { start: 0, end: 9 }],
  ['bytes=9-', { start: 9, end: 9 }],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
])('%s of ten bytes', (header, expected) => {
  expect(requestedRange(header, 10)).toEqual(expected);
});

test('nothing has no part', () => {
  expect(requestedRange('bytes=0-', 0)).toBe('unsatisfiable');
});
