import { sql } from 'kysely';
import { dueRows } from '../../kernel/data/due-rows.queries.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { TenantKey } from '../../kernel/shared/actor.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import { type Outcome, recordOutcomes } from './outcomes.queries.ts';

/** The one queue of deliveries to one webhook. */
export interface LaneKey extends TenantKey {
  webhookId: string;
}

/** A lane with what the id of its workflow is made of. */
export interface NamedLane extends LaneKey {
  laneName: string | null;
}

/** How long a claim outlives the longest attempt of its webhook. */
const LEASE_MARGIN_MS = 20_000;

const NOW = sql<string>`now()`;

/**
 * A delivery that a worker holds: `payload` is JSON as it was given, `attempts` counts those made so far, `claim` says
 * which claim this is (only the last one may record), and `revision` grows whenever what is needed for sending changes.
 */
export interface ClaimedDelivery {
  id: string;
  tenantId: string;
  event: string;
  payload: string;
  traceparent: string | null;
  attempts: number;
  claim: number;
  createdAt: string;
  revision: number;
}

const DELIVERIES = dueRows<ClaimedDelivery>({
  table: 'webhook_delivery',
  key: ['tenantId', 'id'],
  lane: 'webhookId',
  isPending: sql`r.status = 'pending'`,
  isServed: (webhookId) => sql`(select status = 'active' and deleted_at is null from webhook where id = ${webhookId})`,
  claim: {
    counter: 'claims',
    // As long as its longest attempt can last.
    lease: sql`(w.timeout_ms + ${sql.lit(LEASE_MARGIN_MS)}) * interval '1 ms'`,
    also: { table: sql`webhook w`, on: (webhookId) => sql`w.id = ${webhookId}` },
    returning: sql`r.id, r.tenant_id as "tenantId", r.event, r.payload::text as payload, r.traceparent, r.attempts,
      r.claims as claim, r.created_at as "createdAt", w.revision`,
  },
});

const TARGET = statement<{ webhookId: string }>()((db, { webhookId }) =>
  db
    .selectFrom('webhook')
    .where('id', '=', webhookId)
    .select([
      'revision',
      'url',
      'method',
      'headers',
      'filter',
      'provider',
      'channel',
      'chatTeamId',
      'bodyTemplate',
      'secret',
      'previousSecret',
      'previousSecretUntil',
      'timeoutMs',
      'retryCount',
      'retryDelayMs',
    ]),
);

/** A webhook as it is stored; secrets and headers are encrypted. */
export type StoredTarget = Awaited<ReturnType<typeof TARGET>>[number];

/** Statements that work across tenants; nearly everything else goes through a unit of work. */
export type LaneStore = ReturnType<typeof createLaneStore>;

/** @param db connections with the role of the system. */
export const createLaneStore = (db: Database) => ({
  claim: ({ webhookId }: LaneKey, limit: number) => DELIVERIES.claimDue(db, webhookId, limit),
  releaseAll: ({ webhookId }: LaneKey) => DELIVERIES.releaseAll(db, webhookId),
  /** Milliseconds until the lane has work again; undefined when nothing is pending, or the webhook is not active. */
  nextDueInMs: ({ webhookId }: LaneKey) => DELIVERIES.nextDueInMs(db, webhookId),
  dueWebhooks: (webhookIds: readonly string[]) => DELIVERIES.dueLanes(db, webhookIds),

  /** How the lane's webhook is to be called now. */
  async target({ webhookId }: LaneKey): Promise<StoredTarget> {
    const [target] = await TARGET(db, { webhookId });
    if (!target) throw new Error(`there is no webhook ${webhookId}`);
    return target;
  },

  /** Logs attempts and updates their deliveries, in one statement; answers the lanes that should be disabled. */
  record: (outcomes: readonly Outcome[]): Promise<LaneKey[]> => recordOutcomes(db, outcomes),

  /** Releases claims whose attempt was not made, so that another worker need not wait for their lease. */
  async release(deliveries: readonly ClaimedDelivery[]): Promise<void> {
    const tenantIds = deliveries.map(({ tenantId }) => tenantId);
    const ids = deliveries.map(({ id }) => id);
    const claims = deliveries.map(({ claim }) => claim);
    const mine = sql<{ tenant_id: string; id: string; claim: number }>`
      unnest(${tenantIds}::uuid[], ${ids}::uuid[], ${claims}::int[])`;
    await db
      .updateTable('webhook_delivery as d')
      .from(mine.as<'mine'>(sql`mine (tenant_id, id, claim)`))
      .set({ leaseUntil: null })
      .whereRef('d.tenantId', '=', 'mine.tenant_id')
      .whereRef('d.id', '=', 'mine.id')
      .whereRef('d.claims', '=', 'mine.claim')
      .where('d.status', '=', 'pending')
      .execute();
  },

  /** Lanes with deliveries that are overdue and that nobody works on: their signal was lost. */
  overdue: (byMs: number, limit: number): Promise<NamedLane[]> =>
    db
      .selectFrom('webhook as w')
      .where('w.status', '=', 'active')
      .where('w.deletedAt', 'is', null)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('webhook_delivery as d')
            .whereRef('d.webhookId', '=', 'w.id')
            .where('d.status', '=', sql.lit('pending'))
            .where('d.dueAt', '<', sql<string>`now() - ${byMs} * interval '1 ms'`)
            .select(sql.lit(1).as('one')),
        ),
      )
      // A lane with a live lease is being worked on, only slowly.
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('webhook_delivery as d')
              .whereRef('d.webhookId', '=', 'w.id')
              .where('d.status', '=', sql.lit('pending'))
              .where('d.leaseUntil', '>', NOW)
              .select(sql.lit(1).as('one')),
          ),
        ),
      )
      .limit(limit)
      .select(['w.tenantId', tenantSlugOf('w.tenantId'), 'w.id as webhookId', 'w.laneName'])
      .execute(),

  /** Lanes for which a reason to disable them was recorded and nothing followed. */
  toDisable: (limit: number): Promise<LaneKey[]> =>
    db
      .selectFrom('webhook')
      .where('status', '=', 'active')
      .where('failureReason', 'is not', null)
      .limit(limit)
      .select(['tenantId', tenantSlugOf('tenantId'), 'id as webhookId'])
      .execute(),

  /** Removes deliveries, with their attempts, that are older than `days`, in batches; answers how many. */
  async purge(days: number): Promise<number> {
    let total = 0;
    for (;;) {
      const removed = await purgeBatch(db, days);
      total += removed;
      if (removed < PURGE_BATCH) return total;
    }
  },
});

const PURGE_BATCH = 2_000;

// Pending deliveries of a webhook that is not active wait for it, but not longer than the log is kept.
async function purgeBatch(db: Database, days: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with expired as (
      select old.tenant_id, old.id from webhook w cross join lateral (
        select d.tenant_id, d.id from webhook_delivery d
        where d.webhook_id = w.id and d.created_at < now() - make_interval(days => ${days}::int)
          and (d.status <> 'pending' or w.status <> 'active')
        order by d.created_at limit ${PURGE_BATCH}) old
      limit ${PURGE_BATCH}),
    attempts as (
      delete from webhook_attempt a using expired e where a.tenant_id = e.tenant_id and a.delivery_id = e.id)
    delete from webhook_delivery d using expired e where d.tenant_id = e.tenant_id and d.id = e.id`.execute(db);
  return Number(numAffectedRows ?? 0);
}
