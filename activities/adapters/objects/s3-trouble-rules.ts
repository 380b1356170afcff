/**
 * Whether an error of the AWS SDK says that the store cannot be used for now, by anybody here: not that an object is missing, or
 * that what was sent is wrong.
 */
export function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Error) || !('$metadata' in error)) return false;
  const { httpStatusCode: status } = error.$metadata as { httpStatusCode?: number };
  return status === undefined || status >= 500 || status === 401 || status === 403 || error.name === 'NoSuchBucket';
}
