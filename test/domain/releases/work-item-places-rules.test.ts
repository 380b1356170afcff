import {
  type Arrival,
  arrivalOf,
  itemChanges,
  packagesOfDomains,
  shareOf,
} from '../../../domain/releases/work-item-places-rules.ts';

const touches = (packageName: string, isOfAllParents = true) => ({
  packageName,
  isOfFirstParent: true,
  isOfAllParents,
});
const change = (packageName: string, commit: number) => ({ packageName, commit });

test('merges count for what they changed themselves, and for what they brought when nothing else names the item', () => {
  const merge = { commit: 2, isMerge: true, packages: [touches('app', false), touches('lib')] };
  const plain = { commit: 1, isMerge: false, packages: [touches('app')] };
  expect(itemChanges([merge, plain])).toEqual([change('lib', 2), change('app', 1)]);
  expect(itemChanges([merge])).toEqual([change('app', 2), change('lib', 2)]);
  expect(itemChanges([])).toEqual([]);
});

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

test('a work item arrives with the first version that has a change, and is complete with the last change', () => {
  const arrival = (packageName: string, version: string, day: number): Arrival => ({
    packageName,
    version,
    releaseName: `r${day}`,
    deployedAt: `2026-01-0${day}T00:00:00.000Z`,
  });
  const arrivals = [arrival('app', '3', 5), arrival('app', '1', 1), arrival('lib', '2', 4), arrival('app', '2', 3)];
  const holds = ({ version }: Arrival, { commit }: { commit: number }) => Number(version) >= commit;
  expect(arrivalOf([change('app', 2), change('lib', 1)], arrivals, holds)).toEqual({
    first: arrivals[3],
    last: arrivals[2],
  });
  expect(arrivalOf([change('app', 2), change('lib', 3)], arrivals, holds)).toEqual({ first: arrivals[3], last: null });
  expect(arrivalOf([change('web', 1)], arrivals, holds)).toEqual({ first: null, last: null });
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
