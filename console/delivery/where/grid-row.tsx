import type { Environment, ReleaseMatrixCell } from '@quayside/client';
import { memo } from 'react';
import { ToneIcon } from '../../kernel/parts/status.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { t } from '../../messages/messages.ts';
import { Gap } from './grid-lanes.tsx';
import { type EnvironmentColumn, isNowhere, type Mark, marksOf, type Row, TONES } from './matrix-rules.ts';
import styles from './where.module.css';

export interface CellAt {
  policies: readonly Pick<Environment, 'name' | 'promotion'>[];
}

interface RowLineProps extends CellAt {
  row: Row;
  lineIndex: number;
  rowIndex: number;
  height: number;
  gap: number;
  columns: readonly EnvironmentColumn[];
  indexes: readonly number[];
  shownColumns: readonly number[];
  hasBefore: boolean;
  hasAfter: boolean;
  isChosen: boolean;
  isTab: boolean;
  tabColumn: number | undefined;
}

/** A release, and what it is in each environment. */
export const RowLine = memo(function RowLine({
  row,
  lineIndex,
  rowIndex,
  height,
  gap,
  columns,
  indexes,
  shownColumns,
  hasBefore,
  hasAfter,
  policies,
  isChosen,
  tabColumn,
}: RowLineProps) {
  const marks = marksOf(row.cells, columns, policies);
  return (
    <>
      {gap > 0 && <Gap height={gap} />}
      <tr aria-rowindex={rowIndex} style={{ height }} className={isChosen ? styles.chosen : undefined}>
        <th
          scope="row"
          role="rowheader"
          aria-colindex={1}
          aria-selected={isChosen}
          tabIndex={tabColumn === 0 ? 0 : -1}
          data-line={lineIndex}
          data-column={0}
        >
          <ReleaseName row={row} />
        </th>
        {hasBefore && <td aria-hidden="true" />}
        {shownColumns.map((column) => {
          const index = indexes[column] ?? 0;
          const cell = row.cells[index];
          const mark = marks[index] ?? 'later';
          return (
            <td
              key={columns[index]?.environmentId ?? column}
              role="gridcell"
              aria-colindex={column + 2}
              aria-haspopup="true"
              tabIndex={tabColumn === column + 1 ? 0 : -1}
              data-line={lineIndex}
              data-column={column + 1}
              data-mark={isChosen || mark === 'passed' ? mark : undefined}
            >
              {cell && <CellText cell={cell} mark={mark} isChosen={isChosen} />}
            </td>
          );
        })}
        {hasAfter && <td aria-hidden="true" />}
      </tr>
    </>
  );
});

const SHA_SHOWN = 7;

const ReleaseName = ({ row }: { row: Row }) => (
  <div className={styles.cell}>
    <span className={styles.clip} title={row.releaseName}>
      {row.releaseName}
    </span>
    <small className={styles.clip}>
      <code>{row.commitSha.slice(0, SHA_SHOWN)}</code> · <Time at={row.createdAt} />
    </small>
    {row.hold ? (
      <small className={`${styles.clip} ${styles.bad}`} title={row.hold.reason}>
        <ToneIcon tone="bad" /> {t.where.held}: {row.hold.reason}
      </small>
    ) : row.supersededBy ? (
      <small className={styles.clip}>{t.where.superseded_by(row.supersededBy)}</small>
    ) : (
      isNowhere(row) && (
        <small className={styles.clip}>
          <ToneIcon tone="idle" /> {t.where.notAnywhere}
        </small>
      )
    )}
  </div>
);

function CellText({ cell, mark, isChosen }: { cell: ReleaseMatrixCell; mark: Mark; isChosen: boolean }) {
  const { state, version, since, by, nextWindowAt, missingPackages } = cell;
  const isEmpty = state === 'never' || state === 'not_taken';
  const word = isEmpty && (isChosen || mark === 'passed') ? t.where.marks[mark] : t.where.states[state];
  const isNext = isChosen && mark === 'next';
  const tone = isEmpty && isNext ? 'busy' : TONES[state];
  return (
    <div className={isEmpty && !isNext ? `${styles.cell} ${styles.faint}` : styles.cell}>
      <span className={`${styles.state} ${styles[tone]}`}>
        <ToneIcon tone={tone} />
        <span className={styles.clip}>{word}</span>
      </span>
      {!isEmpty && (
        <>
          <small className={styles.clip}>
            {version}
            {version && since && ' · '}
            {nextWindowAt ? (
              <>
                {t.where.opens} <Time at={nextWindowAt} />
              </>
            ) : (
              since && <Time at={since} />
            )}
          </small>
          <small className={styles.clip} title={[by, missingPackages.join(', ')].filter(Boolean).join('\n')}>
            {state === 'partial' && missingPackages.length > 0
              ? t.where.missing(missingPackages.length)
              : by && t.where.by(by)}
          </small>
        </>
      )}
    </div>
  );
}
