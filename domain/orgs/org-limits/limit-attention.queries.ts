import { sql } from 'kysely';
import type { AttentionRule } from '../../kernel/attention/attention-rules.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';
import type { LimitState } from './limit-state-rules.ts';

const DAY_MS = 86_400_000;

/** Limits of an org that will be used up within a day, by their forecast. */
export const breakingLimits = (limits: readonly LimitState[], now: number): LimitState[] =>
  limits.filter(
    ({ isIgnored, max, forecastAt }) => !isIgnored && max !== null && forecastAt !== null && forecastAt <= now + DAY_MS,
  );

/** Orgs with limits that are forecast to be used up within a day. */
export const forecastLimits: AttentionRule = {
  kind: 'limit_forecast',
  shownBy: 'getOrgLimitSummary',
  action: 'getOrgLimitDashboard',
  async find({ db, tenantId }, { now, limit }) {
    const rows = await db
      .selectFrom('org_limit_state as s')
      .innerJoin('crm_org as o', (join) => join.onRef('o.tenantId', '=', 's.tenantId').onRef('o.id', '=', 's.orgId'))
      .where('s.tenantId', '=', tenantId)
      .where(
        sql<boolean>`jsonb_path_exists(s.limits, '$[*].forecastAt ? (@ <= $until)', jsonb_build_object('until', ${now.getTime() + DAY_MS}::bigint))`,
      )
      .orderBy('s.polledAt', 'desc')
      .limit(limit)
      .select(['o.id', 'o.username', 's.limits', 's.polledAt', 's.attemptedAt'])
      .execute();
    return rows.flatMap(({ id, username, limits, polledAt }) => {
      const breaking = breakingLimits(limits, now.getTime());
      if (breaking.length === 0) return [];
      const texts = breaking.map(({ name, forecastAt }) => `${name} at ${new Date(forecastAt ?? 0).toISOString()}`);
      return {
        key: id,
        title: username,
        reason: `Will be used up within a day, by the forecast: ${texts.slice(0, 10).join(', ')}`,
        since: polledAt === null ? now.toISOString() : isoOf(polledAt),
        repositoryIdentifier: null,
        params: {},
        query: { org: username },
        // The forecast moves with each poll.
        state: breaking
          .map(({ name }) => name)
          .toSorted()
          .join(),
      };
    });
  },
};
