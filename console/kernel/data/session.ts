import { ProblemError } from '@quayside/client';
import { MutationCache, QueryCache, type QueryClient } from '@tanstack/react-query';
import { BASE_PATH, CONSOLE_PATH } from './client.ts';

/** Tabs tell each other that somebody has signed in. */
const CHANNEL = `quayside-session:${BASE_PATH}`;
/** The page that the sign-in of another tab ends at. */
export const SIGNED_IN = 'signed-in';

let hasEnded = false;
const watchers = new Set<() => void>();

const tell = (next: boolean): void => {
  hasEnded = next;
  for (const watch of watchers) watch();
};

/** Whether a request was refused since nobody is signed in any more. */
export const sessionHasEnded = (): boolean => hasEnded;

export function watchSession(watch: () => void): () => void {
  watchers.add(watch);
  return () => watchers.delete(watch);
}

const isSignedOut = (error: unknown): boolean => error instanceof ProblemError && error.problem.status === 401;

/** Notes that the session has ended when any request says so. */
export const sessionCaches = {
  queryCache: new QueryCache({ onError: (error) => isSignedOut(error) && tell(true) }),
  mutationCache: new MutationCache({ onError: (error) => isSignedOut(error) && tell(true) }),
};

/** Address of the sign-in page that leads back to `next`, a path of the service with its query. */
export const signInAddress = (next: string, more: Record<string, string> = {}): string =>
  `${BASE_PATH}/api/auth/sign-in?${new URLSearchParams({ next, ...more })}`;

/** Opens the sign-in in another tab: nothing that was typed here is lost. */
export const signInBeside = (): void => void window.open(signInAddress(CONSOLE_PATH + SIGNED_IN), '_blank');

/** Leaves for the sign-in page, which leads back here. */
export const signInHere = (): void => location.assign(signInAddress(location.pathname + location.search));

/** Told by the page that a sign-in ends at. */
export function tellSignedIn(): void {
  new BroadcastChannel(CHANNEL).postMessage('signed-in');
}

/** Goes on when somebody has signed in in another tab; until the signal is aborted. */
export function followSession(queries: QueryClient, signal: AbortSignal): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener('message', () => {
    tell(false);
    void queries.invalidateQueries();
  });
  signal.addEventListener('abort', () => channel.close(), { once: true });
}
