/** What a cell may hold; objects are written as JSON. */
export type CsvCell = string | number | bigint | boolean | object | null | undefined;

/** Spreadsheets take a text that begins so for a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const TO_BE_QUOTED = /[",\r\n]/;

function csvCell(cell: CsvCell): string {
  if (cell === null || cell === undefined) return '';
  const isText = typeof cell === 'string';
  const plain = isText ? cell : typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
  const harmless = isText && FORMULA.test(plain) ? `'${plain}` : plain;
  return TO_BE_QUOTED.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/**
 * One record of a CSV file (RFC 4180), with CRLF at its end. A text that a spreadsheet would take for a formula gets a
 * `'` before it; numbers stay as they are.
 */
export const csvRecord = (cells: readonly CsvCell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';
