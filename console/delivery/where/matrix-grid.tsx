import { useState } from 'react';
import { t } from '../../messages/messages.ts';
import { GridHead } from './grid-head.tsx';
import { Gap, LaneLine, MoreLine } from './grid-lanes.tsx';
import { type CellAt, RowLine } from './grid-row.tsx';
import { keyOfLine, type Lane, type Line, linesOf, type Place, type WaitingApproval } from './lane-rules.ts';
import type { EnvironmentColumn, Row } from './matrix-rules.ts';
import { useGridKeys } from './use-grid-keys.ts';
import { type GridWindow, useGridWindow } from './use-grid-window.ts';
import styles from './where.module.css';

interface MatrixGridProps {
  repositoryIdentifier: string;
  lanes: readonly Lane[];
  /** Those that are shown, of all that the cells of a row are for. */
  columns: readonly EnvironmentColumn[];
  indexes: readonly number[];
  policies: CellAt['policies'];
  chosen: Row | undefined;
  waiting: readonly WaitingApproval[];
  isBusy: boolean;
  onChoose: (row: Row) => void;
  onFold: (domain: string) => void;
  onOpen: (row: Row, index: number, cell: HTMLElement) => void;
  onScreen: (pages: ReadonlySet<string>, more: Lane | undefined) => void;
}

/** Releases and environments as a grid of which only what is seen is drawn; arrow keys move in it. */
export function MatrixGrid({ lanes, columns, indexes, onScreen, ...given }: MatrixGridProps) {
  const { lines, total } = linesOf(lanes);
  // Named by what it is, so that it stays there when lines come before it.
  const [place, setPlace] = useState({ key: '', column: 0 });
  const at: Place = {
    line: Math.max(0, place.key === '' ? 0 : lines.findIndex((line) => keyOfLine(line) === place.key)),
    column: Math.min(place.column, indexes.length),
  };
  const keyAt = (index: number): string => {
    const line = lines[index];
    return line ? keyOfLine(line) : '';
  };
  const view = useGridWindow({ lines, columnCount: indexes.length, at, onScreen });
  const { onKeyDown, onClick } = useGridKeys({
    ...given,
    view,
    lines,
    indexes,
    at,
    setPlace: ({ line, column }) => setPlace({ key: keyAt(line), column }),
  });
  const { shownColumns, before, after } = view;
  const width = view.nameWidth + indexes.length * view.columnWidth;
  const isWhole = before === 0 && after === 0;
  return (
    <div ref={view.box} className={styles.box}>
      <table
        role="grid"
        className={styles.grid}
        aria-label={t.where.grid(given.repositoryIdentifier)}
        aria-rowcount={total + 1}
        aria-colcount={indexes.length + 1}
        aria-busy={given.isBusy || undefined}
        style={{ width }}
        onKeyDown={onKeyDown}
        onClick={onClick}
      >
        <colgroup>
          <col style={{ width: view.nameWidth }} />
          {before > 0 && <col style={{ width: before }} />}
          {shownColumns.map((column) => (
            // Where all of them fit, they share the width.
            <col key={column} style={isWhole ? undefined : { width: view.columnWidth }} />
          ))}
          {after > 0 && <col style={{ width: after }} />}
        </colgroup>
        <GridHead
          columns={shownColumns.map((column) => ({ column, environment: columns[indexes[column] ?? 0] }))}
          hasBefore={before > 0}
          hasAfter={after > 0}
        />
        <tbody>
          <Lines {...given} view={view} lines={lines} columns={columns} indexes={indexes} at={at} />
        </tbody>
      </table>
    </div>
  );
}

interface LinesProps extends Pick<MatrixGridProps, 'columns' | 'indexes' | 'policies' | 'chosen' | 'waiting'> {
  view: GridWindow;
  lines: readonly Line[];
  at: Place;
}

/** The lines that are drawn, with gaps for the others. */
function Lines({ view, lines, columns, indexes, policies, chosen, waiting, at }: LinesProps) {
  const { shownLines, shownColumns, before, after } = view;
  const tabLine = shownLines.some(({ index }) => index === at.line) ? at.line : shownLines[0]?.index;
  const span = shownColumns.length + 1 + Number(before > 0) + Number(after > 0);
  const last = shownLines.at(-1);
  return (
    <>
      {shownLines.map(({ index, start, size }, place) => {
        const line = lines[index];
        if (!line) return null;
        const previous = shownLines[place - 1];
        const gap = start - (previous ? previous.start + previous.size : view.top);
        const common = { lineIndex: index, isTab: index === tabLine, rowIndex: line.index + 2, height: size, gap };
        const key = keyOfLine(line);
        if (line.kind === 'lane')
          return <LaneLine key={key} {...common} lane={line.lane} span={span} waiting={waiting} />;
        if (line.kind === 'more') return <MoreLine key={key} {...common} span={span} />;
        return (
          <RowLine
            key={key}
            {...common}
            row={line.row}
            columns={columns}
            indexes={indexes}
            shownColumns={shownColumns}
            hasBefore={before > 0}
            hasAfter={after > 0}
            policies={policies}
            isChosen={line.row.candidateId === chosen?.candidateId}
            tabColumn={index === tabLine ? at.column : undefined}
          />
        );
      })}
      {last && view.bottom > last.start + last.size && <Gap height={view.bottom - last.start - last.size} />}
    </>
  );
}
