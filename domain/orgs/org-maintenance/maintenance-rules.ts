import { isoOf } from '../../kernel/text/date-time-rules.ts';
import type { Freeze } from '../../projects/policies/promotion-policy-rules.ts';

/** When the platform works on the instance of an org. */
export interface MaintenanceEntry {
  /** ISO 8601, inclusive. */
  from: string;
  /** ISO 8601, exclusive. */
  to: string;
  /** For people. */
  summary: string;
}

/** What was read of a calendar. A failed try leaves the entries as they were read last. */
export interface CalendarState {
  entries: MaintenanceEntry[];
  /** What in it was not understood. */
  remarks: string[];
  /** What its host said of this version. */
  etag: string | null;
  /** ISO 8601; null: never yet. */
  readAt: string | null;
  /** Why the last try failed, in words; null: it did not. */
  failure: string | null;
}

/** An org has at most so many entries, and as many of its calendar. */
export const ENTRIES_MAX = 200;

/** Work that begins less than this before a maintenance would likely meet it. */
const LEAD_MS = 15 * 60_000;

/** What was read longer ago may have changed. */
const STALE_MS = 24 * 3_600_000;

export const UNREAD: CalendarState = { entries: [], remarks: [], etag: null, readAt: null, failure: null };

export const isStale = ({ readAt }: CalendarState, now: Date): boolean =>
  readAt === null || now.getTime() - Date.parse(readAt) > STALE_MS;

/** What maintenance of its org is for an environment: a freeze, which begins a little earlier. */
export const freezeOf = ({ from, to, summary }: MaintenanceEntry): Freeze => ({
  from: new Date(Date.parse(from) - LEAD_MS).toISOString(),
  to,
  reason: `maintenance of the instance from ${isoOf(from).replace('.000Z', 'Z')}: ${summary}`,
});

/** The entries that are not over, the first to begin first. */
export const comingEntries = <Entry extends MaintenanceEntry>(entries: readonly Entry[], now: Date): Entry[] =>
  entries
    .filter(({ to }) => Date.parse(to) > now.getTime())
    .toSorted((a, b) => Date.parse(a.from) - Date.parse(b.from));
