import { sql } from 'kysely';
import { statement } from '../../kernel/data/statement.ts';
import type { Database } from '../../kernel/data/tables.ts';
import { EXHAUSTED_LIMIT, type NextStep } from './delivery-rules.ts';
import type { ClaimedDelivery, LaneKey } from './lane-store.queries.ts';
import type { AttemptOutcome } from './webhook-sender.port.ts';

/** One attempt as the log keeps it. */
export interface LoggedAttempt extends AttemptOutcome {
  url: string;
  method: string;
  /** True: the standard envelope, which is not stored again; else the body, or null when none was sent. */
  sentBody: true | string | null;
  startedAt: Date;
}

export interface Outcome {
  delivery: ClaimedDelivery;
  next: NextStep | { status: 'filtered' };
  /** Absent when no attempt was made. */
  attempt?: LoggedAttempt;
}

const column = <T>(outcomes: readonly Outcome[], pick: (outcome: Outcome) => T): T[] => outcomes.map(pick);

/** One array for each column of the batch. */
const columnsOf = (outcomes: readonly Outcome[]) => ({
  tenantIds: column(outcomes, ({ delivery }) => delivery.tenantId),
  ids: column(outcomes, ({ delivery }) => delivery.id),
  claims: column(outcomes, ({ delivery }) => delivery.claim),
  statuses: column(outcomes, ({ next }) => next.status),
  retryInMs: column(outcomes, ({ next }) => ('retryInMs' in next ? next.retryInMs : null)),
  areExhausted: column(outcomes, ({ next }) => 'isExhausted' in next && next.isExhausted),
  areGone: column(outcomes, ({ next }) => 'isGone' in next && next.isGone),
  attempts: column(outcomes, ({ delivery, attempt }) => (attempt ? delivery.attempts + 1 : null)),
  urls: column(outcomes, ({ attempt }) => attempt?.url),
  methods: column(outcomes, ({ attempt }) => attempt?.method),
  statusCodes: column(outcomes, ({ attempt }) => attempt?.statusCode),
  errors: column(outcomes, ({ attempt }) => attempt?.error),
  errorKinds: column(outcomes, ({ attempt }) => attempt?.errorKind),
  areEnvelopes: column(outcomes, ({ attempt }) => attempt?.sentBody === true),
  sentBodies: column(outcomes, ({ attempt }) => (attempt?.sentBody === true ? null : attempt?.sentBody)),
  responseHeaders: column(
    outcomes,
    ({ attempt }) => attempt?.responseHeaders && JSON.stringify(attempt.responseHeaders),
  ),
  responseBodies: column(outcomes, ({ attempt }) => attempt?.responseBody),
  durationsMs: column(outcomes, ({ attempt }) => attempt?.durationMs),
  startTimes: column(outcomes, ({ attempt }) => attempt?.startedAt),
});

// Every attempt is logged, but only the last claim moves the delivery. One cancelled meanwhile stays so unless it arrived.
const RECORD = statement<ReturnType<typeof columnsOf>>()(
  (_, given) => sql<LaneKey & { isToDisable: boolean }>`
  with outcome as materialized (
    select * from unnest(${given.tenantIds}::uuid[], ${given.ids}::uuid[], ${given.claims}::int[], ${given.statuses}::text[],
      ${given.retryInMs}::int[], ${given.areExhausted}::bool[], ${given.areGone}::bool[], ${given.attempts}::int[],
      ${given.urls}::text[], ${given.methods}::text[], ${given.statusCodes}::int[], ${given.errors}::text[],
      ${given.errorKinds}::text[], ${given.areEnvelopes}::bool[], ${given.sentBodies}::text[],
      ${given.responseHeaders}::text[], ${given.responseBodies}::text[], ${given.durationsMs}::int[],
      ${given.startTimes}::timestamptz[])
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
      bool_or(status = 'delivered') as has_success, bool_or(attempt is not null) as has_attempt, bool_or(is_gone) as is_gone,
      count(*) filter (where status = 'failed' and place > coalesce(last_success, 0)) as errors,
      count(*) filter (where status = 'failed' and is_exhausted and place > coalesce(last_success, 0)) as exhausted
    from ranked group by webhook_id),
  counted as (
    select t.webhook_id, t.delivered, t.failed, t.has_success, t.has_attempt, t.is_gone, t.errors,
      case when t.has_success then 0 else w.exhausted_in_a_row end + t.exhausted as in_a_row
    from tally t join webhook w on w.id = t.webhook_id)
  update webhook w
  set delivered_count = w.delivered_count + c.delivered, failed_count = w.failed_count + c.failed,
    error_count = case when c.has_success then 0 else w.error_count end + c.errors,
    exhausted_in_a_row = c.in_a_row,
    last_delivery_at = case when c.has_attempt then now() else w.last_delivery_at end,
    failure_reason = case
      when w.status <> 'active' or w.failure_reason is not null then w.failure_reason
      when c.is_gone then 'The receiver answered 410 Gone'
      when c.in_a_row >= ${sql.lit(EXHAUSTED_LIMIT)} then ${sql.lit(`${EXHAUSTED_LIMIT} deliveries in a row used up their attempts`)} end
  from counted c where w.id = c.webhook_id
  returning w.tenant_id as "tenantId", case when w.failure_reason is not null then tenant_slug(w.tenant_id) end as "tenantSlug",
    w.id as "webhookId", w.status = 'active' and w.failure_reason is not null as "isToDisable"`,
);

/** Logs attempts and moves their deliveries on, in one statement; answers the lanes that should be disabled. */
export async function recordOutcomes(db: Database, outcomes: readonly Outcome[]): Promise<LaneKey[]> {
  const rows = await RECORD(db, columnsOf(outcomes));
  return rows.filter(({ isToDisable }) => isToDisable);
}
