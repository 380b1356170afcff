import { isLocationWithin, itemsLocation } from '../../../../domain/work/work-items/tracker-location-rules.ts';

test.each([
  ['host-a', 'acme/shop', {}, { repository: 'acme/shop' }],
  ['host-a', 'acme/shop', { repository: 'acme/tickets' }, { repository: 'acme/tickets' }],
  ['host-a', 'acme/sales/crm', {}, undefined],
  ['host-b', 'acme/sales/crm', {}, { organization: 'acme', project: 'sales' }],
  ['host-b', 'acme/shop', { organization: 'boards', project: 'Shop' }, { organization: 'boards', project: 'Shop' }],
  ['host-b', 'acme/sales/crm', { project: 'work' }, { organization: 'acme', project: 'work' }],
  ['host-b', 'shop', { organization: '' }, undefined],
  ['tracker-a', 'acme/shop', { cloudId: 'one' }, {}],
] as const)('items of %s of %s with settings %j are in %j', (platform, identifier, settings, location) => {
  expect(itemsLocation(platform, identifier, settings)).toEqual(location);
});

test('locations are compared without case, by what is said of them', () => {
  const location = { organization: 'acme', project: 'Sales' };
  expect(isLocationWithin({ project: 'sales' }, location)).toBe(true);
  expect(isLocationWithin({}, location)).toBe(true);
  expect(isLocationWithin({ organization: 'other', project: 'sales' }, location)).toBe(false);
  expect(isLocationWithin({ repository: 'acme/shop' }, location)).toBe(false);
});
