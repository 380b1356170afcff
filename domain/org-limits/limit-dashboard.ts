import type { Reads } from '../data/fenced-reads.ts';
import type { TextCache } from '../shared/text-cache.ts';
import { type DashboardRange, seriesOf, type Span, spanOf } from './dashboard-rules.ts';
import { snapshotOf } from './limit-reports.ts';
import { limitsOfOrg, samplesOfOrg } from './org-limits.queries.ts';

/** For how long a dashboard is answered again as it is. */
export const DASHBOARD_CACHE_SECONDS = 60;

export interface Dashboard {
  span: Span;
  generatedAt: Date;
  isCached: boolean;
  /** JSON of the members `timeSeries`, `snapshot` and `alerts`, without braces. */
  members: string;
}

const TIME_LENGTH = new Date(0).toISOString().length;

/** The course of an org's limits, and how they are now. @param isFresh made anew although there is one in the cache. */
export async function limitDashboard(
  reads: Reads,
  cache: TextCache,
  { orgId, range, now, isFresh }: { orgId: string; range: DashboardRange; now: Date; isFresh: boolean },
): Promise<Dashboard> {
  const key = `${reads.tenantId} ${orgId} ${range}`;
  const kept = isFresh ? undefined : cache.get(key);
  if (kept !== undefined) {
    const generatedAt = new Date(kept.slice(0, TIME_LENGTH));
    return {
      span: spanOf(range, generatedAt.getTime()),
      generatedAt,
      isCached: true,
      members: kept.slice(TIME_LENGTH),
    };
  }
  const span = spanOf(range, now.getTime());
  const [state, samples] = await Promise.all([limitsOfOrg(reads, orgId), samplesOfOrg(reads, orgId, span)]);
  const snapshot = snapshotOf(state);
  const names = state?.limits.map(({ name }) => name) ?? [];
  const alerts = snapshot.filter(({ alertLevel }) => alertLevel !== 'ok');
  const body = JSON.stringify({ timeSeries: seriesOf(names, samples, span), snapshot, alerts });
  const members = body.slice(1, -1);
  cache.put(key, now.toISOString() + members);
  return { span, generatedAt: now, isCached: false, members };
}
