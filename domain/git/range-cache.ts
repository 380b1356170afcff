/** The commits of a package between two others, by number; `from` null: from the beginning. */
export interface Range {
  packageNo: number;
  from: number | null;
  to: number;
}

export const rangeKey = ({ packageNo, from, to }: Range): string => `${packageNo}:${from ?? ''}:${to}`;

export interface RangeFacts {
  /** Newest first. */
  commits: number[];
  workItems: string[];
  pullRequests: number[];
}

/** The facts of ranges of one repository, by `rangeKey`: those added last. */
export interface RangeCache {
  get: (key: string) => RangeFacts | undefined;
  set: (key: string, facts: RangeFacts) => void;
}

/** A range takes some hundred bytes. */
const RANGES_MAX = 20_000;

export function createRangeCache(): RangeCache {
  const cached = new Map<string, RangeFacts>();
  return {
    get: (key) => cached.get(key),
    set(key, facts) {
      cached.set(key, facts);
      const [oldest] = cached.keys();
      if (cached.size > RANGES_MAX && oldest !== undefined) cached.delete(oldest);
    },
  };
}
