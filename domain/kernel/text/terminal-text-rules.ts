/**
 * What moves the cursor of a terminal, colours it or is not printed (ECMA-48): control sequences and strings, and control
 * characters but the tab and line ends. A string that does not end is one up to the end of its line.
 * @param c1 what is before the second byte of a control character from U+0080 on.
 */
const codes = (c1: string): RegExp =>
  new RegExp(
    [
      String.raw`(?:\x1b\[|${c1}\x9b)[0-?]*[ -/]*[@-~]`,
      String.raw`(?:\x1b[\]PX^_]|${c1}[\x90\x98\x9d-\x9f])(?:(?!${c1}\x9c)[^\x07\x1b\n])*(?:\x07|\x1b\\|${c1}\x9c)?`,
      String.raw`\x1b[ -/]*[0-~]?`,
      String.raw`${c1}[\x80-\x9f]`,
      String.raw`[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]`,
      String.raw`\r(?!\n)`,
    ].join('|'),
    'g',
  );
const IN_TEXT = codes('');
const IN_UTF_8 = codes(String.raw`\xc2`);

/** A text without codes of terminals. */
export const withoutCodes = (text: string): string => text.replaceAll(IN_TEXT, '');

/** Bytes in UTF-8 without codes of terminals. */
export interface PlainBytes {
  bytes: Buffer;
  /** Where one of them was before. */
  placeOf: (at: number) => number;
}

/** Removes codes of terminals from bytes in UTF-8. All line feeds stay. */
export function plainBytes(bytes: Buffer): PlainBytes {
  const kept: { at: number; from: number; piece: Buffer }[] = [];
  let [at, from] = [0, 0];
  const keep = (end: number) => {
    const piece = bytes.subarray(from, end);
    if (piece.length > 0) kept.push({ at, from, piece });
    at += piece.length;
  };
  for (const { index, 0: code } of bytes.toString('latin1').matchAll(IN_UTF_8)) {
    keep(index);
    from = index + code.length;
  }
  keep(bytes.length);
  return {
    bytes: Buffer.concat(kept.map(({ piece }) => piece)),
    placeOf(wanted) {
      const within = kept.findLast((each) => each.at <= wanted);
      return within ? within.from + (wanted - within.at) : bytes.length;
    },
  };
}
