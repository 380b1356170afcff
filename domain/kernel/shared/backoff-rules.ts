/**
 * Exponential backoff, in milliseconds: how long to wait after so many failures in a row.
 * @param failures at least 1. With each one after the first the wait doubles, up to `longestMs`.
 */
export const backoffMs = (failures: number, firstMs: number, longestMs: number): number =>
  Math.min(longestMs, firstMs * 2 ** (failures - 1));
