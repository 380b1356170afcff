import type { Pool } from 'pg';
import { EXHAUSTED_LIMIT, type NextStep } from './delivery-rules.ts';
import type { TryOutcome } from './webhook-sender.port.ts';

/** The one queue of deliveries to one webhook. */
export interface LaneKey {
  tenantId: string;
  webhookId: string;
}

export interface ClaimedDelivery {
  id: string;
  tenantId: string;
  event: string;
  /** JSON, as it was given. */
  payload: string;
  traceparent: string | null;
  /** Tries made so far. */
  attempts: number;
  /** Which claim this is; only the last one may record. */
  claim: number;
  createdAt: Date;
  /** Grows whenever what is needed for sending changes. */
  revision: number;
}

/** A webhook as it is stored; secrets and headers are encrypted. */
export interface StoredTarget {
  revision: number;
  url: string;
  method: string;
  headers: string | null;
  filter: Record<string, unknown> | null;
  bodyTemplate: string | null;
  secret: string;
  previousSecret: string | null;
  previousSecretUntil: Date | null;
  timeoutMs: number;
  retryCount: number;
  retryDelayMs: number;
}

/** One try as the log keeps it. */
export interface LoggedTry extends TryOutcome {
  url: string;
  method: string;
  /** True: the standard envelope, which is not stored again; else the body, or null when none was sent. */
  sentBody: true | string | null;
  startedAt: Date;
}

export interface Outcome {
  delivery: ClaimedDelivery;
  next: NextStep | { status: 'filtered' };
  /** Absent when nothing was tried. */
  tried?: LoggedTry;
}

/**
 * What the lanes do with deliveries, across tenants: the only statements that run as the lanes' role. Everything else
 * goes through a unit of work.
 */
export type LaneStore = ReturnType<typeof createLaneStore>;

/** How long a claim outlives the longest try of its webhook. */
const LEASE_MARGIN_MS = 20_000;

const CLAIM = `
  with due as (
    select d.tenant_id, d.id from webhook_delivery d
    where d.webhook_id = $1 and d.status = 'pending' and d.due_at <= now()
      and (d.lease_until is null or d.lease_until <= now())
      and (select status = 'active' and deleted_at is null from webhook where id = $1)
    order by d.due_at limit $2 for update of d skip locked)
  update webhook_delivery d
  set claims = d.claims + 1, lease_until = now() + (w.timeout_ms + ${LEASE_MARGIN_MS}) * interval '1 ms'
  from due, webhook w where d.tenant_id = due.tenant_id and d.id = due.id and w.id = $1
  returning d.id, d.tenant_id as "tenantId", d.event, d.payload::text, d.traceparent, d.attempts, d.claims as claim,
    d.created_at as "createdAt", w.revision`;

const TARGET = `
  select revision, url, method, headers, filter, body_template as "bodyTemplate", secret, previous_secret as "previousSecret",
    previous_secret_until as "previousSecretUntil", timeout_ms as "timeoutMs", retry_count as "retryCount", retry_delay_ms as "retryDelayMs"
  from webhook where id = $1`;

