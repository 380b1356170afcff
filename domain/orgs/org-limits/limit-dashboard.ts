import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { BoundedCache, CacheMemory } from '../../kernel/caches/cache-memory.ts';
import { type DashboardRange, seriesOf, type Span, spanOf } from './dashboard-rules.ts';
import { samplesOfOrg } from './limit-samples.queries.ts';
import { snapshotOf } from './limit-reports.ts';
import { limitsOfOrg } from './org-limits.queries.ts';

/** For how long a dashboard is answered again as it is. */
const CACHE_SECONDS = 60;

export interface Dashboard {
  span: Span;
  generatedAt: Date;
  /** When the org last answered a poll. */
  polledAt: Date | null;
  /** Milliseconds that the reads for it took. */
  queryDurationMs: number;
  /**
   * JSON of the members `timeSeries`, `snapshot` and `alerts`, without braces: a megabyte for seven days. Once there is a
   * reply, a part of its bytes.
   */
  members: Buffer;
  /** The reply that was sent last, by how the org was named. */
  reply?: { name: string; bytes: Buffer };
}
export type DashboardCache = BoundedCache<Dashboard>;

export const createDashboardCache = (memory: CacheMemory): DashboardCache =>
  memory.cache({ ttlSeconds: CACHE_SECONDS, bytesOf: ({ members }) => members.length });

/** The course of an org's limits, and how they are now. @param isFresh made anew although there is one in the cache. */
export async function limitDashboard(
  reads: Reads,
  cache: DashboardCache,
  { orgId, range, now, isFresh }: { orgId: string; range: DashboardRange; now: Date; isFresh: boolean },
): Promise<{ dashboard: Dashboard; isCached: boolean }> {
  const key = `${reads.tenantId} ${orgId} ${range}`;
  const kept = isFresh ? undefined : cache.get(key);
  if (kept) return { dashboard: kept, isCached: true };
  const begunAt = performance.now();
  const span = spanOf(range, now.getTime());
  const [state, samples] = await Promise.all([limitsOfOrg(reads, orgId), samplesOfOrg(reads, orgId, span)]);
  const snapshot = snapshotOf(state);
  const names = state?.limits.map(({ name }) => name) ?? [];
  const alerts = snapshot.filter(({ alertLevel }) => alertLevel !== 'ok');
  const body = JSON.stringify({ timeSeries: seriesOf(names, samples, span), snapshot, alerts });
  const dashboard: Dashboard = {
    span,
    generatedAt: now,
    polledAt: state?.polledAt == null ? null : new Date(state.polledAt),
    queryDurationMs: Math.round(performance.now() - begunAt),
    members: Buffer.from(body.slice(1, -1)),
  };
  cache.put(key, dashboard);
  return { dashboard, isCached: false };
}

/** JSON of a dashboard with its `meta`. */
export const withMeta = ({ members }: Dashboard, meta: object): Buffer =>
  Buffer.concat([Buffer.from(`{"meta":${JSON.stringify(meta)},`), members, Buffer.from('}')]);

/**
 * The reply's bytes, kept as long as the org is named alike.
 * @param name of the org in the request: `meta` follows from it.
 */
export function repeatedReply(dashboard: Dashboard, name: string, meta: object): Buffer {
  if (dashboard.reply?.name !== name) {
    const bytes = withMeta(dashboard, meta);
    dashboard.reply = { name, bytes };
    // The members alone would be kept a second time.
    dashboard.members = bytes.subarray(-1 - dashboard.members.length, -1);
  }
  return dashboard.reply.bytes;
}
