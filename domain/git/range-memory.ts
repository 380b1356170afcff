/** The commits of a package between two others, by number; `from` null: from the beginning. */
export interface Range {
  packageNo: number;
  from: number | null;
  to: number;
}

export interface RangeFacts {
  /** Newest first. */
  commits: readonly number[];
  workItems: readonly string[];
  pullRequests: readonly number[];
}

/** Ranges that a process computed or read, those asked for last. */
export interface RangeMemory {
  get: (key: string) => RangeFacts | undefined;
  set: (key: string, facts: RangeFacts) => void;
}

/** Bounds the memory of one history; a range holds some hundred bytes. */
const REMEMBERED = 20_000;

export function createRangeMemory(): RangeMemory {
  const kept = new Map<string, RangeFacts>();
  return {
    get: (key) => kept.get(key),
    set(key, facts) {
      kept.set(key, facts);
      const [oldest] = kept.keys();
      if (kept.size > REMEMBERED && oldest !== undefined) kept.delete(oldest);
    },
  };
}
