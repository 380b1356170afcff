import { ProblemError } from '@quayside/client';
import { hashKey, MutationCache, QueryCache, type QueryClient } from '@tanstack/react-query';
import { BASE_PATH, CONSOLE_PATH } from './client.ts';
import { meQuery, whoIs } from './me.ts';

/** Tabs tell each other that somebody has signed in or out. */
const CHANNEL = `quayside-session:${BASE_PATH}`;

type Notice =
  | { kind: 'signed-in' }
  | { kind: 'signed-out' }
  /** Who a tab that has just opened is signed in as. */
  | { kind: 'here'; who: string };

/** The page that the sign-in of another tab ends at. */
export const SIGNED_IN = 'signed-in';

/** Nobody is signed in any more (`ended`), and whoever is there knows and reads on (`dismissed`). */
type SessionState = 'lasts' | 'ended' | 'dismissed';

let state: SessionState = 'lasts';
const watchers = new Set<() => void>();

const become = (next: SessionState): void => {
  state = next;
  for (const watch of watchers) watch();
};

/** Whether a request was refused since nobody is signed in any more. */
export const sessionHasEnded = (): boolean => state === 'ended';

/** Says no more that the session has ended, until the next request is refused. */
export const dismissEnd = (): void => become('dismissed');

export function watchSession(watch: () => void): () => void {
  watchers.add(watch);
  return () => watchers.delete(watch);
}

const isSignedOut = (error: unknown): boolean => error instanceof ProblemError && error.problem.status === 401;

const noteRefusal = (error: unknown): void => {
  if (isSignedOut(error)) become('ended');
};

/** Notes that the session has ended when any request says so, and that there is one again when any is answered. */
export const sessionCaches = {
  queryCache: new QueryCache({
    onError: noteRefusal,
    onSuccess: () => {
      if (state !== 'lasts') become('lasts');
    },
  }),
  mutationCache: new MutationCache({ onError: noteRefusal }),
};

/** Address of the sign-in page that leads back to `next`, a path of the service with its query. */
export const signInAddress = (next: string, more: Record<string, string> = {}): string =>
  `${BASE_PATH}/api/auth/sign-in?${new URLSearchParams({ next, ...more })}`;

/** Opens the sign-in in another tab: nothing that was typed here is lost. */
export const signInBeside = (): void => void window.open(signInAddress(CONSOLE_PATH + SIGNED_IN), '_blank');

/** Leaves for the sign-in page, which leads back here. */
export const signInHere = (): void => location.assign(signInAddress(location.pathname + location.search));

/** The channel of this tab while it follows the session: a channel does not hear what it tells itself. */
let own: BroadcastChannel | undefined;

function tellTabs(notice: Notice): void {
  const channel = own ?? new BroadcastChannel(CHANNEL);
  channel.postMessage(notice);
  if (channel !== own) channel.close();
}

/** Told by the page that a sign-in ends at. */
export const tellSignedIn = (): void => tellTabs({ kind: 'signed-in' });

/** Told by the tab that somebody signs out in. */
export const tellSignedOut = (): void => tellTabs({ kind: 'signed-out' });

/** Forgets all that was answered to somebody else, and begins at the first page. */
function beginAnew(queries: QueryClient): void {
  queries.clear();
  location.assign(CONSOLE_PATH);
}

/**
 * Keeps what is shown that of `who` is signed in, until the signal is aborted: asks all again when the session goes on, and
 * begins anew when somebody signs out, or signs in as somebody else, in another tab.
 */
export function followSession(queries: QueryClient, who: string, signal: AbortSignal): void {
  const channel = new BroadcastChannel(CHANNEL);
  own = channel;
  channel.addEventListener('message', ({ data }: MessageEvent<Notice>) => {
    if (data.kind === 'signed-in') become('lasts');
    else if (data.kind === 'signed-out' || data.who !== who) beginAnew(queries);
  });
  channel.postMessage({ kind: 'here', who } satisfies Notice);
  const stopWatching = watchSession(() => {
    if (state === 'lasts') void queries.invalidateQueries();
  });
  const stopAsking = queries.getQueryCache().subscribe(({ query }) => {
    if (query.queryHash !== hashKey(meQuery.queryKey)) return;
    const me = queries.getQueryData(meQuery.queryKey);
    if (me && whoIs(me) !== who) beginAnew(queries);
  });
  const stop = () => {
    if (own === channel) own = undefined;
    channel.close();
    stopWatching();
    stopAsking();
  };
  signal.addEventListener('abort', stop, { once: true });
}
