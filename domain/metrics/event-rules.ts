/** As the interface spells them. */
export const METRIC_TYPES = ['count', 'guage', 'timers'] as const;
export type MetricType = (typeof METRIC_TYPES)[number];

/** The store keeps one sample of each series in a window: (k · 5 min − 5 min, k · 5 min], epoch milliseconds. */
export const WINDOW_MS = 300_000;

const MINUTE_MS = 60_000;
const OLDEST_MS = 48 * 60 * MINUTE_MS;
const AHEAD_MAX_MS = 10 * MINUTE_MS;
const NAME_MAX = 128;
const TAGS_MAX = 20;
const TAG_NAME_MAX = 64;
const TAG_VALUE_MAX = 256;
/** Which labels tell the store's own samples apart. */
export const TYPE_LABEL = 'metric_type';

/** A sample as it was measured. */
export interface MetricSample {
  name: string;
  type: MetricType;
  value: number;
  /** Epoch milliseconds. */
  at: number;
  /** By name, in the order of the names. */
  labels: Record<string, string>;
}

/** Why an event was not accepted, and which of its members it is about: `tags/__x`; empty: the event itself. */
export interface EventProblem {
  path: string;
  detail: string;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const problem = (path: string, detail: string): EventProblem => ({ path, detail });
/** A segment of a JSON pointer (RFC 6901), cut as it may be long. */
const segment = (name: string): string =>
  name.slice(0, TAG_NAME_MAX).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1');

/** As the store knows the name: every character but letters, digits, `_` and `:` becomes `_`. */
export const storedMetricName = (name: string): string => leadingDigit(name.replace(/[^A-Za-z0-9_:]/gu, '_'));
/** Likewise of a tag, which has no `:`. */
export const storedLabelName = (name: string): string => leadingDigit(name.replace(/[^A-Za-z0-9_]/gu, '_'));
/** A name must not begin with a digit. */
const leadingDigit = (name: string): string => (/^\d/.test(name) ? `_${name}` : name);

/** An event as it came, checked and normalised. A count has the value 1 whatever is sent, as the interface says. */
export function readEvent(given: unknown, now: number): MetricSample | EventProblem {
  if (!isObject(given)) return problem('', 'must be an object');
  const { metric, type, timestamp = now, tags = {} } = given;
  if (typeof metric !== 'string' || metric === '') return problem('metric', 'must be a name');
  if (metric.length > NAME_MAX) return problem('metric', `must have at most ${NAME_MAX} characters`);
  const name = storedMetricName(metric);
  if (name.startsWith('__')) return problem('metric', 'must not begin with two underscores');
  const known = METRIC_TYPES.find((one) => one === type) ?? (type === 'gauge' ? 'guage' : undefined);
  if (known === undefined) return problem('type', `must be one of ${METRIC_TYPES.join(', ')}`);
  const value = known === 'count' ? 1 : given.value;
  if (typeof value !== 'number' || !Number.isFinite(value)) return problem('value', 'must be a number');
  if (known === 'timers' && value < 0) return problem('value', 'must not be negative, as it is a duration');
  if (typeof timestamp !== 'number' || !Number.isSafeInteger(timestamp))
    return problem('timestamp', 'must be an integer, milliseconds since 1970');
  if (timestamp < now - OLDEST_MS) return problem('timestamp', 'is older than 48 hours');
  if (timestamp > now + AHEAD_MAX_MS) return problem('timestamp', 'is more than 10 minutes ahead');
  const labels = readTags(tags);
  return 'detail' in labels ? labels : { name, type: known, value, at: timestamp, labels: labels.found };
}

function readTags(tags: unknown): { found: Record<string, string> } | EventProblem {
  if (!isObject(tags)) return problem('tags', 'must be an object of strings');
  const entries = Object.entries(tags);
  if (entries.length > TAGS_MAX) return problem('tags', `must have at most ${TAGS_MAX} members`);
  const found = new Map<string, string>();
  for (const [given, value] of entries) {
    const path = `tags/${segment(given)}`;
    if (given === '' || given.length > TAG_NAME_MAX)
      return problem(path, `must have a name of 1 to ${TAG_NAME_MAX} characters`);
    const name = storedLabelName(given);
    if (name === TYPE_LABEL || name.startsWith('__')) return problem(path, `${name} is a name of the service's own`);
    if (typeof value !== 'string') return problem(path, 'must be a string');
    if (value.length > TAG_VALUE_MAX) return problem(path, `must have at most ${TAG_VALUE_MAX} characters`);
    if (found.has(name)) return problem(path, `is ${name}, as another tag is`);
    // To the store an empty label is none.
    if (value !== '') found.set(name, value);
  }
  return { found: Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1))) };
}

export const isProblem = (read: MetricSample | EventProblem): read is EventProblem => 'detail' in read;

/** What happened to a series within a window, as far as a request knows. */
export interface WindowChange extends Omit<MetricSample, 'at' | 'value'> {
  /** End of the window, epoch milliseconds; it belongs to the window. */
  endsAt: number;
  /** Of the last event. */
  lastAt: number;
  /** Of the last event; of several at that time the highest. */
  last: number;
  count: number;
  sum: number;
}

export const windowEnd = (at: number): number => Math.ceil(at / WINDOW_MS) * WINDOW_MS;

/** Which series a sample belongs to; the same text for the same series, and for no other. */
export const seriesKey = ({ name, type, labels }: Pick<MetricSample, 'name' | 'type' | 'labels'>): string =>
  JSON.stringify([name, type, ...Object.entries(labels).flat()]);

/** Adds up samples by series and window, in the order of the series. */
export function addUp(samples: readonly MetricSample[]): Map<string, WindowChange[]> {
  const bySeries = new Map<string, Map<number, WindowChange>>();
  for (const { value, at, ...series } of samples) {
    const key = seriesKey(series);
    const windows = bySeries.get(key) ?? new Map<number, WindowChange>();
    bySeries.set(key, windows);
    const endsAt = windowEnd(at);
    const window = windows.get(endsAt) ?? { ...series, endsAt, lastAt: at, last: value, count: 0, sum: 0 };
    windows.set(endsAt, window);
    if (at > window.lastAt || (at === window.lastAt && value > window.last)) [window.lastAt, window.last] = [at, value];
    window.count += 1;
    window.sum += value;
  }
  const sorted = [...bySeries].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return new Map(sorted.map(([key, windows]) => [key, [...windows.values()]]));
}
