import type { ReactNode } from 'react';
import styles from './table.module.css';

export interface Column<Row> {
  /** Heading, also the label of the cell where rows are cards. */
  name: string;
  cell: (row: Row) => ReactNode;
  isNumber?: boolean;
  isNarrow?: boolean;
}

interface TableProps<Row> {
  /** What the table is about, for those who cannot see where it stands. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}

/**
 * A table; on a narrow screen each row is a card, and its roles are said since the layout of cards would take them away. The
 * first column names the row.
 */
export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
  const [first, ...others] = columns;
  const classOf = ({ isNumber, isNarrow }: Column<Row>) =>
    [isNumber && styles.number, isNarrow && styles.nowrap].filter(Boolean).join(' ') || undefined;
  return (
    <div className={styles.scroll}>
      <table role="table" className={`${styles.table} ${styles.cards}`}>
        <caption className="visually-hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.name} role="columnheader" scope="col" className={classOf(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              {first && (
                <th role="rowheader" scope="row" className={classOf(first)}>
                  {first.cell(row)}
                </th>
              )}
              {others.map((column) => (
                <td key={column.name} role="cell" data-label={column.name} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
