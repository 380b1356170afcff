import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { isProblem, readNames, type ReadSeries, type Series, seriesKey } from './series-rules.ts';

/** A UUID. */
function idOf(key: string): string {
  const hex = createHash('sha256').update(key).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}

/** The most characters of names and tags that are remembered: those of some 50,000 series. */
const REMEMBERED_MAX = 8_000_000;

/** Reads series and remembers what it has read: the same come again and again. */
export function createSeriesReader(): ReadSeries {
  const remembered = new LRUCache<string, Series>({ maxSize: REMEMBERED_MAX });
  return (metric, type, tags) => {
    const given = JSON.stringify([metric, type, tags]);
    const before = remembered.get(given);
    if (before) return before;
    const names = readNames(metric, type, tags);
    if (isProblem(names)) return names;
    const read = { id: idOf(seriesKey(names)), ...names };
    remembered.set(given, read, { size: given.length });
    return read;
  };
}
