import {
  type Arrival,
  arrivalOf,
  packagesOfDomains,
  shareOf,
} from '../../../domain/releases/work-item-places-rules.ts';

test.each([
  [[2, 2], 'all', 4],
  [[2, 1], 'some', 3],
  [[2, 0], 'some', 2],
  [[0, 0], 'none', 0],
  [[2, undefined], 'unknown', 2],
  [[0, undefined], 'unknown', 0],
] as const)('of two packages with two changes each, of which %j are there, there is %s', (there, presence, present) => {
  expect(shareOf(there.map((each) => ({ present: each, total: 2 })))).toEqual({ presence, present, total: 4 });
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
