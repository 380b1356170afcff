import {
  changedHolders,
  changedUnits,
  directoryOf,
  goneUnits,
  isNeverDeleted,
  plannedDeletions,
  withoutTwins,
} from '../../../../domain/delivery/source/delta-rules.ts';
import {
  chosenPackages,
  packageFinder,
  readProjectFile,
  whyReadOtherwise,
} from '../../../../domain/delivery/source/project-file-rules.ts';
import type { SourceUnit } from '../../../../domain/delivery/source/source-converter.port.ts';
import {
  looseWarning,
  sourceFiles,
  whyTooMuchListed,
  whyTooMuchSource,
  whyTooMuchToDeploy,
} from '../../../../domain/delivery/source/source-file-rules.ts';

const unit = (name: string, files: string[], more: Partial<SourceUnit> = {}): SourceUnit => {
  const [type = '', fullName = ''] = name.split(' ');
  const known = { id: 0, path: files[0] ?? '', needs: [], parent: null, innerTypes: [], isMerged: false };
  return { ...known, type, fullName, files, ...more };
};
const sourceWith = (units: SourceUnit[], contents: Readonly<Record<string, string>> = {}) => ({
  units,
  blobs: new Map(units.flatMap(({ files }) => files.map((file) => [file, contents[file] ?? '1'] as const))),
});
const names = (units: readonly { type: string; fullName: string }[]) =>
  units.map(({ type, fullName }) => `${type} ${fullName}`);

test('a component differs when one of its files does, came, went or moved', () => {
  const base = sourceWith([
    unit('ApexClass Same', ['a/Same.cls']),
    unit('ApexClass Edited', ['a/Edited.cls']),
    unit('ApexClass Moved', ['a/Moved.cls']),
    unit('LightningComponentBundle Less', ['a/less.js', 'a/less.css']),
  ]);
  const head = sourceWith(
    [
      unit('ApexClass Same', ['a/Same.cls']),
      unit('ApexClass Edited', ['a/Edited.cls']),
      unit('ApexClass Moved', ['b/Moved.cls']),
      unit('ApexClass New', ['a/New.cls']),
      unit('LightningComponentBundle Less', ['a/less.js']),
    ],
    { 'a/Edited.cls': '2' },
  );
  expect(names(changedUnits(head, base))).toEqual([
    'ApexClass Edited',
    'ApexClass Moved',
    'ApexClass New',
    'LightningComponentBundle Less',
  ]);
  expect(goneUnits(head, base)).toEqual([]);
  expect(names(goneUnits(base, head))).toEqual(['ApexClass New']);
});

test('with an object come its parts, and a part comes alone; with an object that is gone its parts go unnamed', () => {
  const parent = { type: 'CustomObject', fullName: 'A__c' };
  const units = [
    unit('CustomObject A__c', ['o/A__c.object-meta.xml'], { isMerged: true }),
    unit('CustomField A__c.X__c', ['o/X__c.field-meta.xml'], { parent, isMerged: true }),
    unit('CustomField A__c.Y__c', ['p/Y__c.field-meta.xml'], { parent, isMerged: true }),
  ];
  const base = sourceWith(units);
  expect(names(changedUnits(sourceWith(units, { 'o/A__c.object-meta.xml': '2' }), base))).toEqual(names(units));
  expect(names(changedUnits(sourceWith(units, { 'o/X__c.field-meta.xml': '2' }), base))).toEqual([
    'CustomField A__c.X__c',
  ]);
  expect(names(goneUnits(sourceWith([]), base))).toEqual(['CustomObject A__c']);
  // It would take the part along that is still there.
  expect(names(goneUnits(sourceWith(units.slice(1, 2)), base))).toEqual(['CustomField A__c.Y__c']);
  expect(names(goneUnits(sourceWith(units.slice(0, 2)), base))).toEqual(['CustomField A__c.Y__c']);
});

test('what only left the project file is not gone', () => {
  const base = sourceWith([unit('ApexClass A', ['old/A.cls'])]);
  expect(goneUnits({ units: [], blobs: new Map([['old/A.cls', '1']]) }, base)).toEqual([]);
});

test('files that hold others are looked into when they differ, and are never deleted themselves', () => {
  const labels = (file: string) => unit('CustomLabels CustomLabels', [file], { innerTypes: ['CustomLabel'] });
  const base = sourceWith([labels('a/l.xml'), labels('b/l.xml')]);
  const head = sourceWith([labels('b/l.xml')]);
  expect(changedHolders(head, base)).toEqual({ head: head.units, base: base.units });
  expect(changedHolders(base, base)).toEqual({ head: [], base: [] });
  expect(changedHolders(head, sourceWith([]))).toEqual({ head: [], base: [] });
  expect(goneUnits(sourceWith([]), base)).toEqual([]);
});

test('of components of one name in several packages the last is deployed, but those that become one', () => {
  const units = [unit('ApexClass A', ['a/A.cls']), unit('ApexClass A', ['b/A.cls'])];
  expect(withoutTwins(units)).toEqual({ units: [units[1]], twins: [{ type: 'ApexClass', fullName: 'A' }] });
  const merged = units.map((each) => ({ ...each, isMerged: true }));
  expect(withoutTwins(merged)).toEqual({ units: merged, twins: [] });
});

