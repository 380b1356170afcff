import { type Change, changes, ProblemError } from '@quayside/client';
import { BASE_PATH, client } from './client.ts';

/** How the console hears of changes. */
export type FeedState = 'connecting' | 'live' | 'polling';

type Notice =
  | { kind: 'state'; state: FeedState }
  | { kind: 'changes'; changes: readonly Change[] }
  /** Changes may have been missed. */
  | { kind: 'reset' }
  /** A tab that has just opened asks the one with the stream how it stands. */
  | { kind: 'who' };

export interface FeedListener {
  onState(state: FeedState): void;
  onChanges(changes: readonly Change[]): void;
  onReset(): void;
}

/** Tabs of one person share a stream; what others may see is never told to theirs. */
const nameFor = (who: string): string => `quayside-changes:${BASE_PATH}:${who}`;
/** A stream that is away for longer is told to people; a process that stops comes back sooner. */
const LOST_AFTER_MS = 8_000;
/** After that a stream that was refused is asked for again: somebody may have signed in. */
const REFUSED_MS = 30_000;

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });

/**
 * Hears of changes that `who` may see until the signal is aborted: one of their tabs in the browser holds the stream, and tells the others. Where the
 * browser has no locks (a page of an insecure origin), the visible tab holds its own.
 */
export function followChanges(listener: FeedListener, who: string, signal: AbortSignal): void {
  const name = nameFor(who);
  const tabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel(name) : undefined;
  let state: FeedState = 'connecting';
  let isHolder = false;

  const hear = (notice: Notice): void => {
    if (notice.kind === 'state') listener.onState((state = notice.state));
    else if (notice.kind === 'changes') listener.onChanges(notice.changes);
    else if (notice.kind === 'reset') listener.onReset();
    else if (isHolder) tabs?.postMessage({ kind: 'state', state } satisfies Notice);
  };
  const tell = (notice: Notice): void => {
    hear(notice);
    tabs?.postMessage(notice);
  };
  const hold = async (until: AbortSignal): Promise<void> => {
    isHolder = true;
    while (!until.aborted) {
      await holdStream(tell, until);
      await pause(REFUSED_MS, until);
    }
    isHolder = false;
  };

  tabs?.addEventListener('message', ({ data }: MessageEvent<Notice>) => hear(data));
  signal.addEventListener('abort', () => tabs?.close(), { once: true });
  if ('locks' in navigator && tabs) {
    tabs.postMessage({ kind: 'who' } satisfies Notice);
    navigator.locks.request(name, { signal }, () => hold(signal)).catch(() => undefined);
  } else holdWhileVisible(hold, signal);
}

function holdWhileVisible(hold: (until: AbortSignal) => Promise<void>, signal: AbortSignal): void {
  let ending: AbortController | undefined;
  const look = () => {
    if (document.visibilityState === 'hidden' || signal.aborted) {
      ending?.abort();
      ending = undefined;
    } else if (!ending) {
      ending = new AbortController();
      void hold(ending.signal);
    }
  };
  document.addEventListener('visibilitychange', look, { signal });
  signal.addEventListener('abort', look, { once: true });
  look();
}

/** Holds the stream until the signal is aborted; ends before that only where it is refused for good. */
async function holdStream(tell: (notice: Notice) => void, signal: AbortSignal): Promise<void> {
  let lost: ReturnType<typeof setTimeout> | undefined;
  let hasBegun = false;
  const onLost = () => (lost ??= setTimeout(() => tell({ kind: 'state', state: 'polling' }), LOST_AFTER_MS));
  onLost();
  try {
    for await (const event of changes({ client, signal, onLost })) {
      clearTimeout(lost);
      lost = undefined;
      if (event.type === 'hello') {
        tell({ kind: 'state', state: 'live' });
        // What changed between the first answers and the stream is not told.
        if (!hasBegun) tell({ kind: 'reset' });
        hasBegun = true;
      } else if (event.type === 'changes') tell({ kind: 'changes', changes: event.changes });
      else tell({ kind: 'reset' });
    }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    tell({ kind: 'state', state: 'polling' });
  } finally {
    clearTimeout(lost);
  }
}
