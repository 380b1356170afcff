import {
  deployRequestsSince,
  mayBeAsked,
  whyNotDeployed,
  wishOf,
} from '../../../../domain/delivery/org-deployments/deploy-order-rules.ts';

test('a payload that names tests runs those', () => {
  expect(wishOf({ tests: ['ATest'] })).toMatchObject({
    testLevel: 'RunSpecifiedTests',
    tests: ['ATest'],
    whole: false,
  });
  expect(wishOf({})).toMatchObject({ testLevel: 'default', validateOnly: false, sourcePackages: undefined });
  expect(wishOf({ sourcePackages: ['app'], deletions: true })).toMatchObject({
    sourcePackages: ['app'],
    deletions: true,
  });
});

test.each([
  [{}, 'production', null],
  [{ testLevel: 'NoTestRun' }, 'sandbox', null],
  [{ testLevel: 'NoTestRun' }, 'production', 'Production takes no deployment with NoTestRun'],
  [{ testLevel: 'RunLocalTests', tests: ['A'] }, 'sandbox', 'no tests are named'],
  [{ validateOnly: true, quickDeployOf: '1' }, 'sandbox', 'not both'],
])('%j in %s: %s', (payload, kind, why) => {
  expect(whyNotDeployed(payload, kind)).toEqual(why === null ? null : expect.stringContaining(why));
});

test('an org is asked only for deployments of the same kind', () => {
  expect(deployRequestsSince({ checkOnly: true })("005'", new Date(0))).toBe(
    "SELECT Id FROM DeployRequest WHERE CreatedById = '005\\'' AND CheckOnly = true AND CreatedDate >= 1970-01-01T00:00:00.000Z ORDER BY CreatedDate LIMIT 50",
  );
});

test.each([
  ['the same', {}, {}, true],
  ['a validation', {}, { checkOnly: true }, false],
  ['another level', {}, { options: { testLevel: 'NoTestRun', tests: [] } }, false],
  ['what the platform chose', { testLevel: 'default' }, { options: { testLevel: 'NoTestRun', tests: [] } }, true],
  [
    'tests that were named',
    { testLevel: 'default' },
    { options: { testLevel: 'RunSpecifiedTests', tests: ['A'] } },
    false,
  ],
  [
    'other tests',
    { testLevel: 'RunSpecifiedTests', tests: ['A'] },
    { options: { testLevel: 'RunSpecifiedTests', tests: ['B'] } },
    false,
  ],
  ['options that are not shown', {}, { options: null }, true],
  ['other components', {}, { components: { total: 4, deployed: 0, errors: 0 } }, 'unknown'],
  ['components that are not counted yet', {}, { components: { total: 0, deployed: 0, errors: 0 } }, true],
  ['a quick deployment', { isQuick: true }, { options: { testLevel: 'NoTestRun', tests: [] } }, true],
] as const)('whether a deployment is the one that was asked for: %s', (_, asked, shown, is) => {
  expect(
    mayBeAsked({ checkOnly: false, testLevel: 'RunLocalTests', tests: [], components: 3, isQuick: false, ...asked }, {
      checkOnly: false,
      options: { testLevel: 'RunLocalTests', tests: [] },
      components: { total: 3, deployed: 0, errors: 0 },
      ...shown,
    } as Parameters<typeof mayBeAsked>[1]),
  ).toBe(is);
});
