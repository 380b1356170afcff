/**
 * What the work resolves with or, when that takes longer, what `late` returns or throws. The work itself goes on:
 * nothing can end it.
 */
export async function within<T, Late>(timeoutMs: number, work: Promise<T>, late: () => Late): Promise<T | Late> {
  const { promise: timedOut, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  try {
    return await Promise.race([work, timedOut.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
