import type { ReleaseMatrix } from '@quayside/client';
import type { Row } from './matrix-rules.ts';

/** The releases of one domain. */
export interface Lane {
  domain: string;
  /** All that the filters let through; undefined: not known yet. */
  total: number | undefined;
  rows: readonly Row[];
  /** How many pages `rows` are of. */
  pages: number;
  isFolded: boolean;
  /** There are more than `rows`. */
  hasMore: boolean;
}

/** An approval that a person has to give. */
export interface WaitingApproval {
  id: string;
  domain: string | null;
  releaseName: string | null;
  environmentName: string | null;
}

type Page = Pick<ReleaseMatrix, 'rows' | 'total' | 'nextCursor'>;

/** One lane for each domain that has rows, where one page holds them all. */
export function lanesOfPage(page: Page, domains: readonly string[], folded: readonly string[]): readonly Lane[] {
  const byDomain = new Map<string, Row[]>();
  for (const row of page.rows) byDomain.set(row.domain, [...(byDomain.get(row.domain) ?? []), row]);
  const order = [...new Set([...domains, ...byDomain.keys()])];
  return order.flatMap((domain) => {
    const rows = byDomain.get(domain);
    return rows
      ? [{ domain, total: rows.length, rows, pages: 1, isFolded: folded.includes(domain), hasMore: false }]
      : [];
  });
}

/** A lane of the pages of its domain that are loaded. */
export function laneOfPages(domain: string, pages: readonly Page[], isFolded: boolean): Lane {
  const seen = new Set<string>();
  // A page that is asked again may begin with rows that are new since the one behind it was asked.
  const rows = pages.flatMap(({ rows: each }) =>
    each.filter(({ candidateId }) => !seen.has(candidateId) && seen.add(candidateId)),
  );
  const last = pages.at(-1);
  return {
    domain,
    total: pages[0]?.total,
    rows,
    pages: pages.length,
    isFolded,
    hasMore: last === undefined || last.nextCursor !== null,
  };
}

/** A line of the matrix: the heading of a lane, a release, or what stands for those that are not loaded. */
export type Line =
  | { kind: 'lane'; lane: Lane; index: number }
  | { kind: 'row'; row: Row; lane: Lane; inLane: number; index: number }
  | { kind: 'more'; lane: Lane; index: number };

/** The lines of lanes in order. `index` is the line's place among all there are, loaded or not, from 0. */
export function linesOf(lanes: readonly Lane[]): { lines: readonly Line[]; total: number } {
  const lines: Line[] = [];
  let total = 0;
  for (const lane of lanes) {
    lines.push({ kind: 'lane', lane, index: total++ });
    if (lane.isFolded) continue;
    for (const [inLane, row] of lane.rows.entries())
      lines.push({ kind: 'row', row, lane, inLane, index: total + inLane });
    if (lane.hasMore) lines.push({ kind: 'more', lane, index: total + lane.rows.length });
    total += Math.max(lane.total ?? 0, lane.rows.length);
  }
  return { lines, total };
}

export const keyOfLine = (line: Line): string =>
  line.kind === 'row' ? line.row.candidateId : `${line.kind} ${line.lane.domain}`;

/** Where the focus is in the grid: a line, and a column; 0 is the first column, which names the row. */
export interface Place {
  line: number;
  column: number;
}

const MOVES: Record<string, (place: Place, end: Place, isWhole: boolean) => Place> = {
  ArrowDown: ({ line, column }) => ({ line: line + 1, column }),
  ArrowUp: ({ line, column }) => ({ line: line - 1, column }),
  ArrowRight: ({ line, column }) => ({ line, column: column + 1 }),
  ArrowLeft: ({ line, column }) => ({ line, column: column - 1 }),
  PageDown: ({ line, column }) => ({ line: line + 8, column }),
  PageUp: ({ line, column }) => ({ line: line - 8, column }),
  Home: ({ line }, _, isWhole) => ({ line: isWhole ? 0 : line, column: 0 }),
  End: ({ line }, end, isWhole) => ({ line: isWhole ? end.line : line, column: end.column }),
};

/** Where a key leads from a place of a grid of so many lines and columns; undefined: it is no key of a grid. */
export function moved(
  place: Place,
  { key, ctrlKey }: { key: string; ctrlKey: boolean },
  size: { lines: number; columns: number },
): Place | undefined {
  const end = { line: size.lines - 1, column: size.columns - 1 };
  const next = MOVES[key]?.(place, end, ctrlKey);
  if (!next) return undefined;
  return {
    line: Math.min(Math.max(0, next.line), end.line),
    column: Math.min(Math.max(0, next.column), end.column),
  };
}
