import { isPlaceWithin, itemsPlace } from '../../../../domain/work/work-items/tracker-place-rules.ts';

test.each([
  ['host-a', 'acme/shop', {}, { repository: 'acme/shop' }],
  ['host-a', 'acme/shop', { repository: 'acme/tickets' }, { repository: 'acme/tickets' }],
  ['host-a', 'acme/sales/crm', {}, undefined],
  ['host-b', 'acme/sales/crm', {}, { organization: 'acme', project: 'sales' }],
  ['host-b', 'acme/shop', { organization: 'boards', project: 'Shop' }, { organization: 'boards', project: 'Shop' }],
  ['host-b', 'acme/sales/crm', { project: 'work' }, { organization: 'acme', project: 'work' }],
  ['host-b', 'shop', { organization: '' }, undefined],
  ['tracker-a', 'acme/shop', { cloudId: 'one' }, {}],
] as const)('items of %s of %s with settings %j are in %j', (platform, identifier, settings, place) => {
  expect(itemsPlace(platform, identifier, settings)).toEqual(place);
});

test('places are compared without case, by what is said of them', () => {
  const place = { organization: 'acme', project: 'Sales' };
  expect(isPlaceWithin({ project: 'sales' }, place)).toBe(true);
  expect(isPlaceWithin({}, place)).toBe(true);
  expect(isPlaceWithin({ organization: 'other', project: 'sales' }, place)).toBe(false);
  expect(isPlaceWithin({ repository: 'acme/shop' }, place)).toBe(false);
});
