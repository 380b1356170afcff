import { bytesOfText, createCacheMemory } from '../../../../domain/kernel/caches/cache-memory.ts';

const texts = (memory: ReturnType<typeof createCacheMemory>, ttlSeconds?: number) =>
  memory.cache<string>({ bytesOf: bytesOfText, ...(ttlSeconds !== undefined && { ttlSeconds }) });

test('caches of one memory do not see the values of each other', () => {
  const memory = createCacheMemory(100);
  const [one, other] = [texts(memory), texts(memory)];
  one.put('key', 'of one');
  expect(other.get('key')).toBeUndefined();
  other.put('key', 'of the other');
  expect([one.get('key'), other.get('key')]).toEqual(['of one', 'of the other']);
});

test('what was used least recently in any of the caches makes room', () => {
  const memory = createCacheMemory(20);
  const [one, other] = [texts(memory), texts(memory)];
  one.put('first', '12345678');
  one.put('second', '12345678');
  expect(one.get('first')).toBe('12345678');
  other.put('third', '12345678');
  expect([one.get('first'), one.get('second'), other.get('third')]).toEqual(['12345678', undefined, '12345678']);
});

test('a value that is larger than the memory is not kept, and those that are stay', () => {
  const cache = texts(createCacheMemory(10));
  cache.put('small', '123');
  cache.put('large', '12345678901');
  expect([cache.get('small'), cache.get('large')]).toEqual(['123', undefined]);
});

test('letters count by the bytes that they take', () => {
  const cache = texts(createCacheMemory(10));
  cache.put('wide', '語語語語');
  expect(cache.get('wide')).toBeUndefined();
});

test('a value is kept no longer than its time', () => {
  let now = 1_000;
  const cache = texts(
    createCacheMemory(10, () => now),
    60,
  );
  cache.put('key', 'value');
  now += 59_999;
  expect(cache.get('key')).toBe('value');
  now += 2;
  expect(cache.get('key')).toBeUndefined();
});
