import { remoteWarnings } from '../../../../domain/code/git/mirror/remote-warning-rules.ts';

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
  const warnings = remoteWarnings('mian', found);
  expect(warnings.map(({ code, pointer, message }) => `${code} ${pointer} ${message}`)).toEqual(expected);
});
