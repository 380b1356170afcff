import { Button } from '../../kernel/parts/button.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { t } from '../../messages/messages.ts';
import type { CellAt } from './grid-row.tsx';
import { type EnvironmentColumn, marksOf, type Row, TONES } from './matrix-rules.ts';
import styles from './where.module.css';

interface WherePathProps extends CellAt {
  row: Row;
  columns: readonly EnvironmentColumn[];
  onRequest: (environment: EnvironmentColumn) => void;
  onClose: () => void;
}

/** The way of one release through all environments, whatever the filters hide. */
export function WherePath({ row, columns, policies, onRequest, onClose }: WherePathProps) {
  const marks = marksOf(row.cells, columns, policies);
  const title = t.where.chosen(row.releaseName);
  return (
    <section className={styles.path} aria-label={title}>
      <header>
        <h2>
          <PageLink to={`/candidates/${row.candidateId}`}>{title}</PageLink>
        </h2>
        <Button look="quiet" onClick={onClose} aria-label={t.where.unchoose}>
          ✕
        </Button>
      </header>
      <ol>
        {columns.map((column, index) => {
          const { state = 'never', since = null } = row.cells[index] ?? {};
          const mark = marks[index] ?? 'later';
          return (
            <li key={column.environmentId} data-mark={mark}>
              <strong>{column.name}</strong>
              {mark === 'next' && (state === 'never' || state === 'not_taken') ? (
                <Button onClick={() => onRequest(column)}>{t.where.marks.next} …</Button>
              ) : (
                <Status tone={TONES[state]}>
                  {state === 'never' ? t.where.marks[mark] : t.where.states[state]}
                  {since && (
                    <>
                      {' '}
                      <Time at={since} />
                    </>
                  )}
                </Status>
              )}
              {mark === 'next' && state !== 'never' && state !== 'not_taken' && (
                <Button look="quiet" onClick={() => onRequest(column)}>
                  {t.where.marks.next} …
                </Button>
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}
