import { sql } from 'kysely';
import type { AttentionRule } from '../../kernel/attention/attention-rule.ts';
import type { LimitState } from './limit-state-rules.ts';

/** Limits of an org that will be used up within a day, by the forecast of the last poll, and since which poll. */
export const breakingLimits = (limits: readonly LimitState[]) =>
  limits.flatMap(({ name, isIgnored, max, forecastAt, breaksSince }) =>
    isIgnored || max === null || forecastAt === null || breaksSince === undefined
      ? []
      : { name, forecastAt, breaksSince },
  );

/** Orgs with limits that are forecast to be used up within a day. */
export const forecastLimits: AttentionRule = {
  kind: 'limit_forecast',
  shownBy: 'getOrgLimitSummary',
  action: 'getOrgLimitDashboard',
  async find({ db, tenantId }, { limit }) {
    const rows = await db
      .selectFrom('org_limit_state as s')
      .innerJoin('crm_org as o', (join) => join.onRef('o.tenantId', '=', 's.tenantId').onRef('o.id', '=', 's.orgId'))
      .where('s.tenantId', '=', tenantId)
      .where(sql<boolean>`jsonb_path_exists(s.limits, '$[*].breaksSince')`)
      .orderBy('s.polledAt', 'desc')
      .limit(limit)
      .select(['o.id', 'o.username', 's.limits'])
      .execute();
    return rows.flatMap(({ id, username, limits }) => {
      const breaking = breakingLimits(limits);
      if (breaking.length === 0) return [];
      const texts = breaking.map(({ name, forecastAt }) => `${name} at ${new Date(forecastAt).toISOString()}`);
      return {
        key: id,
        title: username,
        reason: `Will be used up within a day, by the forecast: ${texts.slice(0, 10).join(', ')}`,
        since: new Date(Math.min(...breaking.map(({ breaksSince }) => breaksSince))).toISOString(),
        repositoryIdentifier: null,
        params: {},
        query: { org: username },
        // The forecast moves with each poll.
        state: breaking
          .map((one) => `${one.name} ${one.breaksSince}`)
          .toSorted()
          .join(),
      };
    });
  },
};
