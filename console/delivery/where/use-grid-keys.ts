import { type KeyboardEvent, type MouseEvent, useEffect, useRef } from 'react';
import { type Line, moved, type Place } from './lane-rules.ts';
import type { Row } from './matrix-rules.ts';
import type { GridWindow } from './use-grid-window.ts';

interface GridKeysOptions {
  view: GridWindow;
  lines: readonly Line[];
  indexes: readonly number[];
  at: Place;
  setPlace: (place: Place) => void;
  onChoose: (row: Row) => void;
  onFold: (domain: string) => void;
  onOpen: (row: Row, index: number, cell: HTMLElement) => void;
}

/** What keys and clicks do in the grid: one place of it is in the tab order, and arrows move that place. */
export function useGridKeys({ view, lines, indexes, at, setPlace, onChoose, onFold, onOpen }: GridKeysOptions) {
  const wantsFocus = useRef(false);
  // After each drawing, since the place may be drawn only when the box has been scrolled to it.
  useEffect(() => {
    if (!wantsFocus.current) return;
    const line = `[data-line="${at.line}"]`;
    const cell = view.box.current?.querySelector<HTMLElement>(
      `${line}[data-column="${at.column}"], ${line}[data-column="all"]`,
    );
    if (!cell) return;
    wantsFocus.current = false;
    cell.focus({ preventScroll: true });
  });

  const act = (target: EventTarget, isKey: boolean): boolean => {
    if (!(target instanceof Element) || target.closest('a')) return false;
    const cell = target.closest<HTMLElement>('[data-line]');
    const line = lines[Number(cell?.dataset.line ?? -1)];
    if (!cell || !line) return false;
    const column = cell.dataset.column === 'all' ? at.column : Number(cell.dataset.column);
    setPlace({ line: lines.indexOf(line), column });
    if (line.kind === 'lane') onFold(line.lane.domain);
    else if (line.kind === 'row' && column === 0) onChoose(line.row);
    else if (line.kind === 'row') onOpen(line.row, indexes[column - 1] ?? 0, cell);
    if (!isKey) cell.focus({ preventScroll: true });
    return true;
  };
  return {
    onClick: ({ target }: MouseEvent) => void act(target, false),
    onKeyDown(event: KeyboardEvent) {
      if (event.target instanceof Element && !event.target.closest('[data-line]')) return;
      if (event.key === 'Enter' || event.key === ' ') {
        if (act(event.target, true)) event.preventDefault();
        return;
      }
      const next = moved(at, event, { lines: lines.length, columns: indexes.length + 1 });
      if (!next) return;
      event.preventDefault();
      wantsFocus.current = true;
      setPlace(next);
      view.scrollTo(next);
    },
  };
}
