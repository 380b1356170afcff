import { isObject } from '../../kernel/json/json-rules.ts';

/** Types of metrics, as the interface spells them. */
export const METRIC_TYPES = ['count', 'guage', 'timers'] as const;
export type MetricType = (typeof METRIC_TYPES)[number];

const NAME_MAX = 128;
const TAGS_MAX = 20;
const TAG_NAME_MAX = 64;
const TAG_VALUE_MAX = 256;
/** Which label shows the type of a series. */
export const TYPE_LABEL = 'metric_type';

/** What samples belong to. */
export interface SeriesNames {
  name: string;
  type: MetricType;
  /** By name, in the order of the names. */
  labels: Record<string, string>;
}

export interface Series extends SeriesNames {
  /** Follows from the names; the same for every tenant. */
  id: string;
}

/** Names of the service's own metrics begin so, as the store knows them. */
export const OWN_PREFIX = 'quayside_';
/** Whether a series is one that the service itself writes. */
export const isOwnSeries = ({ name }: SeriesNames): boolean => name.startsWith(OWN_PREFIX);

/** A sample as it was measured. */
export interface MetricSample {
  series: Series;
  value: number;
  /** Epoch milliseconds. */
  at: number;
}

/** Reads the series that an event names. */
export type ReadSeries = (metric: unknown, type: unknown, tags: unknown) => Series | EventProblem;

/** Why an event was not accepted, and which of its members it is about: `tags/__x`; empty: the event itself. */
export interface EventProblem {
  path: string;
  detail: string;
}

/** What is wrong with an event, and where. */
export const problem = (path: string, detail: string): EventProblem => ({ path, detail });
/** Whether what was read is a problem. */
export const isProblem = (read: object): read is EventProblem => 'detail' in read;
/** A segment of a JSON pointer (RFC 6901), cut as it may be long. */
const segment = (name: string): string =>
  name.slice(0, TAG_NAME_MAX).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1');

/** A metric's name as the store knows it: every character but letters, digits, `_` and `:` becomes `_`. */
export const storedMetricName = (name: string): string => leadingDigit(name.replace(/[^A-Za-z0-9_:]/gu, '_'));
/** A tag's name as the store knows it, in which every character but letters, digits and `_` becomes `_`. */
export const storedLabelName = (name: string): string => leadingDigit(name.replace(/[^A-Za-z0-9_]/gu, '_'));
/** A name must not begin with a digit. */
const leadingDigit = (name: string): string => (/^\d/.test(name) ? `_${name}` : name);

const known = (type: unknown): MetricType | undefined =>
  METRIC_TYPES.find((one) => one === type) ?? (type === 'gauge' ? 'guage' : undefined);

/** The names of the series of an event, as the store knows them. */
export function readNames(metric: unknown, type: unknown, tags: unknown): SeriesNames | EventProblem {
  if (typeof metric !== 'string' || metric === '') return problem('metric', 'must be a name');
  if (metric.length > NAME_MAX) return problem('metric', `must have at most ${NAME_MAX} characters`);
  const name = storedMetricName(metric);
  if (name.startsWith('__')) return problem('metric', 'must not begin with two underscores');
  const knownType = known(type);
  if (knownType === undefined) return problem('type', `must be one of ${METRIC_TYPES.join(', ')}`);
  const labels = readTags(tags);
  if ('detail' in labels) return labels;
  return { name, type: knownType, labels: labels.found };
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

/** Key of a series: the same text for the same series, and for no other. */
export const seriesKey = ({ name, type, labels }: SeriesNames): string =>
  JSON.stringify([name, type, ...Object.entries(labels).flat()]);
