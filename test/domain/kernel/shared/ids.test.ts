import { isId, newId } from '../../../../domain/kernel/shared/ids.ts';

test('ids are distinct, and sort in the order in which they were created', () => {
  const beganAt = Date.now();
  const ids = Array.from({ length: 20_000 }, newId);
  const endedAt = Date.now();
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
  expect(ids.every(isId)).toBe(true);
  // Version 7, and the time in milliseconds.
  expect(ids[0]?.[14]).toBe('7');
  const createdAt = (id = '') => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
  expect([beganAt, createdAt(ids[0]), createdAt(ids.at(-1)), endedAt]).toEqual(
    [beganAt, createdAt(ids[0]), createdAt(ids.at(-1)), endedAt].toSorted((a, b) => a - b),
  );
});
