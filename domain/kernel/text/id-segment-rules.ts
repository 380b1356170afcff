/** Text as one segment of a workflow's id, whose segments stand between slashes. */
export const idSegment = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[%/\p{Cc}]/gu, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** The identifier of a repository as segments of a workflow's id, one for each of its own. */
export const idPath = (repositoryIdentifier: string): string =>
  repositoryIdentifier.split('/').map(idSegment).join('/');
