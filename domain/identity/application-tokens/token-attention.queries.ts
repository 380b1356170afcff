import { sql } from 'kysely';
import type { AttentionRule } from '../../kernel/attention/attention-rule.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';

/** Time to give a token that expires to whoever uses it anew. */
const EXPIRES_WITHIN_DAYS = 14;

/** Application tokens that expire soon. */
export const expiringTokens: AttentionRule = {
  kind: 'token_expiring',
  shownBy: 'listApplicationTokens',
  action: 'rotateApplicationToken',
  async find({ db, tenantId }, { limit }) {
    const rows = await db
      .selectFrom('application_token')
      .where('tenantId', '=', tenantId)
      .where('revokedAt', 'is', null)
      .where('expiresAt', '>', sql<string>`now()`)
      .where('expiresAt', '<=', sql<string>`now() + make_interval(days => ${sql.lit(EXPIRES_WITHIN_DAYS)})`)
      .orderBy('expiresAt')
      .limit(limit)
      .select(['id', 'name', 'expiresAt'])
      .select(
        sql<string>`greatest(created_at, expires_at - make_interval(days => ${sql.lit(EXPIRES_WITHIN_DAYS)}))`.as(
          'since',
        ),
      )
      .execute();
    return rows.map(({ id, name, expiresAt, since }) => ({
      key: id,
      title: name,
      reason: `The token expires at ${isoOf(expiresAt)}`,
      since: isoOf(since),
      repositoryIdentifier: null,
      params: { id },
      state: isoOf(expiresAt),
    }));
  },
};
