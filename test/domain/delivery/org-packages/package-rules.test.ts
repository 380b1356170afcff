import { planInstall } from '../../../../domain/delivery/org-packages/install-plan-rules.ts';
import {
  isLocked,
  keyProblem,
  mayPass,
  validationOf,
} from '../../../../domain/delivery/org-packages/package-answer-rules.ts';
import {
  aliasesOfManifest,
  compareNumbers,
  keysByVersion,
  NO_ALIASES,
  versionAsked,
} from '../../../../domain/delivery/org-packages/package-name-rules.ts';
import { inUninstallOrder, installedAs } from '../../../../domain/delivery/org-packages/uninstall-plan-rules.ts';
import type { CrmPackageVersion, InstalledPackage } from '../../../../domain/orgs/crm/crm-packages.port.ts';
import { longId } from '../../../../domain/orgs/crm/org-id-rules.ts';

const id = (letter: string) => longId(`04t00000000000${letter}`);
const version = (letter: string, more: Partial<CrmPackageVersion> = {}): CrmPackageVersion => ({
  id: id(letter),
  packageId: `033${letter}`,
  name: letter,
  number: '1.0.0.1',
  isReleased: true,
  isUnlocked: true,
  needsKey: false,
  validation: 'NO_ERRORS_DETECTED',
  dependencies: [],
  ...more,
});
const installed = ({ id: versionId, packageId, name, number }: CrmPackageVersion): InstalledPackage => ({
  versionId,
  packageId,
  name,
  number,
  namespace: null,
});
const plan = (named: readonly CrmPackageVersion[], all: readonly CrmPackageVersion[], more: object = {}) =>
  planInstall({
    named: named.map((each) => each.id),
    versions: new Map([...named, ...all].map((each) => [each.id, each])),
    withKey: new Set<string>(),
    target: { installed: [], isRelease: false, ...more },
  });
const names = ({ planned }: ReturnType<typeof plan>) =>
  planned.map(({ version: { name, number }, skip }) => `${name} ${number}${skip === null ? '' : ' skipped'}`);

describe('the plan of an installation', () => {
  test('installs what is needed first, once, also behind a chain and around a cycle', () => {
    const c = version('C');
    const b = version('B', { dependencies: [c.id] });
    const a = version('A', { dependencies: [b.id, c.id] });
    const d = version('D', { dependencies: [a.id] });
    expect(names(plan([d, a], [b, c]))).toEqual(['C 1.0.0.1', 'B 1.0.0.1', 'A 1.0.0.1', 'D 1.0.0.1']);
    const round = version('C', { dependencies: [a.id] });
    expect(names(plan([a], [b, round]))).toEqual(['C 1.0.0.1', 'B 1.0.0.1', 'A 1.0.0.1']);
  });

  test('takes of several versions of a package the one that satisfies all, behind what that needs', () => {
    const e = version('E');
    const low = version('C');
    const high = version('H', { packageId: '033C', name: 'C', number: '1.2.0.1', dependencies: [e.id] });
    const a = version('A', { dependencies: [low.id] });
    const b = version('B', { dependencies: [high.id] });
    expect(names(plan([a, b], [low, high, e]))).toEqual(['E 1.0.0.1', 'C 1.2.0.1', 'A 1.0.0.1', 'B 1.0.0.1']);
    expect(plan([low, b], [high, e]).refusals).toEqual([
      'C 1.0.0.1 is asked for, and C 1.2.0.1 is needed or asked for in the same run',
    ]);
  });

  test('skips what is there, or needed and there in a later version; refuses an earlier one that is named', () => {
    const old = version('C');
    const later = installed(version('L', { packageId: '033C', number: '1.10.0.1' }));
    const a = version('A', { dependencies: [old.id] });
    expect(names(plan([a], [old], { installed: [later, installed(a)] }))).toEqual([
      'C 1.0.0.1 skipped',
      'A 1.0.0.1 skipped',
    ]);
    expect(plan([old], [], { installed: [later] }).refusals).toEqual([expect.stringContaining('the later 1.10.0.1')]);
  });

  test('refuses betas for releases, missing keys, and what the org refuses, each by name', () => {
    const beta = version('B', { isReleased: false });
    expect(plan([beta], []).refusals).toEqual([]);
    expect(plan([beta], [], { isRelease: true }).refusals).toEqual([expect.stringMatching(/^B 1.0.0.1: it is a beta/)]);
    const key = version('K', { needsKey: true });
    const no = version('N', { validation: 'NO_ACCESS' });
    expect(plan([key, no], []).refusals).toEqual([
      expect.stringMatching(/^K 1.0.0.1: it needs an installation key/),
      expect.stringContaining('(NO_ACCESS)'),
    ]);
    const extension = version('A', { validation: 'PACKAGE_NOT_INSTALLED', dependencies: [beta.id] });
    expect(plan([extension], [beta]).refusals).toEqual([]);
  });
});

