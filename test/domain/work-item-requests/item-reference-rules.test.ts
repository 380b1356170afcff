import { itemKeyOf, keyOfRef } from '../../../domain/work-item-requests/item-reference-rules.ts';

test.each([
  ['host-a', '#12', '12'],
  ['host-a', 'acme/storefront#12', '12'],
  ['host-a', 'Acme/Storefront#12', '12'],
  ['host-a', ' 12 ', '12'],
  ['host-b', 'AB#7', '7'],
  ['tracker-a', 'shop-12', 'SHOP-12'],
] as const)('on %s %s is the work item %s', (platform, written, key) => {
  expect(itemKeyOf(platform, written, 'acme/storefront')).toBe(key);
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
    expect(itemKeyOf(platform, written, 'acme/storefront')).toBeUndefined();
});

test('a work item of another repository is none of the project', () => {
  expect(itemKeyOf('host-a', 'acme/platform#12', 'acme/storefront')).toBeUndefined();
  expect(keyOfRef({ type: 'host-a-issue', key: '12', repository: 'acme/platform' }, 'acme/storefront')).toBeUndefined();
  expect(keyOfRef({ type: 'host-a-issue', key: '../x' }, 'acme/storefront')).toBeUndefined();
  expect(keyOfRef({ type: 'host-a-issue', key: '12', repository: 'acme/storefront' }, 'acme/storefront')).toBe('12');
  expect(keyOfRef({ type: 'host-a-issue', key: '#12' }, 'acme/storefront')).toBe('12');
  const ref = { type: 'host-b-workitem', key: '12', organization: 'acme' } as const;
  expect(keyOfRef({ ...ref, project: 'sales' }, 'acme/sales/crm')).toBe('12');
  expect(keyOfRef({ ...ref, project: 'other' }, 'acme/sales/crm')).toBeUndefined();
});
