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
}

export interface Parts {
  /** Keeps track of a part from the moment its start begins, so that a stop in between waits for it. */
  start: <P extends Part>(name: string, layer: Layer, start: () => Promise<P>) => Promise<P>;
  stopAll: () => Promise<void>;
  killAll: () => void;
}

/** The parts of one instance: who runs, and in which order they stop. */
export function createParts({ onStarted, onLost }: PartsOptions): Parts {
  const running = new Set<Running>();
  const starting = new Set<Promise<unknown>>();
  let isStopping = false;

  return {
    async start(name, layer, start) {
      if (isStopping) throw new Error('stopping');
      const begun = start().then((part) => {
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
      }
    },
    async stopAll() {
      isStopping = true;
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
