import { Context } from '@temporalio/activity';

/** Well within the shortest time after which a silent activity counts as lost; the SDK sends only as many as are needed. */
const HEARTBEAT_MS = 1_000;

/**
 * Lets the engine know that the work of this activity goes on for as long as it does.
 * @param progress what its page in the UI shows meanwhile.
 */
export async function withHeartbeat<T>(
  work: (signal: AbortSignal) => Promise<T>,
  progress?: () => unknown,
): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(progress?.()), HEARTBEAT_MS);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(timer);
  }
}
