import { batchedPerKey } from '../../kernel/queues/batched.ts';
import type { FieldError } from '../../kernel/shared/errors.ts';
import type { Tx, UnitOfWork } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { aiUsageIn } from './ai-usage-rules.ts';
import { createBufferRoom } from './buffer-room.ts';
import { addUp, readEvent } from './event-rules.ts';
import { createKnownSeries, type KnownSeries } from './known-series.ts';
import { createSeriesReader } from './series-reader.ts';
import { isOwnSeries, isProblem, type MetricSample, type Series } from './series-rules.ts';
import { addAiUsage, addToWindows } from './windows.queries.ts';
import { addSeries, knownSeries, lockSeriesDay, noteLimited } from './series.queries.ts';

/** How many refused events a reply names. */
const SHOWN_MAX = 20;
/** Each may have 5,000 events. */
const REQUESTS_OF_ONE_TRANSACTION = 16;

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

/**
 * Takes events into windows, from where they go to the store. Events are accepted one by one: what is malformed, or of a
 * series too many, is refused and named. Throws `unavailable` while too many windows wait for the store.
 */
export interface IngestMetrics {
  /** Requests of a tenant that come together share a transaction: they change the same windows. */
  ingest: (tx: UnitOfWork, tenantId: string, events: readonly unknown[]) => Promise<IngestReport>;
  /** Ingests what the service itself measures, of which no series is one too many. */
  ingestOwn: (tx: UnitOfWork, tenantId: string, events: readonly unknown[]) => Promise<IngestReport>;
  /** In the transaction of one request alone, which then is done. */
  ingestOnce: (tx: UnitOfWork, events: readonly unknown[]) => Promise<IngestReport>;
}

interface Given {
  events: readonly unknown[];
  isService: boolean;
}

interface Request extends Given {
  uow: UnitOfWork;
}

/** Takes in events and samples within limits. */
export function createIngest({ seriesPerDay, bufferRows }: IngestLimits): IngestMetrics {
  const read = createSeriesReader();
  const known = createKnownSeries();
  const assertRoom = createBufferRoom(bufferRows);

  const ingestIn = async (tx: Tx, requests: readonly Given[]) => {
    await assertRoom(tx);
    const now = tx.now.getTime();
    const results = requests.map(({ events, isService }) =>
      events.map((event) => readEvent(event, now, { read, isService })),
    );
    const admitted = await admitSeries(tx, seriesOf(results.flat()), seriesPerDay, known);
    const accepted: MetricSample[] = [];
    const reports = results.map((events): IngestReport => {
      const before = accepted.length;
      const errors: FieldError[] = [];
      for (const [index, event] of events.entries()) {
        if (isProblem(event)) errors.push({ detail: event.detail, pointer: pointerTo(index, event.path) });
        else if (admitted.has(event.series.id)) accepted.push(event);
        else errors.push({ detail: tooManySeries(seriesPerDay), pointer: pointerTo(index, '') });
      }
      return { accepted: accepted.length - before, rejected: errors.length, errors: errors.slice(0, SHOWN_MAX) };
    });
    if (accepted.length > 0) await addToWindows(tx, addUp(accepted));
    const usage = aiUsageIn(accepted);
    if (usage.length > 0) await addAiUsage(tx, usage);
    return { tenantId: tx.tenantId, reports, admitted };
  };

  const ingestAll = async (uow: UnitOfWork, requests: readonly Given[], isAlone: boolean) => {
    const attempt = () =>
      uow(async (tx) => {
        const result = await ingestIn(tx, requests);
        if (isAlone) tx.noteDone();
        return result;
      });
    const { tenantId, reports, admitted } = await attempt().catch((error: unknown) => {
      // A series was forgotten since it was last seen.
      if ((error as { code?: string }).code !== FOREIGN_KEY_VIOLATION) throw error;
      known.clear();
      return attempt();
    });
    known.add(tenantId, admitted);
    return reports;
  };

  const ingestTogether = batchedPerKey(
    (tenantId: string) => tenantId,
    (_, requests: Request[]) => ingestAll((requests[0] as Request).uow, requests, false),
    { maxBatch: REQUESTS_OF_ONE_TRANSACTION },
  );
  return {
    ingest: (uow, tenantId, events) => ingestTogether(tenantId, { uow, events, isService: false }),
    ingestOwn: (uow, tenantId, events) => ingestTogether(tenantId, { uow, events, isService: true }),
    ingestOnce: async (uow, events) => (await ingestAll(uow, [{ events, isService: false }], true))[0] as IngestReport,
  };
}

const FOREIGN_KEY_VIOLATION = '23503';

const pointerTo = (index: number, path: string): string => `#/body/events/${index}${path === '' ? '' : `/${path}`}`;
const tooManySeries = (most: number): string =>
  `is of a new series, and the tenant has had ${most.toLocaleString('en')} new ones today`;

function seriesOf(read: readonly (MetricSample | { detail: string })[]): Map<string, Series> {
  const found = new Map<string, Series>();
  for (const one of read) if ('series' in one) found.set(one.series.id, one.series);
  return found;
}

/** Makes the series known that are new, those of clients as far as the day allows. Answers the ids of those that are. */
async function admitSeries(
  tx: Tx,
  given: ReadonlyMap<string, Series>,
  perDay: number,
  known: KnownSeries,
): Promise<ReadonlySet<string>> {
  const ids = [...given.keys()];
  const unseen = known.without(tx.tenantId, ids);
  if (unseen.length === 0) return new Set(ids);
  const found = await knownSeries(tx, unseen);
  if (found.size === unseen.length) return new Set(ids);
  const day = tx.now.toISOString().slice(0, 10);
  const { created, limitedAt } = await lockSeriesDay(tx, day);
  // While this one waited for the day, another may have made them known.
  const foundNow = await knownSeries(tx, unseen);
  const unknown = unseen.filter((id) => !foundNow.has(id));
  const { own = [], counted = [] } = Object.groupBy(
    unknown.map((id) => given.get(id) as Series),
    (series) => (isOwnSeries(series) ? 'own' : 'counted'),
  );
  const room = Math.max(0, perDay - created);
  const added = [...own, ...counted.slice(0, room)];
  if (added.length > 0) await addSeries(tx, day, added);
  if (counted.length > room && limitedAt === null) {
    await noteLimited(tx, day);
    emitEvent(tx, 'metrics_series.limited', { day, limit: perDay });
  }
  const refused = new Set(counted.slice(room).map(({ id }) => id));
  return new Set(ids.filter((id) => !refused.has(id)));
}
