import { installedBy, installsAll } from '../../../../domain/delivery/deployments/report-rules.ts';

const artifacts = { app: '1.0', lib: '2.0' };
const report = { status: 'Success' as const, packages: undefined, packageDetails: [] };

test.each([
  ['a success installs all of the candidate', report, artifacts],
  ['a success that names packages installs those', { ...report, packages: { app: '1.1' } }, { app: '1.1' }],
  ['a success that names no package at all installs none', { ...report, packages: {} }, {}],
  [
    'a failed entry within a success is not installed',
    { ...report, packageDetails: [{ name: 'lib', status: 'FAILED' }] },
    { app: '1.0' },
  ],
  [
    'nor is one with an error, whatever its status',
    { ...report, packageDetails: [{ name: 'app', status: 'Success', error: 'timeout' }] },
    { lib: '2.0' },
  ],
  [
    'the last entry of a package counts',
    {
      ...report,
      packageDetails: [
        { name: 'app', status: 'Failed' },
        { name: 'app', status: 'Success' },
      ],
    },
    artifacts,
  ],
  ['a failure installs nothing', { ...report, status: 'Failed' as const, packages: artifacts }, {}],
  ['nor does what was cancelled', { ...report, status: 'Cancelled' as const, packages: artifacts }, {}],
  ['a part without packages or entries installs nothing', { ...report, status: 'Partial' as const }, {}],
  [
    'a part installs the packages that it names, whatever the entries say',
    {
      ...report,
      status: 'Partial' as const,
      packages: { app: '1.0' },
      packageDetails: [
        { name: 'lib', status: 'Success' },
        { name: 'app', status: 'Failed' },
      ],
    },
    { app: '1.0' },
  ],
])('%s', (_, facts, installed) => {
  expect(installedBy(facts, artifacts)).toEqual(installed);
});

test.each([
  [{ status: 'Success' }, '1.0'],
  [{ status: 'succeeded', version: '1.1' }, '1.1'],
  [{ status: 'INSTALLED' }, '1.0'],
  [{ status: 'Deployed', error: '' }, '1.0'],
  [{ skipped: true, version: '1.0' }, '1.0'],
  [{ skipped: true, version: '1.0', status: 'Skipped' }, '1.0'],
  [{ skipped: true }, undefined],
  [{ skipped: true, version: '1.0', error: 'locked' }, undefined],
  [{ status: 'Success', error: 'timeout' }, undefined],
  [{ status: 'Queued' }, undefined],
  [{ version: '1.0' }, undefined],
])('of a part, the entry %j says that %s is installed', (entry, version) => {
  const facts = { ...report, status: 'Partial' as const, packageDetails: [{ name: 'app', ...entry }] };
  expect(installedBy(facts, artifacts)).toEqual(version === undefined ? {} : { app: version });
});

test('an entry without a version of a package that the candidate does not hold installs nothing', () => {
  const facts = { ...report, status: 'Partial' as const, packageDetails: [{ name: 'other', status: 'Success' }] };
  expect(installedBy(facts, artifacts)).toEqual({});
});

test('all is installed by a success with each package in its version', () => {
  expect(installsAll('Success', { ...artifacts, more: '1' }, artifacts)).toBe(true);
  expect(installsAll('Success', { app: '1.0', lib: '2.1' }, artifacts)).toBe(false);
  expect(installsAll('Partial', artifacts, artifacts)).toBe(false);
});
