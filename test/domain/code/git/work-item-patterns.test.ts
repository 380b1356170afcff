import { compileKeyFinder } from '../../../../domain/projects/work-items/work-item-patterns.ts';

test('keys are found in messages of usual length, however many there are', () => {
  const find = compileKeyFinder('[A-Z][A-Z0-9]+-\\d+');
  expect(find('SHOP-1, SHOP-2: fix SHOP-3')).toEqual(['SHOP-1', 'SHOP-2', 'SHOP-3']);
  expect(find('SHOP-1 '.repeat(500))).toHaveLength(500);
});

test('a pattern that looks for each match until the end finds only what bounded work finds', () => {
  expect(compileKeyFinder('a.*z|a')('a'.repeat(65_536)).length).toBeLessThan(100);
});
