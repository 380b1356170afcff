/** Which lines of which sources a bundle consists of. */
export interface LineTable {
  /** Addresses of files. */
  sources: string[];
  /** For each line of the bundle, of each part of it: the column where it begins, the source, and the line there, from 0. */
  lines: [column: number, source: number, line: number][][];
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Map([...DIGITS].map((digit, value) => [digit, value]));

/** The numbers of a segment: base 64 with five bits a digit, the sixth says that more follow (ECMA-426, 7.2). */
function numbersOf(segment: string): number[] {
  const numbers: number[] = [];
  let [bits, shift] = [0, 0];
  for (const digit of segment) {
    const value = VALUES.get(digit) ?? 0;
    bits += (value & 31) << shift;
    shift += 5;
    if (value & 32) continue;
    numbers.push(bits & 1 ? -(bits >> 1) : bits >> 1);
    [bits, shift] = [0, 0];
  }
  return numbers;
}

/** What of a source map tells lines: a fifth of it, and quickly read. */
export function lineTable({ sources, mappings }: { sources: string[]; mappings: string }): LineTable {
  let [source, line] = [0, 0];
  const lines = mappings.split(';').map((segments) => {
    const parts: LineTable['lines'][number] = [];
    let column = 0;
    for (const segment of segments === '' ? [] : segments.split(',')) {
      const [byColumns = 0, bySources, byLines = 0] = numbersOf(segment);
      column += byColumns;
      if (bySources === undefined) continue;
      source += bySources;
      line += byLines;
      const before = parts.at(-1);
      if (before?.[1] !== source || before[2] !== line) parts.push([column, source, line]);
    }
    return parts;
  });
  return { sources, lines };
}

/** The source, and the line in it, of a place in the bundle; lines and columns count from 1. */
export function placeIn({ sources, lines }: LineTable, line: number, column: number): string | undefined {
  const part = lines[line - 1]?.findLast(([from]) => from < column);
  return part && `${sources[part[1]]}:${part[2] + 1}`;
}
