import { containsText } from '../../../domain/mocks/text-search-rules.ts';
import { threadCpuMs } from '../../support/thread-cpu.ts';

test('a text is found where String.includes finds it', () => {
  const letters = (seed: number, length: number) =>
    Array.from({ length }, (_, at) => 'ab'[(Math.imul(seed + 1, at * at + 7) >>> 3) % 2]).join('');
  for (let seed = 0; seed < 500; seed++) {
    const text = letters(seed, 400);
    const wanted = seed % 2 === 0 ? text.slice(seed % 300, (seed % 300) + 20 + (seed % 60)) : letters(seed * 31, 20);
    expect(containsText(text, wanted)).toBe(text.includes(wanted));
  }
  expect(containsText('abc', '')).toBe(true);
  expect(containsText('', 'a')).toBe(false);
});

test('no text makes the search slow', () => {
  const wanted = `${'a'.repeat(2_500)}b${'a'.repeat(2_500)}`;
  const text = 'a'.repeat(50_000);
  const slow = threadCpuMs(() => void text.includes(wanted));
  expect(threadCpuMs(() => void containsText(text, wanted))).toBeLessThan(slow / 5);
});
