import {
  deployRequestsSince,
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
