import { LRUCache } from 'lru-cache';

/** The commits of a package between two others, by number; `from` null: from the beginning. */
export interface Range {
  packageNo: number;
  from: number | null;
  to: number;
}

/** Key of a range: the same for the same range of a repository. */
export const rangeKey = ({ packageNo, from, to }: Range): string => `${packageNo}:${from ?? ''}:${to}`;

export interface RangeFacts {
  /** Newest first. */
  commits: number[];
  workItems: string[];
  pullRequests: number[];
}

/** The facts of ranges of one repository, by `rangeKey`: those used last. */
export type RangeCache = LRUCache<string, RangeFacts>;

/** A range takes some hundred bytes; room is made as it is needed, since many repositories have few. */
const RANGES_MAX = 20_000;

/** An empty cache of the ranges of one repository. */
export const createRangeCache = (): RangeCache => new LRUCache({ maxSize: RANGES_MAX, sizeCalculation: () => 1 });
