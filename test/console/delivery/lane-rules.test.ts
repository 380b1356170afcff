import { keyOfLine, laneOfPages, lanesOfPage, linesOf, moved } from '../../../console/delivery/where/lane-rules.ts';
import type { Row } from '../../../console/delivery/where/matrix-rules.ts';

const row = (domain: string, candidateId: string): Row => ({
  domain,
  releaseName: candidateId,
  candidateId,
  status: 'pending',
  hold: null,
  isSuperseded: false,
  supersededBy: null,
  commitSha: 'abcdef0',
  createdAt: '2026-11-01T00:00:00Z',
  packages: {},
  cells: [],
});
const page = (rows: Row[], total = rows.length, nextCursor: string | null = null) => ({ rows, total, nextCursor });

test('one page becomes lanes in the order of the domains, and a domain without rows has none', () => {
  const rows = [row('b', '1'), row('a', '2'), row('b', '3'), row('new', '4')];
  const lanes = lanesOfPage(page(rows), ['a', 'b', 'empty'], ['b']);
  expect(lanes.map(({ domain, total, isFolded }) => [domain, total, isFolded])).toEqual([
    ['a', 1, false],
    ['b', 2, true],
    ['new', 1, false],
  ]);
});

test('pages of a domain become one lane, each release once', () => {
  const first = page([row('a', '2'), row('a', '1')], 3, 'next');
  expect(laneOfPages('a', [], false)).toMatchObject({ total: undefined, rows: [], hasMore: true });
  expect(laneOfPages('a', [first], false)).toMatchObject({ total: 3, hasMore: true });
  const both = laneOfPages('a', [first, page([row('a', '1'), row('a', '0')], 3)], false);
  expect(both.rows.map(({ candidateId }) => candidateId)).toEqual(['2', '1', '0']);
  expect(both.hasMore).toBe(false);
});

test('lines count what is not loaded, and leave out what is folded', () => {
  const lanes = [
    { domain: 'a', total: 9, rows: [row('a', '1'), row('a', '2')], pages: 1, isFolded: false, hasMore: true },
    { domain: 'b', total: 5, rows: [row('b', '3')], pages: 1, isFolded: true, hasMore: false },
    { domain: 'c', total: 1, rows: [row('c', '4')], pages: 1, isFolded: false, hasMore: false },
  ];
  const { lines, total } = linesOf(lanes);
  expect(lines.map((line) => [keyOfLine(line), line.index])).toEqual([
    ['lane a', 0],
    ['1', 1],
    ['2', 2],
    ['more a', 3],
    ['lane b', 10],
    ['lane c', 11],
    ['4', 12],
  ]);
  expect(total).toBe(13);
});

const size = { lines: 20, columns: 4 };
test.each<[string, boolean, [number, number], [number, number] | undefined]>([
  ['ArrowDown', false, [0, 0], [1, 0]],
  ['ArrowDown', false, [19, 2], [19, 2]],
  ['ArrowUp', false, [0, 1], [0, 1]],
  ['ArrowRight', false, [3, 3], [3, 3]],
  ['ArrowLeft', false, [3, 1], [3, 0]],
  ['PageDown', false, [3, 1], [11, 1]],
  ['PageUp', false, [3, 1], [0, 1]],
  ['Home', false, [3, 2], [3, 0]],
  ['End', false, [3, 0], [3, 3]],
  ['Home', true, [3, 2], [0, 0]],
  ['End', true, [3, 2], [19, 3]],
  ['a', false, [3, 2], undefined],
])('%s (with Ctrl: %s) leads from %j to %j', (key, ctrlKey, [line, column], to) => {
  expect(moved({ line, column }, { key, ctrlKey }, size)).toEqual(to && { line: to[0], column: to[1] });
});
