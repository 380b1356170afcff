import { firstFrom } from '../../../kernel/shared/ordered-rules.ts';

/** A deployment to one environment of one domain. Moments and durations in milliseconds. */
export interface MeasuredDeployment {
  at: number;
  isSuccess: boolean;
  /** When it was taken back, if it was. */
  rolledBackAt: number | null;
  /** Milliseconds from the date of each commit that came with it to the deployment. */
  leadTimes: readonly number[];
}

export interface Window {
  /** Included. */
  from: number;
  /** Excluded. */
  to: number;
}

export interface Measures {
  deployments: { successful: number; failed: number; rolledBack: number; perDay: number };
  leadTime: { medianSeconds: number | null; p90Seconds: number | null; commits: number };
  /** From 0 to 1; null without deployments. */
  changeFailureRate: number | null;
  timeToRestore: { medianSeconds: number | null; failures: number; restored: number };
}

export const INTERVALS = ['day', 'week', 'month', 'all'] as const;
export type Interval = (typeof INTERVALS)[number];

const DAY_MS = 86_400_000;

/** Begins of the day, the week (Monday) or the month after a moment, in UTC. */
function nextBegin(moment: number, interval: Exclude<Interval, 'all'>): number {
  const day = Math.floor(moment / DAY_MS) * DAY_MS;
  if (interval === 'day') return day + DAY_MS;
  const date = new Date(day);
  if (interval === 'week') return day + (7 - ((date.getUTCDay() + 6) % 7)) * DAY_MS;
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

/** Cuts a time into calendar days, weeks or months of UTC; the first and the last may be shorter. */
export function windowsOf({ from, to }: Window, interval: Interval): Window[] {
  if (interval === 'all') return [{ from, to }];
  const windows: Window[] = [];
  for (let begin = from; begin < to; ) {
    const end = Math.min(to, nextBegin(begin, interval));
    windows.push({ from: begin, to: end });
    begin = end;
  }
  return windows;
}

interface Failure {
  at: number;
  restoredAt: number | null;
}

/** Failures in order: failed deployments that follow one another are one, a success that was taken back is one of its own. */
function failuresOf(deployments: readonly MeasuredDeployment[]): Failure[] {
  const failures: Failure[] = [];
  let open: Failure | undefined;
  for (const { at, isSuccess, rolledBackAt } of deployments) {
    if (!isSuccess) {
      if (!open) failures.push((open = { at, restoredAt: null }));
    } else if (rolledBackAt === null) {
      if (open) open.restoredAt = at;
      open = undefined;
    } else {
      failures.push({ at, restoredAt: rolledBackAt });
    }
  }
  return failures;
}

const atOf = ({ at }: { at: number }): number => at;

const within = <Thing extends { at: number }>(things: readonly Thing[], { from, to }: Window): Thing[] =>
  things.slice(firstFrom(things, from, atOf), firstFrom(things, to, atOf));

function inOrder(lists: readonly (readonly number[])[]): Float64Array {
  const values = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) {
    values.set(list, at);
    at += list.length;
  }
  return values.toSorted();
}

/** The value below which a share of values in order lies, by nearest rank; null of none. */
function quantile(sorted: Float64Array, share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

/** The middle of values in order, or the mean of the middle two; null of none. */
function median(sorted: Float64Array): number | null {
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}

const seconds = (ms: number | null): number | null => (ms === null ? null : Math.round(ms / 1_000));

/**
 * The four measures of software delivery by DORA (dora.dev/guides/dora-metrics-four-keys) over windows, for the
 * deployments of one domain to one environment. A failure counts in the window in which it began.
 * @param deployments in order, cancelled ones left out.
 */
export function measure(deployments: readonly MeasuredDeployment[], windows: readonly Window[]): Measures[] {
  const failures = failuresOf(deployments);
  return windows.map(({ from, to }) => {
    const own = within(deployments, { from, to });
    const successful = own.filter(({ isSuccess }) => isSuccess);
    const rolledBack = successful.filter(({ rolledBackAt }) => rolledBackAt !== null).length;
    const failed = own.length - successful.length;
    const leadTimes = inOrder(own.map((each) => each.leadTimes));
    const began = within(failures, { from, to });
    const restoreTimes = inOrder(
      began.map(({ at, restoredAt }) => (restoredAt === null ? [] : [Math.max(0, restoredAt - at)])),
    );
    return {
      deployments: {
        successful: successful.length,
        failed,
        rolledBack,
        perDay: Math.round((successful.length / ((to - from) / DAY_MS)) * 1_000) / 1_000,
      },
      leadTime: {
        medianSeconds: seconds(median(leadTimes)),
        p90Seconds: seconds(quantile(leadTimes, 0.9)),
        commits: leadTimes.length,
      },
      changeFailureRate: own.length === 0 ? null : Math.round(((failed + rolledBack) / own.length) * 10_000) / 10_000,
      timeToRestore: {
        medianSeconds: seconds(median(restoreTimes)),
        failures: began.length,
        restored: restoreTimes.length,
      },
    };
  });
}