// Every try is logged, but only the last claim moves the delivery. One cancelled meanwhile stays so unless it arrived.
const RECORD = `
  with outcome as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::int[], $6::bool[], $7::bool[], $8::int[], $9::text[],
      $10::text[], $11::int[], $12::text[], $13::text[], $14::bool[], $15::text[], $16::text[], $17::text[], $18::int[], $19::timestamptz[])
      with ordinality as o(tenant_id, id, claim, status, retry_in_ms, is_exhausted, is_gone, attempt, url, method, status_code, error,
        error_kind, is_envelope, sent_body, response_headers, response_body, duration_ms, started_at, place)),
  logged as (
    insert into webhook_attempt (tenant_id, delivery_id, attempt, url, method, status_code, error, error_kind, is_envelope, sent_body,
      response_headers, response_body, duration_ms, started_at)
    select tenant_id, id, attempt, url, method, status_code, error, error_kind, is_envelope, sent_body, response_headers::json,
      response_body, duration_ms, started_at
    from outcome where attempt is not null on conflict do nothing),
  moved as (
    update webhook_delivery d
    set status = case when d.status = 'pending' or o.status = 'delivered' then o.status else d.status end,
      attempts = coalesce(o.attempt, d.attempts), lease_until = null, due_at = now() + coalesce(o.retry_in_ms, 0) * interval '1 ms',
      last_status_code = o.status_code, last_error = o.error, last_duration_ms = o.duration_ms,
      completed_at = case when o.status <> 'pending' then now() end
    from outcome o
    where d.tenant_id = o.tenant_id and d.id = o.id and d.claims = o.claim and d.status in ('pending', 'cancelled')
    returning d.webhook_id, d.status, o.is_exhausted, o.is_gone, o.attempt, o.place),
  ranked as (select *, max(place) filter (where status = 'delivered') over (partition by webhook_id) as last_success from moved),
  tally as (
    select webhook_id, count(*) filter (where status = 'delivered') as delivered, count(*) filter (where status = 'failed') as failed,
      bool_or(status = 'delivered') as has_success, bool_or(attempt is not null) as has_try, bool_or(is_gone) as is_gone,
      count(*) filter (where status = 'failed' and place > coalesce(last_success, 0)) as errors,
      count(*) filter (where status = 'failed' and is_exhausted and place > coalesce(last_success, 0)) as exhausted
    from ranked group by webhook_id),
  counted as (
    select w.id, t.*, case when t.has_success then 0 else w.exhausted_in_a_row end + t.exhausted as in_a_row
    from tally t join webhook w on w.id = t.webhook_id)
  update webhook w
  set delivered_count = w.delivered_count + c.delivered, failed_count = w.failed_count + c.failed,
    error_count = case when c.has_success then 0 else w.error_count end + c.errors,
    exhausted_in_a_row = c.in_a_row,
    last_delivery_at = case when c.has_try then now() else w.last_delivery_at end,
    failure_reason = case
      when w.status <> 'active' or w.failure_reason is not null then w.failure_reason
      when c.is_gone then 'The receiver answered 410 Gone'
      when c.in_a_row >= ${EXHAUSTED_LIMIT} then '${EXHAUSTED_LIMIT} deliveries in a row used up their tries' end
  from counted c where w.id = c.id
  returning w.tenant_id as "tenantId", w.id as "webhookId", w.status = 'active' and w.failure_reason is not null as "isToDisable"`;

const RELEASE_ALL = `
  update webhook_delivery set lease_until = null where webhook_id = $1 and status = 'pending' and lease_until is not null`;

const RELEASE = `
  update webhook_delivery d set lease_until = null
  from unnest($1::uuid[], $2::uuid[], $3::int[]) as mine(tenant_id, id, claim)
  where d.tenant_id = mine.tenant_id and d.id = mine.id and d.claims = mine.claim and d.status = 'pending'`;

const NEXT_DUE = `
  select extract(epoch from min(greatest(d.due_at, d.lease_until)) - now()) * 1000 as "inMs"
  from webhook_delivery d
  where d.webhook_id = $1 and d.status = 'pending'
    and (select status = 'active' and deleted_at is null from webhook where id = $1)`;

const DUE_WEBHOOKS = `
  select w.id from unnest($1::uuid[]) as lane(id) join webhook w on w.id = lane.id and w.status = 'active' and w.deleted_at is null
  where exists (select from webhook_delivery d
    where d.webhook_id = lane.id and d.status = 'pending' and d.due_at <= now() and (d.lease_until is null or d.lease_until <= now()))`;

// A lane with a live lease is being worked on, only slowly: to wake it would tell it nothing.
const OVERDUE = `
  select w.tenant_id as "tenantId", w.id as "webhookId" from webhook w
  where w.status = 'active' and w.deleted_at is null
    and exists (select from webhook_delivery d
      where d.webhook_id = w.id and d.status = 'pending' and d.due_at < now() - $1 * interval '1 ms')
    and not exists (select from webhook_delivery d where d.webhook_id = w.id and d.status = 'pending' and d.lease_until > now())
  limit 500`;

const TO_DISABLE = `
  select tenant_id as "tenantId", id as "webhookId" from webhook where status = 'active' and failure_reason is not null limit 100`;

