import {
  type Arrival,
  arrivalOf,
  isCarriedOver,
  packagesOfDomains,
  shareOf,
  withPicks,
} from '../../../../domain/delivery/releases/places/work-item-places-rules.ts';

test.each([
  [[2, 2], 'all', 4],
  [[2, 1], 'some', 3],
  [[2, 0], 'some', 2],
  [[0, 0], 'none', 0],
  [[2, undefined], 'unknown', 2],
  [[0, undefined], 'unknown', 0],
] as const)('of two packages with two changes each, of which %j are there, there is %s', (there, presence, present) => {
  expect(shareOf(there.map((each) => ({ present: each, total: 2, isCarriedOver: false })))).toEqual({
    presence,
    present,
    total: 4,
  });
});

test('what lacks a change is complete where that came by another commit', () => {
  const part = (present: number | undefined, isPicked: boolean) => ({ present, total: 2, isCarriedOver: isPicked });
  expect(shareOf([part(1, true), part(2, false)])).toEqual({ presence: 'all', present: 3, total: 4 });
  expect(shareOf([part(1, true), part(1, false)])).toMatchObject({ presence: 'some' });
  expect(shareOf([part(1, true), part(undefined, false)])).toMatchObject({ presence: 'unknown' });
});

test.each([
  ['has all that the others have', [0b11], [[0b01], [0b11]], true],
  ['has its own commits, as each other one has', [0b0011], [[0b1100], [0b0011]], true],
  ['lacks a later commit', [0b01], [[0b11]], false],
  ['has its own commit, and another one has that and more', [0b001], [[0b110], [0b111]], false],
  ['has nothing', [0], [[0b01]], false],
  ['has nothing, as the others', [0], [[0]], true],
  ['has its own among further commits', [0, 0b1], [[0b1, 0]], true],
] as const)('a version that %s', (_, held, others, expected) => {
  expect(isCarriedOver(held, others)).toBe(expected);
});

test('a change is there where one is that is the same', () => {
  expect(
    withPicks(
      [0b001, 0],
      [
        [0, 33],
        [1, 2],
      ],
    ),
  ).toEqual([0b001, 0b10]);
  expect(withPicks([0, 1 << 31], [[63, 0]])).toEqual([1, 1 << 31]);
});

test('a work item arrives with the first of its changes, and is complete with the last change', () => {
  const [early, late]: Arrival[] = [
    { releaseName: 'r3', at: 3 },
    { releaseName: 'r4', at: 4 },
  ];
  expect(arrivalOf([late, early])).toEqual({ first: early, last: late });
  expect(arrivalOf([early, undefined])).toEqual({ first: early, last: null });
  expect(arrivalOf([undefined])).toEqual({ first: null, last: null });
});

test('packages belong to the domain that lists them, and else to those whose candidates hold them', () => {
  const held = new Map([
    ['core', new Set(['app', 'lib'])],
    ['ui', new Set(['web'])],
  ]);
  expect([...packagesOfDomains({ domains: ['ui', { name: 'core', packages: ['app'] }] }, held)]).toEqual([
    ['core', new Set(['app'])],
    ['ui', new Set(['web'])],
  ]);
});
