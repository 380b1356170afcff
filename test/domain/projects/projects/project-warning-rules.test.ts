import { foreignPackages } from '../../../../domain/projects/projects/project-warning-rules.ts';

test('packages of other domains only', () => {
  const domains = ['plain', { name: 'sales', packages: ['a', 'both'] }, { name: 'service', packages: ['b', 'both'] }];
  const warningsOf = (domain: string) =>
    foreignPackages({ configuration: { domains } }, domain, ['a', 'b', 'both', 'free'], ['value', 'artifacts']).map(
      ({ pointer, message }) => `${pointer} ${message}`,
    );
  expect(warningsOf('sales')).toEqual(['#/value/artifacts/b b is a package of service, not of sales']);
  expect(warningsOf('plain')).toHaveLength(3);
});
