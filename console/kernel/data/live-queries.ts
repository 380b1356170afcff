import type { Change } from '@quayside/client';
import type { QueryClient } from '@tanstack/react-query';
import { askingAgain } from './asking-again.ts';
import { type FeedState, followChanges } from './changes-feed.ts';

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
export function keepLive(queries: QueryClient, who: string, signal: AbortSignal): void {
  const askAgain = askingAgain(isVisible, signal);
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
          if (query.meta?.topics?.some((topic) => topics.has(topic))) askAgain(query);
      },
      onReset: askAllAgain,
    },
    who,
    signal,
  );
  const polling = setInterval(() => {
    if (state !== 'live' && isVisible()) askAllAgain();
  }, POLL_MS);
  signal.addEventListener('abort', () => clearInterval(polling));
}
