const CHECK_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';

/**
 * The case-safe form of an id: 18 characters. Each of the last three holds which of five characters are capitals (the
 * vendor's article on 15- and 18-character ids). Ids of other lengths are returned as they are.
 */
export function longId(id: string): string {
  if (!/^[A-Za-z0-9]{15}$/.test(id)) return id;
  const suffix = [0, 5, 10].map((start) => {
    const capitals = [0, 1, 2, 3, 4].filter((index) => /[A-Z]/.test(id.charAt(start + index)));
    return CHECK_LETTERS[capitals.reduce((sum, index) => sum + (1 << index), 0)];
  });
  return id + suffix.join('');
}

/** Whether two ids, of 15 or 18 characters, name the same org or record. */
export const isSameOrgId = (left: string, right: string): boolean => longId(left) === longId(right);

/** Whether a text is the id of a record of some kind. @param prefix the three characters that say which kind. */
export const isIdOf = (prefix: string, text: string): boolean =>
  text.startsWith(prefix) && /^(?:\w{15}|\w{18})$/.test(text);
