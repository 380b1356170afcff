import { isLargerThan } from '../../../../domain/kernel/json/value-size-rules.ts';

const limits = { values: 4, characters: 10 };

test.each<[unknown]>([[null], ['0123456789'], [[1, 2, 3, 4]], [{ a: [1, { b: 2 }] }], [{ abc: 'de', f: ['ghij'] }]])(
  '%j is within the limits',
  (value) => {
    expect(isLargerThan(value, limits)).toBe(false);
  },
);

test.each<[unknown]>([
  ['0123456789x'],
  [[1, 2, 3, 4, 5]],
  [{ a: [1, { b: 2, c: 3 }] }],
  [{ abc: 'de', f: ['ghijk'] }],
  [{ '0123456789x': 1 }],
])('%j is larger', (value) => {
  expect(isLargerThan(value, limits)).toBe(true);
});
