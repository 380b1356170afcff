import { defineSignal } from '../../launch.ts';

/** When a sweep runs; the activity that executes it has the name that `sweepActivity` gives. */
export interface SweepPlan {
  name: string;
  /** From start to start. */
  everyMs: number;
  /** It has no rows to look for: all that are due run in one activity. */
  isChore?: boolean;
}

/** What one pass of a sweep came to, in rows (or in what a row stands for). */
export interface SweepReport {
  found: number;
  handled: number;
  failed: number;
  /** Left alone for now because they failed before. */
  backedOff: number;
}

export interface SweeperInput {
  plan: SweepPlan[];
  /** Start of the next pass by name of sweep, epoch milliseconds; a sweep that is missing is due at once. */
  dueAt?: Record<string, number>;
  /** The sweeper continues as new after so many events of its history; 10,000 by default. */
  eventsMax?: number;
}

/** What became of sweeps that ran together: each is in one of the three, or in none where the worker was stopped before. */
export interface SweepResults {
  /** By name, of those that had a pass. */
  reports: Record<string, SweepReport>;
  /** Messages by name, of those that failed as a whole. */
  errors: Record<string, string>;
  /** Sweeps that have rows to deal with, and are to have a pass. */
  withWork: string[];
}

/** Activities for many sweeps at once. */
export interface SweepsActivities {
  /** Looks which of these sweeps have rows to deal with: for the others that was their pass. */
  'sweeps/look': (names: string[]) => Promise<SweepResults>;
  /** A pass of each. */
  'sweeps/chores': (names: string[]) => Promise<SweepResults>;
}

/** Signal with the sweeps from now on, each of which has a pass at once. */
export const configureSignal = defineSignal<[SweepPlan[]]>('configure');

export const sweepActivity = (name: string): string => `sweep/${name}`;

/** The one sweeper of an installation. */
export const sweeperId = (queuePrefix: string): string => `system/${queuePrefix}sweeper`;
