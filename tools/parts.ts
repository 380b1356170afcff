import { OperatorError } from './operator-error.ts';

/** When it is first said that a part takes long, and how often after that. */
const [SAY_AFTER_SECONDS, SAY_EVERY_SECONDS] = [10, 30];

/** Something that `npm start` runs and has to stop again. */
export interface Part {
  pid: number;
  /** Resolves with the exit code when it has ended, however that came. */
  ended: Promise<number | null>;
  stop: () => Promise<void>;
  /** Ends it without waiting. */
  kill: () => void;
}

interface Running {
  name: string;
  layer: Layer;
  part: Part;
}

/** In the order in which they stop; those of one layer stop together. */
const LAYERS = ['process', 'engine', 'database'] as const;
export type Layer = (typeof LAYERS)[number];

export interface PartsOptions {
  onStarted: (name: string, layer: Layer, part: Part) => void;
  /** A part ended although nobody stopped it. */
  onLost: (name: string, exitCode: number | null) => void;
  /** A part is not ready yet after so many seconds; told again now and then. */
  onWaiting: (name: string, seconds: number) => void;
  /** How long a part may take to be ready; undefined: as long as its process lives. */
  startTimeoutSeconds: () => number | undefined;
}

export interface Parts {
  /**
   * Keeps track of a part from the moment its start begins, so that a stop in between waits for it. The signal tells it
   * to end what it has started, and to reject; its reason is an `OperatorError` when the start took too long.
   */
  start: <P extends Part>(name: string, layer: Layer, start: (signal: AbortSignal) => Promise<P>) => Promise<P>;
  stopAll: () => Promise<void>;
  killAll: () => void;
}

/** The parts of one instance: who runs, and in which order they stop. */
export function createParts({ onStarted, onLost, onWaiting, startTimeoutSeconds }: PartsOptions): Parts {
  const running = new Set<Running>();
  const starting = new Set<Promise<unknown>>();
  const stopping = new AbortController();
  let isStopping = false;

  /** Says that a part is waited for; `signal` ends its start when all stop or it takes too long. */
  function watch(name: string): { signal: AbortSignal; dismiss: () => void } {
    const overdue = new AbortController();
    const timers: NodeJS.Timeout[] = [];
    const sayAfter = (pauseSeconds: number, seconds: number) => {
      timers[0] = setTimeout(() => {
        onWaiting(name, seconds);
        sayAfter(SAY_EVERY_SECONDS, seconds + SAY_EVERY_SECONDS);
      }, pauseSeconds * 1000);
    };
    sayAfter(SAY_AFTER_SECONDS, SAY_AFTER_SECONDS);
    const seconds = startTimeoutSeconds();
    if (seconds !== undefined) {
      const reason = new OperatorError(`The ${name} was not ready after ${seconds} s (START_TIMEOUT_SECONDS).`);
      timers.push(setTimeout(() => overdue.abort(reason), seconds * 1000));
    }
    return {
      signal: AbortSignal.any([stopping.signal, overdue.signal]),
      dismiss: () => timers.forEach((timer) => clearTimeout(timer)),
    };
  }

  return {
    async start(name, layer, start) {
      if (isStopping) throw new Error('stopping');
      const { signal, dismiss } = watch(name);
      const begun = start(signal).then((part) => {
        const one = { name, layer, part };
        running.add(one);
        onStarted(name, layer, part);
        void part.ended.then((code) => {
          running.delete(one);
          return isStopping ? undefined : onLost(name, code);
        });
        return part;
      });
      starting.add(begun);
      try {
        return await begun;
      } finally {
        starting.delete(begun);
        dismiss();
      }
    },
    async stopAll() {
      isStopping = true;
      stopping.abort(new Error('stopping'));
      await Promise.allSettled(starting);
      for (const layer of LAYERS) {
        await Promise.all([...running].filter((one) => one.layer === layer).map(({ part }) => part.stop()));
      }
    },
    killAll() {
      isStopping = true;
      for (const { part } of running) part.kill();
    },
  };
}

/** Allows `count` restarts within any `windowMs`; the answer takes one. */
export function createRestartLimit(count: number, windowMs: number): (nowMs: number) => boolean {
  let restarts: number[] = [];
  return (nowMs) => {
    restarts = restarts.filter((at) => nowMs - at < windowMs);
    if (restarts.length >= count) return false;
    restarts.push(nowMs);
    return true;
  };
}

/** The first restart comes at once, later ones after pauses that double up to this. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [1_000, 60_000];

/**
 * The pause before each restart of a part that is started again for ever; it begins anew after a part that stayed.
 * @param stayedMs a part that ran for so long stayed.
 */
export function createRestartPauses(stayedMs: number): (nowMs: number) => number {
  let [restarts, lastAt] = [0, -Infinity];
  return (nowMs) => {
    if (nowMs - lastAt >= stayedMs) restarts = 0;
    const pauseMs = restarts === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (restarts - 1));
    restarts++;
    lastAt = nowMs + pauseMs;
    return pauseMs;
  };
}
