import { usagePct } from './limit-level-rules.ts';

export const DASHBOARD_RANGES = ['today', 'yesterday', 'last_7_days'] as const;
export type DashboardRange = (typeof DASHBOARD_RANGES)[number];

const DAY_MS = 86_400_000;
/** Most points of one limit. */
export const POINTS_MAX = 300;

export interface Span {
  label: string;
  /** Epoch milliseconds; the end is exclusive. */
  start: number;
  end: number;
}

/** Days are those of UTC; seven days are today and the six before. */
export function spanOf(range: DashboardRange, nowMs: number): Span {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  switch (range) {
    case 'today':
      return { label: 'Today', start: today, end: nowMs };
    case 'yesterday':
      return { label: 'Yesterday', start: today - DAY_MS, end: today };
    case 'last_7_days':
      return { label: 'Last 7 days', start: today - 6 * DAY_MS, end: nowMs };
  }
}

/** One poll: values by the position of the limit's name; null where the org did not name the limit. */
export interface SampleValues {
  /** Epoch milliseconds. */
  at: number;
  used: readonly (number | null)[];
  max: readonly (number | null)[];
}

export interface LimitSeries {
  limitName: string;
  dataPoints: { timestamp: string; usagePct: number }[];
}

/**
 * The course of each limit in at most 300 points, each the highest usage of its part of the span, with the time at which
 * it was found. A limit whose maximum is 0 has none.
 * @param samples of that span, the oldest first.
 */
export function seriesOf(
  names: readonly string[],
  samples: readonly SampleValues[],
  { start, end }: Span,
): LimitSeries[] {
  const partMs = samples.length <= POINTS_MAX ? 1 : Math.max(1, Math.ceil((end - start) / POINTS_MAX));
  return names.flatMap((limitName, position) => {
    const points: { part: number; at: number; pct: number }[] = [];
    for (const { at, used, max } of samples) {
      const [usedNow, maxNow] = [used[position] ?? null, max[position] ?? null];
      if (usedNow === null || maxNow === null || maxNow <= 0) continue;
      const point = { part: Math.floor((at - start) / partMs), at, pct: usagePct(usedNow, maxNow) };
      const last = points.at(-1);
      if (last?.part !== point.part) points.push(point);
      else if (point.pct > last.pct) points[points.length - 1] = point;
    }
    if (points.length === 0) return [];
    const dataPoints = points.map(({ at, pct }) => ({ timestamp: new Date(at).toISOString(), usagePct: pct }));
    return [{ limitName, dataPoints }];
  });
}
