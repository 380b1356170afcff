/**
 * A name as names are compared: one form of each character (NFKC), without characters that nobody sees, without spaces
 * at its ends, in lower case.
 */
export const fold = (name: string): string =>
  name
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .toLowerCase();
