import {
  builtPackages,
  type CarriedPackages,
  contentOfRelease,
} from '../../../../domain/delivery/org-releases/release-content-rules.ts';

const ID = '04t000000000001AAA';
const OTHER = '04t000000000002AAB';
const project = {
  aliases: new Map([
    ['sales@1.2.0-3', ID],
    ['lib@2.0.0-1', OTHER],
  ]),
  built: new Set(['sales', 'lib']),
  named: new Set(['sales', 'ui', 'lib']),
  directories: [
    { name: 'sales', directory: 'packages/sales' },
    { name: 'ui', directory: 'ui' },
    { name: 'force-app', directory: 'force-app' },
    { name: 'lib', directory: 'lib' },
  ],
};
const content = (carried: Partial<CarriedPackages>, of = project) =>
  contentOfRelease({ artifacts: {}, types: {}, dependencies: {}, ...carried }, of);

test('a candidate without packages is all of the source of its commit', () => {
  expect(content({})).toMatchObject({ versions: [], source: { packages: undefined, artifacts: [] }, leftOut: [] });
  expect(content({}, { ...project, directories: [] }).source).toBeNull();
});

test('versions are told by id, alias or number, and the rest of what the candidate names is source', () => {
  expect(content({ artifacts: { sales: '1.2.0', 'packages/other': ID } })).toMatchObject({
    versions: [ID],
    artifactsOf: new Map([[ID, ['sales', 'packages/other']]]),
    source: { packages: ['force-app'], artifacts: [] },
    leftOut: ['ui', 'lib'],
  });
  expect(content({ artifacts: { ui: '9.9' } })).toMatchObject({
    versions: [],
    source: { packages: ['ui', 'force-app'], artifacts: ['ui'] },
    leftOut: ['sales', 'lib'],
    refusals: [],
  });
});

test('ids of versions stand beside their artifacts, and dependencies go before', () => {
  expect(content({ artifacts: { sales: 'next' }, dependencies: { sales: ID, base: OTHER } })).toMatchObject({
    versions: [OTHER, ID],
    artifactsOf: new Map([
      [OTHER, []],
      [ID, ['sales']],
    ]),
    refusals: [],
  });
  expect(content({ dependencies: { base: '0Ho000000000001AAA' } }).refusals).toEqual([
    expect.stringContaining('The dependency base 0Ho000000000001AAA is no id of a version'),
  ]);
});

test('what can neither be installed nor deployed is refused by name', () => {
  const { refusals } = content({
    artifacts: { sales: '3.0.0', ghost: '1.0', ui: '1.0' },
    types: { ui: 'Data' },
  });
  expect(refusals).toEqual([
    expect.stringContaining('sales 3.0.0'),
    expect.stringContaining('ghost 1.0'),
    expect.stringContaining('ui is data'),
  ]);
});

test('packages of which versions are built are those whose aliases are ids of packages', () => {
  const packageAliases = { sales: '0Ho000000000001AAA', 'sales@1.2.0-3': ID, odd: 3 };
  expect(builtPackages(JSON.stringify({ packageAliases }))).toEqual(new Set(['sales']));
  expect(builtPackages('{}')).toEqual(new Set());
});
