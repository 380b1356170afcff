/** Text as one segment of a workflow's id, whose segments stand between slashes. */
export const idSegment = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[%/\p{Cc}]/gu, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** The identifier of a repository as segments of a workflow's id, one for each of its own. */
export const idPath = (repositoryIdentifier: string): string =>
  repositoryIdentifier.split('/').map(idSegment).join('/');

/** So many hexadecimal digits of an id, all those at its random end, tell its row from others of the same kind and name. */
const DIGITS = 12;

/** The random end of a UUIDv7, by which the id of a workflow names one row. */
export const idEnd = (id: string): string => id.slice(-DIGITS);

/** The date (UTC) on which a UUIDv7 was made, which its first 48 bits tell in milliseconds. */
export const idDate = (id: string): string =>
  new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toISOString().slice(0, 10);
