import { createNewestCache, type NewestCache } from '../../../kernel/shared/newest-cache.ts';

/** The commits of a package between two others, by number; `from` null: from the beginning. */
export interface Range {
  packageNo: number;
  from: number | null;
  to: number;
}

/** The same for the same range of a repository. */
export const rangeKey = ({ packageNo, from, to }: Range): string => `${packageNo}:${from ?? ''}:${to}`;

export interface RangeFacts {
  /** Newest first. */
  commits: number[];
  workItems: string[];
  pullRequests: number[];
}

/** The facts of ranges of one repository, by `rangeKey`: those added last. */
export type RangeCache = NewestCache<RangeFacts>;

/** A range takes some hundred bytes. */
const RANGES_MAX = 20_000;

/** An empty cache of the ranges of one repository. */
export const createRangeCache = (): RangeCache => createNewestCache(RANGES_MAX);
