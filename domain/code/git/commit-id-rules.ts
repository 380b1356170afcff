/** An id of a commit, in full or abbreviated. */
const COMMIT_ID = /^[0-9a-f]{7,64}$/;

/** Whether two ids, each in full or abbreviated, name the same commit of a repository. */
export const isSameCommit = (one: string, other: string): boolean =>
  one === other || (COMMIT_ID.test(one) && COMMIT_ID.test(other) && (one.startsWith(other) || other.startsWith(one)));
