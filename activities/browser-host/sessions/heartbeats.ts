/** Tells that this host lives, and tells the host when nobody hears that any more. */
export interface HeartbeatParts {
  /** Rejects when the sign was not taken. */
  say: () => Promise<void>;
  onFailed: (error: unknown) => void;
  /** Called when none was taken for `silentMs`; again when that happens after one was. */
  onSilent: () => void;
  everyMs: number;
  silentMs: number;
}

/** Sends heartbeats until the answered function is called. The one before the first is taken to be just given. */
export function sendHeartbeats({ say, onFailed, onSilent, everyMs, silentMs }: HeartbeatParts): () => void {
  let isStopped = false;
  let silence = setTimeout(onSilent, silentMs);
  const give = async () => {
    const saidMs = performance.now();
    await say();
    clearTimeout(silence);
    // Others count from when it was given at the earliest.
    if (!isStopped) silence = setTimeout(onSilent, Math.max(0, saidMs + silentMs - performance.now()));
  };
  const living = setInterval(() => void give().catch(onFailed), everyMs);
  return () => {
    isStopped = true;
    clearInterval(living);
    clearTimeout(silence);
  };
}
