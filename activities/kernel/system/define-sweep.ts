import { type Purge, purgeAll } from '../../../domain/kernel/system/purges.queries.ts';
import type { Deps } from '../../deps.ts';

/** Work that is found in rows at regular times: what a lost signal or a crash left undone, or what has expired. */
export interface SweepDefinition<Row> {
  /** Kebab case. Names the activity, the metrics' label and the remembered failures: never reuse one. */
  name: string;
  /** From start to start. */
  everyMs: number;
  /** The most rows of one pass; the others are for the next. */
  limit: number;
  /** Rows under way at once. */
  concurrency: number;
  /** A row that takes longer has failed. */
  rowTimeoutMs: number;
  /** There is always something to do: it is not worth a line in the log. */
  isRoutine: boolean;
  /** It has no rows of its own, and runs in one activity with the other chores that are due. */
  isChore: boolean;
  /** Rows that are due, the longest overdue first. */
  due: (deps: Deps, limit: number) => Promise<Row[]>;
  /** What tells the row from all others of the sweep. */
  key: (row: Row) => string;
  /**
   * Deals with one row; retrying is safe. Answers how much it found undone: 1 unless told otherwise, 0 when nothing was
   * amiss. What it throws is noted, and the row is tried again later.
   */
  handle: (deps: Deps, row: Row) => Promise<number | void>;
}

export type Sweep = SweepDefinition<unknown>;

const DEFAULTS = {
  everyMs: 10_000,
  limit: 500,
  concurrency: 10,
  rowTimeoutMs: 60_000,
  isRoutine: false,
  isChore: false,
};
const HOUR_MS = 3_600_000;

export const defineSweep = <Row>(
  sweep: Omit<SweepDefinition<Row>, keyof typeof DEFAULTS> & Partial<Pick<SweepDefinition<Row>, keyof typeof DEFAULTS>>,
): Sweep => ({ ...DEFAULTS, ...sweep }) as SweepDefinition<Row> as Sweep;

export interface ChoreDefinition {
  name: string;
  /** Hourly by default. */
  everyMs?: number;
  /** Answers how much it did. */
  run: (deps: Deps) => Promise<number>;
}

/** A sweep without rows of its own, as the removal of what has expired. */
export const defineChore = ({ name, everyMs = HOUR_MS, run }: ChoreDefinition): Sweep =>
  defineSweep({
    name,
    everyMs,
    rowTimeoutMs: 240_000,
    isRoutine: true,
    isChore: true,
    due: async () => [name],
    key: (only) => only,
    handle: run,
  });

/** Removes what has expired by a function of the database. */
export const purgeChore = (name: string, purge: Purge): Sweep =>
  defineChore({ name, run: ({ system }) => purgeAll(system, purge) });