test('deletions are made or kept, but of what is there again, and of what the platform never deletes', () => {
  const [a, b, there] = ['A', 'B', 'There'].map((fullName) => ({ type: 'ApexClass', fullName }));
  const never = { type: 'RecordType', fullName: 'A__c.Old' };
  const gone = [a, never].flatMap((name) => name ?? []);
  const pending = [a, b, there].flatMap((name) => name ?? []);
  const isThere = ({ fullName }: { fullName: string }) => fullName === 'There';
  expect(plannedDeletions(gone, pending, { deletions: true, isThere })).toEqual({
    deletions: [a, b],
    pending: [],
    never: [never],
  });
  expect(plannedDeletions(gone, pending, { deletions: false, isThere })).toEqual({
    deletions: [],
    pending: [a, b],
    never: [never],
  });
  for (const [name, expected] of Object.entries({
    'CustomObject Account': true,
    'CustomObject A__c': false,
    'CustomField Account.Industry': true,
    'CustomField Account.A__c': false,
    'CustomField A__c.Name': true,
    'Profile A': false,
  }))
    expect([name, isNeverDeleted(unit(name, []))]).toEqual([name, expected]);
});

test('a project file names packages by name or directory, and says what reads source otherwise', () => {
  const read = (file: object) => {
    const project = readProjectFile(JSON.stringify(file));
    if (typeof project === 'string') throw new Error(project);
    return project;
  };
  const packageDirectories = [{ path: './a/', package: 'A', versionNumber: '1.0.0.NEXT' }, { path: 'a/inner' }];
  const project = read({ packageDirectories, sourceApiVersion: '60.0' });
  expect(project.packages).toEqual([
    { name: 'A', directory: 'a' },
    { name: 'a/inner', directory: 'a/inner' },
  ]);
  expect(chosenPackages(project, ['a/inner/', 'A'])).toEqual(project.packages);
  expect(chosenPackages(project, ['a'])).toEqual(project.packages.slice(0, 1));
  expect(['a/inner/x', 'a/x', 'ab/x'].map(packageFinder(project))).toEqual(['a/inner', 'A', '']);
  const now = { project, forceIgnore: '' };
  const later = read({
    packageDirectories: [{ ...packageDirectories[0], versionNumber: '2.0.0.NEXT' }, { path: 'a/inner' }],
  });
  expect(whyReadOtherwise({ project: later, forceIgnore: '' }, now)).toBeUndefined();
  const preset = read({ packageDirectories, sourceBehaviorOptions: ['decomposePermissionSetBeta2'] });
  expect(whyReadOtherwise({ project: preset, forceIgnore: '' }, now)).toMatch(/sfdx-project.json/);
  expect(whyReadOtherwise({ project, forceIgnore: 'x' }, now)).toMatch(/.forceignore/);
  expect(readProjectFile('{"packageDirectories":[null]}')).toMatch(/without path/);
});

test('limits of the platform and of a build are told in words', () => {
  expect(whyTooMuchToDeploy({ files: 10_000, bytes: 1 })).toBeUndefined();
  expect(whyTooMuchToDeploy({ files: 10_001, bytes: 1 })).toMatch(/10,001 files/);
  expect(whyTooMuchToDeploy({ files: 1, bytes: 700 * 1024 * 1024 })).toMatch(/700 MB unzipped/);
  expect(whyTooMuchSource({ files: 100_001, bytes: 0 })).toMatch(/more than 100,000 files/);
  expect(whyTooMuchListed({ files: 300_000, characters: 1 })).toBeUndefined();
  expect(whyTooMuchListed({ files: 300_001, characters: 1 })).toMatch(/more than 300,000 files/);
  expect(whyTooMuchListed({ files: 1, characters: 2 ** 30 })).toMatch(/paths/);
  expect(whyTooMuchSource({ files: 1, bytes: 2 ** 40 })).toMatch(/larger than 600 MB/);
  const file = (path: string) => ({ path, kind: 'file' as const, blob: '1' });
  for (const path of ['a/b\u0000', 'a/b\\c', 'a/b?', 'a/\uFFFD', 'a//b', 'a/../b', 'a/.git/b'])
    expect(sourceFiles([file(path)], new Set(['a']))).toMatch(/has characters/);
  expect(sourceFiles([file('a/ü – ✓.cls'), file('b/?')], new Set(['a']))).toEqual(new Map([['a/ü – ✓.cls', '1']]));
  expect(looseWarning(Array.from({ length: 12 }, (_, index) => `f${index}`))).toEqual([
    expect.stringMatching(/f9 and 2 more$/),
  ]);
});

test('the directory of a path is the innermost, by whole names; a project lists 500 packages at most, none of them too deep', () => {
  const directories = new Set(['a', 'a/b', 'c/d']);
  const found = ['a', 'a/x', 'a/b/x/y', 'ab/x', 'c/x', 'x'].map((path) => directoryOf(directories, path));
  expect(found).toEqual(['a', 'a', 'a/b', undefined, undefined, undefined]);
  expect(directoryOf(new Set(['', 'a']), 'x')).toBe('');
  const listing = (paths: string[]) =>
    readProjectFile(JSON.stringify({ packageDirectories: paths.map((path) => ({ path })) }));
  const many = Array.from({ length: 501 }, (_, index) => `p${index}`);
  expect(listing(many)).toMatch(/more than 500 packageDirectories/);
  expect(listing(many.slice(1))).toMatchObject({ packages: expect.any(Array) });
  expect(listing(['d/'.repeat(51)])).toMatch(/is too deep/);
});
