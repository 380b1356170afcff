import { DomainError, type FieldError } from '../shared/errors.ts';
import type { Tx, UnitOfWork } from '../unit-of-work.ts';
import { emitEvent } from '../webhooks/event-catalog.ts';
import { aiUsageIn } from './ai-usage-rules.ts';
import { addUp, isProblem, type MetricSample, readEvent, seriesKey, type WindowChange } from './event-rules.ts';
import {
  addAiUsage,
  addSeries,
  addToWindows,
  estimatedWindows,
  knownSeries,
  lockSeriesDay,
  noteLimited,
  seriesId,
} from './windows.queries.ts';

/** How many refused events a reply names. */
const SHOWN_MAX = 20;
/** Estimating costs little, but not nothing. */
const ESTIMATED_EVERY_MS = 1_000;
const RETRY_AFTER_SECONDS = '30';

export interface IngestLimits {
  seriesPerDay: number;
  bufferRows: number;
}

export interface IngestReport {
  accepted: number;
  rejected: number;
  /** The first that were refused. */
  errors: FieldError[];
}

/** Takes events into windows, from where they go to the store. */
export type IngestMetrics = (uow: UnitOfWork, events: readonly unknown[]) => Promise<IngestReport>;

/**
 * Events are accepted one by one: what is malformed, or of a series too many, is refused and named. Throws `unavailable`
 * while more windows wait than are allowed.
 */
export function createIngest({ seriesPerDay, bufferRows }: IngestLimits): IngestMetrics {
  let estimate = { windows: 0, at: -Infinity };
  const assertRoom = async (tx: Tx) => {
    if (performance.now() - estimate.at > ESTIMATED_EVERY_MS)
      estimate = { windows: await estimatedWindows(tx), at: performance.now() };
    if (estimate.windows >= bufferRows)
      throw new DomainError('unavailable', 'Too many metrics wait for the store; send these again later', {
        headers: { 'Retry-After': RETRY_AFTER_SECONDS },
      });
  };
  const ingest = async (tx: Tx, events: readonly unknown[]): Promise<IngestReport> => {
    await assertRoom(tx);
    const now = tx.now.getTime();
    const errors: FieldError[] = [];
    const samples: (MetricSample & { index: number })[] = [];
    for (const [index, event] of events.entries()) {
      const read = readEvent(event, now);
      if (isProblem(read)) errors.push({ detail: read.detail, pointer: pointerTo(index, read.path) });
      else samples.push({ ...read, index });
    }
    const isAllowed = await admitSeries(tx, samples, seriesPerDay);
    const accepted = samples.filter((sample) => {
      const isAccepted = isAllowed(seriesId(seriesKey(sample)));
      if (!isAccepted) errors.push({ detail: tooManySeries(seriesPerDay), pointer: pointerTo(sample.index, '') });
      return isAccepted;
    });
    const changes = [...addUp(accepted)].flatMap(([key, windows]) => {
      const id = seriesId(key);
      return windows.map((window): WindowChange & { id: string } => ({ ...window, id }));
    });
    if (changes.length > 0) await addToWindows(tx, changes);
    const usage = aiUsageIn(accepted);
    if (usage.length > 0) await addAiUsage(tx, usage);
    return { accepted: accepted.length, rejected: errors.length, errors: errors.slice(0, SHOWN_MAX) };
  };
  return async (uow, events) => {
    try {
      return await uow((tx) => ingest(tx, events));
    } catch (error) {
      // A series was forgotten at this very moment.
      if ((error as { code?: string }).code !== FOREIGN_KEY_VIOLATION) throw error;
      return uow((tx) => ingest(tx, events));
    }
  };
}

const FOREIGN_KEY_VIOLATION = '23503';

const pointerTo = (index: number, path: string): string => `#/body/events/${index}${path === '' ? '' : `/${path}`}`;
const tooManySeries = (most: number): string =>
  `is of a new series, and the tenant has had ${most.toLocaleString('en')} new ones today`;

/** Makes the series known that are new, as far as the day allows. @returns whether one is known. */
async function admitSeries(tx: Tx, samples: readonly MetricSample[], perDay: number): Promise<(id: string) => boolean> {
  const given = new Map(
    samples.map(({ name, type, labels }) => {
      const id = seriesId(seriesKey({ name, type, labels }));
      return [id, { id, name, type, labels }];
    }),
  );
  const known = given.size === 0 ? new Set<string>() : await knownSeries(tx, [...given.keys()]);
  if (known.size === given.size) return (id) => known.has(id);
  const day = tx.now.toISOString().slice(0, 10);
  const { created, limitedAt } = await lockSeriesDay(tx, day);
  // While this one waited for the day, another may have made them known.
  const knownNow = await knownSeries(tx, [...given.keys()]);
  const unknown = [...given.values()].filter(({ id }) => !knownNow.has(id));
  const added = unknown.slice(0, Math.max(0, perDay - created));
  if (added.length > 0) await addSeries(tx, day, added);
  for (const { id } of added) knownNow.add(id);
  if (added.length < unknown.length && limitedAt === null) {
    await noteLimited(tx, day);
    emitEvent(tx, 'metrics_series.limited', { day, limit: perDay });
  }
  return (id) => knownNow.has(id);
}
