import { sql } from 'kysely';
import type { AttentionRule } from '../../kernel/attention/attention-rule.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';

/** What was given up longer ago is history. */
const LOOKED_AT_DAYS = 7;
/** Deliveries of one webhook that are counted. */
const COUNTED_MAX = 1_000;

/** Webhooks that the service has disabled. */
export const disabledWebhooks: AttentionRule = {
  kind: 'webhook_disabled',
  shownBy: 'getWebhook',
  action: 'updateWebhook',
  async find({ db, tenantId }, { limit }) {
    const rows = await db
      .selectFrom('webhook')
      .where('tenantId', '=', tenantId)
      .where('status', '=', 'failed')
      .where('deletedAt', 'is', null)
      .orderBy('updatedAt', 'desc')
      .limit(limit)
      .select(['id', 'name', 'failureReason', 'updatedAt', 'repositoryIdentifier', 'revision'])
      .execute();
    return rows.map(({ id, name, failureReason, updatedAt, repositoryIdentifier, revision }) => ({
      key: id,
      title: name,
      reason: `The webhook is disabled: ${failureReason ?? 'its receiver failed'}`,
      since: isoOf(updatedAt),
      repositoryIdentifier,
      params: { id },
      state: `${revision} ${failureReason}`,
    }));
  },
};

/** Webhooks with deliveries that were given up in the last days and that nobody has sent again. */
export const givenUpDeliveries: AttentionRule = {
  kind: 'delivery_given_up',
  shownBy: 'listWebhookDeliveries',
  action: 'recoverWebhookDeliveries',
  async find({ db, tenantId }, { limit }) {
    const { rows } = await sql<{
      id: string;
      name: string;
      repositoryIdentifier: string | null;
      count: number;
      first: string;
      last: string;
    }>`
      select w.id, w.name, w.repository_identifier as "repositoryIdentifier", f.count, f.first, f.last
      from webhook w
      cross join lateral (
        select count(*)::int as count, min(created_at) as first, max(given_up_at) as last from (
          select d.created_at, coalesce(d.completed_at, d.created_at) as given_up_at from webhook_delivery d
          where d.tenant_id = w.tenant_id and d.webhook_id = w.id and d.status = 'failed'
            and d.created_at > now() - make_interval(days => ${sql.lit(LOOKED_AT_DAYS)})
            and not exists (select from webhook_delivery r where r.redelivery_of = d.id)
          order by d.created_at desc limit ${sql.lit(COUNTED_MAX)}) recent) f
      where w.tenant_id = ${tenantId} and w.deleted_at is null and w.status <> 'failed' and f.count > 0
      order by f.first desc limit ${limit}`.execute(db);
    return rows.map(({ id, name, repositoryIdentifier, count, first, last }) => ({
      key: id,
      title: name,
      reason: `Deliveries that were given up within ${LOOKED_AT_DAYS} days: ${count === COUNTED_MAX ? `at least ${count}` : count}`,
      since: isoOf(first),
      repositoryIdentifier,
      params: { id },
      state: last,
    }));
  },
};