/** @param pool connections of the lanes' role. */
export const createLaneStore = (pool: Pool) => ({
  /** Takes up to `limit` due deliveries of a lane, each for as long as its longest try can last. */
  async claim({ webhookId }: LaneKey, limit: number): Promise<ClaimedDelivery[]> {
    return (await pool.query<ClaimedDelivery>({ name: 'lane-claim', text: CLAIM, values: [webhookId, limit] })).rows;
  },

  /** How the lane's webhook is to be called now. */
  async target({ webhookId }: LaneKey): Promise<StoredTarget> {
    const [target] = (await pool.query<StoredTarget>({ name: 'lane-target', text: TARGET, values: [webhookId] })).rows;
    if (!target) throw new Error(`there is no webhook ${webhookId}`);
    return target;
  },

  /** Logs tries and moves their deliveries on, in one statement; answers the lanes that should be disabled. */
  async record(outcomes: readonly Outcome[]): Promise<LaneKey[]> {
    const { rows } = await pool.query<LaneKey & { isToDisable: boolean }>({
      name: 'lane-record',
      text: RECORD,
      values: recordValues(outcomes),
    });
    return rows.filter(({ isToDisable }) => isToDisable);
  },

  /** Gives back claims that came to nothing, so that another worker need not wait for their lease. */
  async release(deliveries: readonly ClaimedDelivery[]): Promise<void> {
    const values = [
      deliveries.map(({ tenantId }) => tenantId),
      deliveries.map(({ id }) => id),
      deliveries.map(({ claim }) => claim),
    ];
    await pool.query(RELEASE, values);
  },

  /** Takes back all that a lost pump of the lane held. */
  async releaseAll({ webhookId }: LaneKey): Promise<void> {
    await pool.query(RELEASE_ALL, [webhookId]);
  },

  /** Milliseconds until the lane has work again; undefined when nothing is pending, or the webhook is off. */
  async nextDueInMs({ webhookId }: LaneKey): Promise<number | undefined> {
    const { rows } = await pool.query<{ inMs: string | null }>({
      name: 'lane-next-due',
      text: NEXT_DUE,
      values: [webhookId],
    });
    const inMs = rows[0]?.inMs ?? undefined;
    return inMs === undefined ? undefined : Math.max(0, Math.ceil(Number(inMs)));
  },

  /** Those of the webhooks that have something due which nobody holds. */
  async dueWebhooks(webhookIds: readonly string[]): Promise<string[]> {
    return (
      await pool.query<{ id: string }>({ name: 'lane-dueWebhooks', text: DUE_WEBHOOKS, values: [webhookIds] })
    ).rows.map(({ id }) => id);
  },

  /** Lanes with deliveries that are overdue and that nobody works on: their wake was lost. At most 500. */
  async overdue(byMs: number): Promise<LaneKey[]> {
    return (await pool.query<LaneKey>(OVERDUE, [byMs])).rows;
  },

  /** Lanes whose disabling was noted and not carried out. At most 100. */
  async toDisable(): Promise<LaneKey[]> {
    return (await pool.query<LaneKey>(TO_DISABLE)).rows;
  },
});

function recordValues(outcomes: readonly Outcome[]): unknown[] {
  const column = <T>(pick: (outcome: Outcome) => T): T[] => outcomes.map(pick);
  return [
    column(({ delivery }) => delivery.tenantId),
    column(({ delivery }) => delivery.id),
    column(({ delivery }) => delivery.claim),
    column(({ next }) => next.status),
    column(({ next }) => ('retryInMs' in next ? next.retryInMs : null)),
    column(({ next }) => 'isExhausted' in next && next.isExhausted),
    column(({ next }) => 'isGone' in next && next.isGone),
    column(({ delivery, tried }) => (tried ? delivery.attempts + 1 : null)),
    column(({ tried }) => tried?.url),
    column(({ tried }) => tried?.method),
    column(({ tried }) => tried?.statusCode),
    column(({ tried }) => tried?.error),
    column(({ tried }) => tried?.errorKind),
    column(({ tried }) => tried?.sentBody === true),
    column(({ tried }) => (tried?.sentBody === true ? null : tried?.sentBody)),
    column(({ tried }) => tried?.responseHeaders && JSON.stringify(tried.responseHeaders)),
    column(({ tried }) => tried?.responseBody),
    column(({ tried }) => tried?.durationMs),
    column(({ tried }) => tried?.startedAt),
  ];
}
