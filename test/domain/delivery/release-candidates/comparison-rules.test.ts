import {
  changePackages,
  comparePackages,
  unknownPackages,
} from '../../../../domain/delivery/release-candidates/comparison-rules.ts';

test('packages are new, updated or unchanged; a newer one in the environment is out of sync', () => {
  const definition = {
    artifacts: { b: '2.0.0', a: '1.10.0', c: '1.0.0', d: '1.0.0-5' },
    packageDependencies: { a: '04t' },
    artifactTypes: { c: 'changeset' },
  };
  expect(comparePackages(definition, { b: '1.9.0', c: '1.1.0', d: '1.0.0.5', other: '9' })).toEqual({
    packagesToInstall: [{ name: 'a', type: 'package', isOutOfSync: false, versions: { from: null, to: '1.10.0' } }],
    packagesToUpdate: [
      { name: 'b', type: 'artifact', isOutOfSync: false, versions: { from: '1.9.0', to: '2.0.0' } },
      { name: 'c', type: 'changeset', isOutOfSync: true, versions: { from: '1.1.0', to: '1.0.0' } },
    ],
    unchanged: [{ name: 'd', type: 'artifact', isOutOfSync: false, versions: { from: '1.0.0.5', to: '1.0.0-5' } }],
    totalChanges: 3,
    installOrder: ['a', 'b', 'c'],
    dependencyCycles: [],
  });
});

test('packages to install and to update follow their dependencies, and those that depend on each other are named', () => {
  const definition = { artifacts: { a: '2', b: '2', c: '2', d: '2', e: '2' } };
  const dependencies = new Map([
    ['a', ['b', 'c']],
    ['b', ['outside']],
    ['outside', ['d']],
    ['c', ['e']],
    ['e', ['c']],
  ]);
  const compared = comparePackages(definition, { a: '1', b: '1', d: '1' }, dependencies);
  const names = (entries: readonly { name: string }[]) => entries.map(({ name }) => name);
  expect(names(compared.packagesToUpdate)).toEqual(['d', 'b', 'a']);
  expect(names(compared.packagesToInstall)).toEqual(['c', 'e']);
  expect(compared).toMatchObject({ installOrder: ['c', 'd', 'b', 'e', 'a'], dependencyCycles: [['c', 'e']] });
});

test('a definition without packages changes nothing, and names of prototypes are no packages', () => {
  expect(comparePackages({}, { a: '1' })).toMatchObject({ totalChanges: 0, unchanged: [] });
  expect(comparePackages({ artifacts: { constructor: '1.0.0' } }, {}).packagesToInstall).toMatchObject([
    { name: 'constructor', versions: { from: null } },
  ]);
});

test('a change takes packages out and overrides versions, and names what it does not know', () => {
  const artifacts = { a: '1', b: '1', c: '1' };
  expect(changePackages(artifacts, { excludePackages: ['a'], versionOverrides: { b: '2' } })).toEqual({
    b: '2',
    c: '1',
  });
  expect(unknownPackages(artifacts, { excludePackages: ['x'], versionOverrides: { b: '2', y: '1' } })).toEqual([
    'x',
    'y',
  ]);
});

test('a package that is installed in the same version from another commit is a change', () => {
  const definition = { artifacts: { app: '1.0.0', lib: '1.0.0' } };
  expect(comparePackages(definition, { app: '1.0.0', lib: '1.0.0' }, new Map(), new Set(['app']))).toMatchObject({
    totalChanges: 1,
    packagesToUpdate: [
      { name: 'app', isOtherContent: true, isOutOfSync: false, versions: { from: '1.0.0', to: '1.0.0' } },
    ],
    unchanged: [{ name: 'lib' }],
    installOrder: ['app'],
  });
});
