import { clockTime } from '../../console/kernel/parts/clock-rules.ts';
import { isWebAddress } from '../../console/kernel/parts/foreign-link-rules.ts';
import { newAtTop } from '../../console/kernel/parts/held-rows-rules.ts';
import { listOfThing } from '../../console/kernel/shell/project-rules.ts';

test.each([
  ['https://example.com/a', true],
  ['http://example.com', true],
  ['javascript:alert(1)', false],
  ['data:text/html,x', false],
  ['//example.com', false],
  ['', false],
  [null, false],
  [undefined, false],
])('whether %p is a link', (address, isLink) => expect(isWebAddress(address)).toBe(isLink));

test.each([
  [['a', 'b'], ['a', 'b'], 0],
  [['n', 'm', 'a'], ['a', 'b'], 2],
  [['x', 'y'], ['a'], 0],
  [[], ['a'], 0],
  [['a', 'n'], ['a'], 0],
])('%p, of which %p were shown, has %d new at its top', (keys, shown, count) =>
  expect(newAtTop(keys, new Set(shown))).toBe(count),
);

const NOW = Date.parse('2026-03-02T10:00:00Z');
test.each([
  ['2026-03-02T14:02:30Z', undefined, '14:02:30'],
  ['2026-03-02T14:02:30Z', 'short', '14:02'],
  ['2026-02-28T14:02:30Z', 'short', '28 Feb 2026, 14:02'],
] as const)('%s by the clock, %p', (at, timeStyle, text) =>
  expect(clockTime(at, NOW, { timeZone: 'UTC', ...(timeStyle && { timeStyle }) })).toBe(text),
);

test.each([
  ['/candidates/7', '/candidates'],
  ['/console/environments/7', '/environments'],
  ['/runs/7', '/runs'],
  ['/runs', undefined],
  ['/', undefined],
  ['/where', undefined],
  ['/work-items/PROJ-1', undefined],
])('another project leads from %p to the list %p', (path, list) => expect(listOfThing(path)).toBe(list));
