import { foreignPackages, remoteWarnings } from '../../../../domain/projects/projects/project-warning-rules.ts';

const project = { defaultBranch: 'mian', configuration: {} };
const facts = {
  error: null,
  fetchedAt: '2026-03-02',
  hasDefaultBranch: true,
  branches: [],
  emptyPackages: [],
  areFromManifest: false,
};

test.each([
  [facts, []],
  [
    { ...facts, hasDefaultBranch: false, branches: ['main', 'develop'] },
    ['unknown_default_branch #/defaultBranch The remote has no branch mian; did you mean main?'],
  ],
  [
    { ...facts, fetchedAt: null, hasDefaultBranch: false, error: 'The remote refused the credentials' },
    ['unreachable_remote #/remoteUrl The remote refused the credentials'],
  ],
  [
    { ...facts, emptyPackages: [{ name: 'a/b', path: 'force-app' }] },
    [
      'package_path_matches_nothing #/configuration/packagePaths/a~1b No commit of the remote has changed a file at force-app',
    ],
  ],
  [
    { ...facts, emptyPackages: [{ name: 'ui', path: 'force-app' }], areFromManifest: true },
    [
      'package_path_matches_nothing #/remoteUrl No commit of the remote has changed a file at force-app, where sfdx-project.json has ui',
    ],
  ],
])('%j', (found, expected) => {
  const warnings = remoteWarnings(project, found);
  expect(warnings.map(({ code, pointer, message }) => `${code} ${pointer} ${message}`)).toEqual(expected);
});

test('packages of other domains only', () => {
  const domains = ['plain', { name: 'sales', packages: ['a', 'both'] }, { name: 'service', packages: ['b', 'both'] }];
  const warningsOf = (domain: string) =>
    foreignPackages({ configuration: { domains } }, domain, ['a', 'b', 'both', 'free'], ['value', 'artifacts']).map(
      ({ pointer, message }) => `${pointer} ${message}`,
    );
  expect(warningsOf('sales')).toEqual(['#/value/artifacts/b b is a package of service, not of sales']);
  expect(warningsOf('plain')).toHaveLength(3);
});
