export const NAME_MAX = 255;

/** What is wrong with a collection's name; undefined when nothing is. Slashes make segments, none of which is empty, `.` or `..`. */
export function refusedCollection(name: string): string | undefined {
  if (name.split('/').some((segment) => segment === '')) return 'has an empty segment';
  return refusedName(name) ?? (name.split('/').some(isDots) ? 'has a segment of dots alone' : undefined);
}

/** What is wrong with a document's key; undefined when nothing is. */
export const refusedKey = (key: string): string | undefined =>
  refusedName(key) ?? (isDots(key) ? 'is a dot segment' : undefined);

function refusedName(name: string): string | undefined {
  if (name === '') return 'is empty';
  return name.length > NAME_MAX ? `is longer than ${NAME_MAX} characters` : undefined;
}

/** Clients take these out of an address before they send it, so that nobody could reach such a thing. */
const isDots = (segment: string): boolean => segment === '.' || segment === '..';
