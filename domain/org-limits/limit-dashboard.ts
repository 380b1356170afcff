import type { Reads } from '../data/fenced-reads.ts';
import type { TextCache } from '../shared/text-cache.ts';
import { type DashboardRange, seriesOf, type Span, spanOf } from './dashboard-rules.ts';
import { snapshotOf } from './limit-reports.ts';
import { samplesOfOrg } from './limit-samples.queries.ts';
import { limitsOfOrg } from './org-limits.queries.ts';

/** For how long a dashboard is answered again as it is. */
export const DASHBOARD_CACHE_SECONDS = 60;

export interface Dashboard {
  span: Span;
  generatedAt: Date;
  /** When the org last answered a poll. */
  polledAt: Date | null;
  isCached: boolean;
  /** Of what was read for it, in milliseconds. */
  queryDurationMs: number;
  /** JSON of the members `timeSeries`, `snapshot` and `alerts`, without braces. */
  members: string;
}

/** The course of an org's limits, and how they are now. @param isFresh made anew although there is one in the cache. */
export async function limitDashboard(
  reads: Reads,
  cache: TextCache,
  { orgId, range, now, isFresh }: { orgId: string; range: DashboardRange; now: Date; isFresh: boolean },
): Promise<Dashboard> {
  const key = `${reads.tenantId} ${orgId} ${range}`;
  const kept = isFresh ? undefined : cache.get(key);
  if (kept !== undefined) {
    const head = JSON.parse(kept.slice(0, kept.indexOf('\n'))) as [number, number, number | null];
    const [generatedAt, queryDurationMs, polledAt] = head;
    return {
      span: spanOf(range, generatedAt),
      generatedAt: new Date(generatedAt),
      polledAt: polledAt === null ? null : new Date(polledAt),
      isCached: true,
      queryDurationMs,
      members: kept.slice(kept.indexOf('\n') + 1),
    };
  }
  const begunAt = performance.now();
  const span = spanOf(range, now.getTime());
  const [state, samples] = await Promise.all([limitsOfOrg(reads, orgId), samplesOfOrg(reads, orgId, span)]);
  const snapshot = snapshotOf(state);
  const names = state?.limits.map(({ name }) => name) ?? [];
  const alerts = snapshot.filter(({ alertLevel }) => alertLevel !== 'ok');
  const body = JSON.stringify({ timeSeries: seriesOf(names, samples, span), snapshot, alerts });
  const members = body.slice(1, -1);
  const queryDurationMs = Math.round(performance.now() - begunAt);
  const polledAt = state?.polledAt == null ? null : new Date(state.polledAt);
  const head: [number, number, number | null] = [now.getTime(), queryDurationMs, polledAt?.getTime() ?? null];
  cache.put(key, `${JSON.stringify(head)}\n${members}`);
  return { span, generatedAt: now, polledAt, isCached: false, queryDurationMs, members };
}
