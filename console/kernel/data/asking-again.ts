import type { Query } from '@tanstack/react-query';

const AGAIN_MS = 2_000;
const LIST_AGAIN_MS = 5_000;

/**
 * Answers a function that asks a question again after a change: at most every 2 s, lists and those that failed every 5 s, and
 * never while an answer is on its way. Such an answer may be older than the change, so that it is asked for once more when it
 * has come. Until the signal is aborted.
 */
export function askingAgain(isVisible: () => boolean, signal: AbortSignal): (query: Query) => void {
  const waiting = new Map<Query, ReturnType<typeof setTimeout>>();
  const askedAt = new WeakMap<Query, number>();

  const ask = async (query: Query): Promise<void> => {
    // Whoever comes back to the tab asks what is stale.
    query.invalidate();
    if (!query.isActive() || !isVisible()) return;
    if (query.state.fetchStatus === 'fetching') {
      await query.promise?.catch(() => undefined);
      if (!signal.aborted) later(query);
      return;
    }
    askedAt.set(query, Date.now());
    await query.fetch().catch(() => undefined);
  };
  const mayAskAt = (query: Query): number => {
    const { dataUpdatedAt, errorUpdatedAt, error } = query.state;
    const last = Math.max(dataUpdatedAt, errorUpdatedAt, askedAt.get(query) ?? 0);
    return last + (query.meta?.isList || error ? LIST_AGAIN_MS : AGAIN_MS);
  };
  const wait = (query: Query): void => {
    const timer = setTimeout(
      () => {
        // An answer may have come since.
        if (mayAskAt(query) > Date.now()) return wait(query);
        waiting.delete(query);
        void ask(query);
      },
      Math.max(0, mayAskAt(query) - Date.now()),
    );
    waiting.set(query, timer);
  };
  const later = (query: Query): void => {
    if (!waiting.has(query)) wait(query);
  };

  signal.addEventListener('abort', () => {
    for (const timer of waiting.values()) clearTimeout(timer);
    waiting.clear();
  });
  return later;
}
