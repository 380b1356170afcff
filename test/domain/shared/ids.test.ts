import { isId, newId } from '../../../domain/shared/ids.ts';

test('ids are distinct, and sort in the order in which they were created', () => {
  const ids = Array.from({ length: 20_000 }, newId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
  expect(ids.every(isId)).toBe(true);
  // Version 7, and the time in milliseconds.
  expect(ids[0]?.[14]).toBe('7');
  expect(Math.abs(Number.parseInt((ids.at(-1) ?? '').replaceAll('-', '').slice(0, 12), 16) - Date.now())).toBeLessThan(
    1_000,
  );
});
