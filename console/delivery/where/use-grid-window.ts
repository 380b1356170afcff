import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import { keyOfLine, type Lane, type Line, type Place } from './lane-rules.ts';
import { pageKey } from './use-lanes.ts';

const NARROW = '(max-width: 40rem)';
const PAGE_ROWS = 50;
/** In rem, so that lines grow with the text. */
const SIZES = {
  wide: { name: 15, column: 11.5 },
  narrow: { name: 8.5, column: 9.5 },
};
const LANE_HEIGHT = 2.75;
const ROW_HEIGHT = 4.25;
const HEAD_HEIGHT = 3.75;
/** So many rows before the end of what is loaded, more is. */
const AHEAD = 10;

const rem = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;

function watchWidth(watch: () => void): () => void {
  const query = matchMedia(NARROW);
  query.addEventListener('change', watch);
  return () => query.removeEventListener('change', watch);
}

export interface GridWindow {
  box: RefObject<HTMLDivElement | null>;
  shownLines: readonly { index: number; start: number; size: number }[];
  shownColumns: readonly number[];
  /** Widths of the columns before and after those that are drawn. */
  before: number;
  after: number;
  /** Where the first line begins, and the last ends. */
  top: number;
  bottom: number;
  nameWidth: number;
  columnWidth: number;
  scrollTo: (place: Place) => void;
}

interface GridWindowOptions {
  lines: readonly Line[];
  columnCount: number;
  at: Place;
  onScreen: (pages: ReadonlySet<string>, more: Lane | undefined) => void;
}

/** Which lines and columns of the grid are drawn: those that are seen, some around them, and the one that has the focus. */
export function useGridWindow({ lines, columnCount, at, onScreen }: GridWindowOptions): GridWindow {
  const box = useRef<HTMLDivElement>(null);
  const isNarrow = useSyncExternalStore(watchWidth, () => matchMedia(NARROW).matches);
  const unit = rem();
  const { name, column } = isNarrow ? SIZES.narrow : SIZES.wide;
  const nameWidth = name * unit;
  const columnWidth = column * unit;
  const extract = useCallback(
    (range: Range) => {
      const seen = defaultRangeExtractor(range);
      return at.line >= range.count || seen.includes(at.line) ? seen : [...seen, at.line].toSorted((a, b) => a - b);
    },
    [at.line],
  );
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => (lines[index]?.kind === 'lane' ? LANE_HEIGHT : ROW_HEIGHT) * unit,
    getItemKey: (index) => {
      const line = lines[index];
      return line ? keyOfLine(line) : index;
    },
    rangeExtractor: extract,
    overscan: 3,
    scrollMargin: HEAD_HEIGHT * unit,
    scrollPaddingStart: HEAD_HEIGHT * unit,
  });
  const columns = useVirtualizer({
    horizontal: true,
    count: columnCount,
    getScrollElement: () => box.current,
    estimateSize: () => columnWidth,
    overscan: 1,
    scrollMargin: nameWidth,
    scrollPaddingStart: nameWidth,
  });
  useLayoutEffect(() => {
    columns.measure();
  }, [columns, columnWidth]);
  useAnchor(box, lines, rows.measurementsCache);

  const items = rows.getVirtualItems();
  const places = columns.getVirtualItems();
  useEffect(() => {
    const pages = new Set<string>();
    let more: Lane | undefined;
    for (const { index } of items) {
      const line = lines[index];
      if (!line) continue;
      pages.add(pageKey(line.lane.domain, line.kind === 'row' ? Math.floor(line.inLane / PAGE_ROWS) : 0));
      if (line.kind === 'row' && line.lane.hasMore && line.inLane >= line.lane.rows.length - AHEAD) more = line.lane;
    }
    onScreen(pages, more);
  }, [items, lines, onScreen]);

  return {
    box,
    shownLines: items,
    shownColumns: places.map(({ index }) => index),
    before: (places[0]?.start ?? nameWidth) - nameWidth,
    after: columns.getTotalSize() + nameWidth - (places.at(-1)?.end ?? nameWidth),
    top: HEAD_HEIGHT * unit,
    bottom: HEAD_HEIGHT * unit + rows.getTotalSize(),
    nameWidth,
    columnWidth,
    scrollTo: ({ line, column: wanted }) => {
      rows.scrollToIndex(line);
      if (wanted > 0) columns.scrollToIndex(wanted - 1);
    },
  };
}

/** Keeps what is seen in its place when lines come or go above it. */
function useAnchor(
  box: RefObject<HTMLDivElement | null>,
  lines: readonly Line[],
  measured: readonly { start: number; end: number }[],
): void {
  const anchor = useRef<{ key: string; start: number }>(undefined);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const before = anchor.current;
    if (before && element.scrollTop > 0) {
      const index = lines.findIndex((line) => keyOfLine(line) === before.key);
      const start = measured[index]?.start;
      if (start !== undefined && start !== before.start) element.scrollTop += start - before.start;
    }
    const first = measured.findIndex(({ end }) => end > element.scrollTop);
    const line = lines[first];
    anchor.current = line && { key: keyOfLine(line), start: measured[first]?.start ?? 0 };
  });
}
