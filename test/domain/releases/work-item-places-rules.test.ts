import {
  type Arrival,
  arrivalOf,
  packagesOfDomains,
  shareOf,
} from '../../../domain/releases/work-item-places-rules.ts';

const change = (packageName: string, commit: number) => ({ packageName, commit });

test.each([
  [[true, true], 'all', 2],
  [[true, false], 'some', 1],
  [[false, false], 'none', 0],
  [[true, undefined], 'unknown', 1],
  [[false, undefined], 'unknown', 0],
] as const)('of changes that are there or not, %j, there is %s', (answers, presence, present) => {
  const changes = answers.map((_, index) => change('app', index));
  expect(shareOf(changes, ({ commit }) => answers[commit])).toEqual({ presence, present, total: 2 });
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
