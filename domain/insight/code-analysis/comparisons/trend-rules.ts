export type Trend = 'up' | 'down' | 'stable';

const RUNS = 3;
const FEWEST_RUNS = 4;
/** The runs that a trend rests on. */
export const TREND_RUNS = 2 * RUNS;

/**
 * Compares the mean number of issues of the last three runs with that of up to three before them. Under four runs:
 * `stable`.
 * @param totals issues of each run, the newest first.
 */
export function issuesTrend(totals: readonly number[]): Trend {
  if (totals.length < FEWEST_RUNS) return 'stable';
  const [last, previous] = [totals.slice(0, RUNS), totals.slice(RUNS, TREND_RUNS)];
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
  // Multiplied out, because quotients of whole numbers are not exact.
  const difference = sum(last) * previous.length - sum(previous) * last.length;
  return difference > 0 ? 'up' : difference < 0 ? 'down' : 'stable';
}
