import type { AttentionRule } from '../../kernel/attention/attention-rule.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';

/** Orgs that refused their credential: nothing calls them until somebody renews it. */
export const orgsWithoutSignIn: AttentionRule = {
  kind: 'org_sign_in_failed',
  shownBy: 'getOrg',
  action: 'updateOrg',
  async find({ db, tenantId }, { limit }) {
    const rows = await db
      .selectFrom('crm_org')
      .where('tenantId', '=', tenantId)
      .where('healthStatus', '=', 'auth_failed')
      .orderBy('refusedAt', (order) => order.desc().nullsLast())
      .limit(limit)
      .select(['id', 'username', 'healthError', 'healthHint', 'refusedAt', 'createdAt'])
      .execute();
    return rows.map(({ id, username, healthError, healthHint, refusedAt, createdAt }) => ({
      key: id,
      title: username,
      reason: ['The org refuses its credential', healthError, healthHint].filter(Boolean).join(': '),
      since: isoOf(refusedAt ?? createdAt),
      repositoryIdentifier: null,
      params: {},
      query: { username },
      state: `${refusedAt} ${healthError}`,
    }));
  },
};
