/** What a command found or did: for programs, and for people. */
export interface Outcome {
  data: unknown;
  text: string;
  /** Default: 0. */
  exitCode?: number;
}

const shownCell = (cell: unknown): string =>
  cell === null || cell === undefined ? '-' : typeof cell === 'string' ? cell : JSON.stringify(cell);

/** Columns that are as wide as their widest cell. */
export function table(rows: readonly (readonly unknown[])[]): string {
  const cells = rows.map((row) => row.map((cell) => shownCell(cell)));
  const widths = (cells[0] ?? []).map((_, at) => Math.max(...cells.map((row) => (row[at] ?? '').length)));
  return cells
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** `name  value`, one a line; what is not there is left out. */
export const fields = (record: Record<string, unknown>): string =>
  table(Object.entries(record).filter(([, value]) => value !== null && value !== undefined && value !== ''));
