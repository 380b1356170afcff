/** A path as the literal one of a step: what would be a pattern there is percent-encoded. */
export const literalPath = (path: string): string =>
  path.replaceAll(/[*{}\s]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