test.each([
  ['NO_ERRORS_DETECTED', 'good'],
  ['NoErrorsDetected', 'good'],
  ['SOMETHING_NEW', 'good'],
  ['PACKAGE_UNAVAILABLE', 'waiting'],
  ['PACKAGE_UNAVAILABLE_CRC', 'waiting'],
  ['UninstallInProgress', 'waiting'],
  ['CANNOT_INSTALL_EARLIER_VERSION', 'refused'],
  ['BetaInstallIntoProductionOrg', 'refused'],
])('a validation %s is %s', (status, is) => {
  expect(validationOf(status)).toMatchObject({ is });
});

test('locks, keys and errors that pass are told from others', () => {
  expect(isLocked({ code: 'ALREADY_IN_PROCESS', message: '' })).toBe(true);
  expect(isLocked({ code: null, message: 'A background job is being executed' })).toBe(true);
  expect(isLocked({ code: 'INVALID_FIELD', message: 'no' })).toBe(false);
  expect(keyProblem({ code: 'X', message: 'Invalid InstallationKey for SubscriberPackageVersion' })).toBeDefined();
  expect(keyProblem({ code: 'INVALID_FIELD', message: 'no' })).toBeUndefined();
  expect(mayPass(['This package is not yet available', 'invalid cross reference id'])).toBe(true);
  expect(mayPass(['This package is not yet available', 'Apex does not compile'])).toBe(false);
  expect(mayPass([])).toBe(false);
});

test('versions are found by id, alias or number', () => {
  const manifest = { packageAliases: { 'A@1.0.0-1': id('A'), 'A@1.0.0-2': id('B'), 'A@1.1.0-1': id('C'), A: '0Ho1' } };
  const aliases = aliasesOfManifest(JSON.stringify(manifest)) ?? NO_ALIASES;
  expect([...aliases.keys()]).toEqual(['A@1.0.0-1', 'A@1.0.0-2', 'A@1.1.0-1']);
  const asked = (text: string) => versionAsked({ name: 'A', version: text }, aliases);
  expect(asked(id('Z').slice(0, 15))).toMatchObject({ versionId: id('Z') });
  for (const given of ['A@1.1.0-1', '1.1.0-1', '1.1.0.1', 'v1.1.0', '1.1'])
    expect(asked(given)).toEqual({ isOk: true, versionId: id('C') });
  expect(asked('1.0.0')).toMatchObject({ reason: 'A 1.0.0 may be A@1.0.0-1, A@1.0.0-2: name one of them' });
  expect(asked('A@1.1.0-2')).toMatchObject({ reason: expect.stringContaining('no such alias') });
  expect(aliasesOfManifest('{')).toBeUndefined();
  expect(aliasesOfManifest('null')?.size).toBe(0);
  expect([...keysByVersion({ [id('Z').slice(0, 15)]: 'z', 'A@1.1.0-1': 'c', 'B@1': 'b' }, aliases)]).toEqual([
    [id('Z'), { keyName: id('Z').slice(0, 15), key: 'z' }],
    [id('C'), { keyName: 'A@1.1.0-1', key: 'c' }],
  ]);
  expect(['1.10.0.1', '1.9.0.9', '1.9.0.10'].toSorted(compareNumbers)).toEqual(['1.9.0.9', '1.9.0.10', '1.10.0.1']);
});

test('packages to uninstall are those that the org has, each before what it needs', () => {
  const [a, b, c] = ['A', 'B', 'C'].map((letter) => installed(version(letter)));
  if (!a || !b || !c) throw new Error('no packages');
  const all = [a, b, { ...c, namespace: 'ns' }];
  expect(installedAs(['a', a.versionId, 'NS', '033B', 'X'], all, NO_ALIASES)).toEqual({
    packages: [a, all[2], b],
    unknown: ['X'],
    ambiguous: [],
  });
  expect(installedAs(['a'], [a, { ...b, namespace: 'A' }], NO_ALIASES).ambiguous).toEqual([
    `a (${a.packageId}, ${b.packageId})`,
  ]);
  const needs = new Map([
    [a.versionId, [b.versionId]],
    [b.versionId, [c.versionId]],
  ]);
  expect(inUninstallOrder([b, c, a], needs).map(({ name }) => name)).toEqual(['A', 'B', 'C']);
});
