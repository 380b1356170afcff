import type { Database } from '../data/tables.ts';
import { DomainError } from '../shared/errors.ts';
import { type Grant, takeGrants } from './rate-limits.queries.ts';

export interface SharedLimitOptions {
  /** Keys of one limit are apart from those of others. */
  name: string;
  limit: number;
  windowSeconds: number;
  /** While the database cannot be asked: every process counts for itself, or all are refused (`unavailable`). */
  withoutStore: 'count-alone' | 'refuse';
  /** Milliseconds of a clock that is never set; standard is that of the process. */
  now?: () => number;
}

export interface Usage {
  isRefused: boolean;
  /** Requests left, as far as this process knows. */
  left: number;
  /** Until the window ends. */
  msLeft: number;
}

export interface SharedLimit {
  /** Counts a request of a key. */
  (key: string): Promise<Usage>;
  /**
   * Counts a request as less, by some tenths of 1, if its window goes on. What is given back is this process's alone.
   * @param countedAt when it was counted, by the clock of the limit.
   */
  giveBack(key: string, part: number, countedAt: number): void;
}

interface Window {
  /** Taken out of the limit by this process, and not used yet; a part of a request remains where one was given back. */
  unspent: number;
  /** Over all processes, when this one asked last. */
  taken: number;
  /** By the clock of the limit. */
  endsAt: number;
}

/** A process takes an eighth of what is left at a time, and at most a twentieth of the limit. */
const SHARE_OF_REST = 8;
const SHARE_OF_LIMIT = 20;
/** For so long nothing is asked of a database that did not answer. */
const AWAY_MS = 5_000;
const KEPT_WINDOWS = 10_000;

/**
 * A limit that holds over processes: each takes requests out of it in small grants, and most requests are counted
 * without asking the database. Never more than the limit are let through. With n processes a key may be refused
 * earlier, by what the others took and do not use: at most a twentieth of the limit each, and what they gave back.
 */
export function createSharedLimit(db: Database, options: SharedLimitOptions): SharedLimit {
  const { name, limit, windowSeconds, withoutStore, now = () => performance.now() } = options;
  const windows = new Map<string, Window>();
  /** Keys that wait for the next statement, and what becomes of them. */
  let waiting = new Map<string, PromiseWithResolvers<void>>();
  let isAsking = false;
  let awayUntil = 0;

  const windowOf = (key: string): Window | undefined => {
    const window = windows.get(key);
    return window && window.endsAt > now() ? window : undefined;
  };
  const wantedOf = (key: string): number => {
    const left = limit - (windowOf(key)?.taken ?? 0);
    return Math.max(1, Math.min(Math.ceil(left / SHARE_OF_REST), Math.ceil(limit / SHARE_OF_LIMIT)));
  };
  const note = ({ key, granted, taken, msLeft }: Grant) => {
    const unspent = windowOf(key)?.unspent ?? 0;
    windows.set(key, { unspent: unspent + granted, taken, endsAt: now() + msLeft });
  };
  /** What is left of the limit is this process's own, until the window ends. */
  const countAlone = (key: string) => {
    const { taken = 0, endsAt = now() + windowSeconds * 1_000 } = windowOf(key) ?? {};
    if (taken === limit) return;
    windows.set(key, { unspent: limit - taken, taken: limit, endsAt });
  };
  const askAll = async (): Promise<void> => {
    isAsking = true;
    // Those that ask at the same time share the statement.
    await Promise.resolve();
    while (waiting.size > 0) {
      const asked = waiting;
      waiting = new Map();
      try {
        const demands = [...asked.keys()].map((key) => ({ key: `${name}:${key}`, wanted: wantedOf(key) }));
        const grants = await takeGrants(db, demands, { limit, windowSeconds });
        for (const grant of grants) note({ ...grant, key: grant.key.slice(name.length + 1) });
        for (const each of asked.values()) each.resolve();
      } catch (error) {
        if (withoutStore === 'refuse') for (const each of asked.values()) each.reject(uncounted(error));
        else {
          awayUntil = now() + AWAY_MS;
          for (const [key, each] of asked) {
            countAlone(key);
            each.resolve();
          }
        }
      }
    }
    isAsking = false;
  };
  const ask = async (key: string): Promise<void> => {
    if (now() < awayUntil) {
      countAlone(key);
      return;
    }
    forgetEnded(windows, now());
    const place = waiting.get(key) ?? Promise.withResolvers<void>();
    waiting.set(key, place);
    if (!isAsking) void askAll();
    await place.promise;
  };

  const count = async (key: string): Promise<Usage> => {
    for (;;) {
      const window = windowOf(key);
      if (window && (window.unspent >= 1 || window.taken >= limit)) {
        const isRefused = window.unspent < 1;
        if (!isRefused) window.unspent--;
        const left = Math.floor(limit - window.taken + window.unspent);
        return { isRefused, left, msLeft: window.endsAt - now() };
      }
      await ask(key);
    }
  };
  const giveBack = (key: string, part: number, countedAt: number): void => {
    const window = windowOf(key);
    if (!window || countedAt < window.endsAt - windowSeconds * 1_000) return;
    // Tenths are not exact as floats, and ten of them are to be a request.
    window.unspent = Math.min(Math.round((window.unspent + part) * 10) / 10, window.taken);
  };
  return Object.assign(count, { giveBack });
}

const uncounted = (cause: unknown): DomainError =>
  Object.assign(new DomainError('unavailable', 'Requests cannot be counted at the moment; try again later'), { cause });

/** Where many keys came in a short time, those whose windows have ended need no memory. */
function forgetEnded(windows: Map<string, Window>, now: number): void {
  if (windows.size < KEPT_WINDOWS) return;
  for (const [key, { endsAt }] of windows) if (endsAt <= now) windows.delete(key);
}
