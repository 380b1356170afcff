export const NAME_MAX = 255;

/** Why a collection cannot have this name; undefined when it can. Slashes make segments, none of which is empty, `.` or `..`. */
export function collectionNameProblem(name: string): string | undefined {
  if (name.split('/').some((segment) => segment === '')) return 'has an empty segment';
  return nameProblem(name) ?? (name.split('/').some(isDots) ? 'has a segment of dots alone' : undefined);
}

/** Why a document cannot have this key; undefined when it can. */
export const keyProblem = (key: string): string | undefined =>
  nameProblem(key) ?? (isDots(key) ? 'is a dot segment' : undefined);

function nameProblem(name: string): string | undefined {
  if (name === '') return 'is empty';
  return name.length > NAME_MAX ? `is longer than ${NAME_MAX} characters` : undefined;
}

/** Clients remove such segments from an address before they send it, so that nobody could reach it. */
const isDots = (segment: string): boolean => segment === '.' || segment === '..';
