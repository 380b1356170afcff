import { itemKeyOf, keyOfRef } from '../../../../domain/work/work-item-requests/item-reference-rules.ts';

const storefront = { repository: 'acme/storefront' };
const sales = { organization: 'acme', project: 'sales' };
const PLACES = { 'host-a': storefront, 'host-b': sales, 'tracker-a': {} };

test.each([
  ['host-a', '#12', '12'],
  ['host-a', 'acme/storefront#12', '12'],
  ['host-a', 'Acme/Storefront#12', '12'],
  ['host-a', ' 12 ', '12'],
  ['host-b', 'AB#7', '7'],
  ['host-b', 'acme/sales#7', '7'],
  ['host-b', 'Acme/Sales/crm#7', '7'],
  ['tracker-a', 'shop-12', 'SHOP-12'],
] as const)('on %s %s is the work item %s', (platform, written, key) => {
  expect(itemKeyOf(platform, written, PLACES[platform])).toBe(key);
});

const HOSTILE = [
  '../x',
  '../../../other/secret/issues/7',
  '1?x',
  '1/lock',
  '%2e%2e',
  '..',
  '1#2#3',
  '0',
  '',
  '../forks?x=#1',
];

test.each(HOSTILE)('%j is no work item of any tracker', (written) => {
  for (const platform of ['host-a', 'host-b', 'tracker-a'] as const)
    expect(itemKeyOf(platform, written, PLACES[platform])).toBeUndefined();
});

test('a work item of another location is none of the project', () => {
  expect(itemKeyOf('host-a', 'acme/platform#12', storefront)).toBeUndefined();
  expect(itemKeyOf('host-b', 'acme/other#12', sales)).toBeUndefined();
  expect(itemKeyOf('host-b', 'sales#12', sales)).toBeUndefined();
  const issue = { type: 'host-a-issue', key: '12' };
  expect(keyOfRef({ ...issue, repository: 'acme/platform' }, storefront)).toBeUndefined();
  expect(keyOfRef({ ...issue, repository: 'acme/storefront' }, undefined)).toBeUndefined();
  expect(keyOfRef({ ...issue, key: '../x' }, storefront)).toBeUndefined();
  expect(keyOfRef({ ...issue, repository: 'acme/storefront' }, storefront)).toBe('12');
  expect(keyOfRef({ ...issue, key: '#12' }, storefront)).toBe('12');
  expect(keyOfRef(issue, undefined)).toBe('12');
  const item = { type: 'host-b-workitem', key: '12', organization: 'acme' };
  expect(keyOfRef({ ...item, project: 'sales' }, sales)).toBe('12');
  expect(keyOfRef({ ...item, project: 'other' }, sales)).toBeUndefined();
});
