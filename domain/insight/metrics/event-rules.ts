import { isObject } from '../../kernel/json/json-rules.ts';
import { isSummedUsage, USAGE_MAX } from './ai-usage-rules.ts';
import {
  type EventProblem,
  isOwnSeries,
  isProblem,
  type MetricSample,
  OWN_PREFIX,
  problem,
  type ReadSeries,
  type Series,
} from './series-rules.ts';

/** The store keeps one sample of each series in a window: (k · 5 min − 5 min, k · 5 min], epoch milliseconds. */
export const WINDOW_MS = 300_000;

const MINUTE_MS = 60_000;
const OLDEST_MS = 48 * 60 * MINUTE_MS;
const AHEAD_MAX_MS = 10 * MINUTE_MS;

/**
 * What adds up in a window or a day stays far from the largest float, 1.8e308, where PostgreSQL refuses a sum. Programs
 * that send the largest float mean that they have no value.
 */
const VALUE_MAX = 1e100;

export interface EventSource {
  read: ReadSeries;
  /** The service itself: its own series come from nobody else. */
  isService?: boolean;
}

/** An event as it came, checked and normalised. A count has the value 1 whatever is sent, as the interface says. */
export function readEvent(
  given: unknown,
  now: number,
  { read, isService = false }: EventSource,
): MetricSample | EventProblem {
  if (!isObject(given)) return problem('', 'must be an object');
  const { metric, type, timestamp = now, tags = {} } = given;
  const series = read(metric, type, tags);
  if (isProblem(series)) return series;
  if (isOwnSeries(series) && !isService)
    return problem('metric', `must not begin with ${OWN_PREFIX}, as the metrics of the service do`);
  const value = series.type === 'count' ? 1 : given.value;
  if (typeof value !== 'number' || !Number.isFinite(value)) return problem('value', 'must be a number');
  if (Math.abs(value) > VALUE_MAX) return problem('value', `must be between -${VALUE_MAX} and ${VALUE_MAX}`);
  if (isSummedUsage(series) && (value < 0 || value > USAGE_MAX))
    return problem('value', `must be between 0 and ${USAGE_MAX}, as it is added up`);
  if (series.type === 'timers' && value < 0) return problem('value', 'must not be negative, as it is a duration');
  if (typeof timestamp !== 'number' || !Number.isSafeInteger(timestamp))
    return problem('timestamp', 'must be an integer, milliseconds since 1970');
  if (timestamp < now - OLDEST_MS) return problem('timestamp', 'is older than 48 hours');
  if (timestamp > now + AHEAD_MAX_MS) return problem('timestamp', 'is more than 10 minutes ahead');
  return { series, value, at: timestamp };
}

/** What happened to a series within a window, as far as a request knows. */
export interface WindowChange {
  series: Series;
  /** End of the window, epoch milliseconds; it belongs to the window. */
  endsAt: number;
  /** Epoch milliseconds of the last event. */
  lastAt: number;
  /** Value of the last event; of several at that time the highest. */
  last: number;
  count: number;
  sum: number;
}

/** The end of the window that a moment is in; both in milliseconds since the epoch. */
export const windowEnd = (at: number): number => Math.ceil(at / WINDOW_MS) * WINDOW_MS;

/** Adds up samples by series and window. */
export function addUp(samples: Iterable<MetricSample>): WindowChange[] {
  const bySeries = new Map<string, Map<number, WindowChange>>();
  for (const { series, value, at } of samples) {
    let windows = bySeries.get(series.id);
    if (!windows) bySeries.set(series.id, (windows = new Map()));
    const endsAt = windowEnd(at);
    let window = windows.get(endsAt);
    if (!window) windows.set(endsAt, (window = { series, endsAt, lastAt: at, last: value, count: 0, sum: 0 }));
    if (at > window.lastAt || (at === window.lastAt && value > window.last)) [window.lastAt, window.last] = [at, value];
    window.count += 1;
    window.sum += value;
  }
  return [...bySeries.values()].flatMap((windows) => [...windows.values()]);
}
