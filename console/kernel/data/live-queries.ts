import type { Change } from '@quayside/client';
import type { Query, QueryClient } from '@tanstack/react-query';
import { type FeedState, followChanges } from './changes-feed.ts';

const AGAIN_MS = 2_000;
const LIST_AGAIN_MS = 5_000;
const POLL_MS = 30_000;

let state: FeedState = 'connecting';
const watchers = new Set<() => void>();

/** How this tab hears of changes now. */
export const feedState = (): FeedState => state;

/** Calls back whenever `feedState` is another one; answers how to stop it. */
export function watchFeedState(watch: () => void): () => void {
  watchers.add(watch);
  return () => watchers.delete(watch);
}

const isVisible = (): boolean => document.visibilityState === 'visible';

/**
 * Asks questions again after changes of their topics, each at most every 2 s, lists every 5 s, and in a hidden tab when it
 * is seen again; without a stream all that are shown, every 30 s. Until the signal is aborted.
 */
export function keepLive(queries: QueryClient, signal: AbortSignal): void {
  const again = new Map<string, ReturnType<typeof setTimeout>>();
  const askAgain = (query: Query): void => {
    query.invalidate();
    // Whoever comes back to the tab asks what is stale.
    // An answer that is on its way may be older than the change.
    if (query.isActive() && isVisible()) void query.fetch(undefined, { cancelRefetch: true }).catch(() => undefined);
  };
  const later = (query: Query): void => {
    if (again.has(query.queryHash)) return;
    const pauseMs = query.meta?.isList ? LIST_AGAIN_MS : AGAIN_MS;
    const waitMs = Math.max(0, query.state.dataUpdatedAt + pauseMs - Date.now());
    const timer = setTimeout(() => {
      again.delete(query.queryHash);
      askAgain(query);
    }, waitMs);
    again.set(query.queryHash, timer);
  };
  const askAllAgain = () => void queries.invalidateQueries({ refetchType: isVisible() ? 'active' : 'none' });

  followChanges(
    {
      onState(next) {
        state = next;
        for (const watch of watchers) watch();
      },
      onChanges(told) {
        const topics = new Set<string>(told.map(({ topic }: Change) => topic));
        for (const query of queries.getQueryCache().getAll())
          if (query.meta?.topics?.some((topic) => topics.has(topic))) later(query);
      },
      onReset: askAllAgain,
    },
    signal,
  );
  const polling = setInterval(() => {
    if (state !== 'live' && isVisible()) askAllAgain();
  }, POLL_MS);
  signal.addEventListener('abort', () => {
    clearInterval(polling);
    for (const timer of again.values()) clearTimeout(timer);
  });
}
