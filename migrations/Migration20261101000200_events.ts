import { Migration } from '@mikro-orm/migrations';
import { fenceTenant, limitProjects, openToSystem, TENANT_OWNED } from './fences.ts';

/** A deleted webhook stays as a row without secrets, because its log stays readable. */
const WEBHOOK = `
  create table webhook (${TENANT_OWNED},
    name text not null,
    event text not null,
    provider text not null,
    repository_identifier text,
    url text not null,
    method text not null,
    headers text,
    filter json,
    body_template text,
    secret text not null,
    previous_secret text,
    previous_secret_until timestamptz(3),
    timeout_ms int not null,
    retry_count int not null,
    retry_delay_ms int not null,
    status text not null default 'active' check (status in ('active', 'inactive', 'failed')),
    failure_reason text,
    created_by text not null,
    deleted_at timestamptz(3),
    revision int not null default 1,
    error_count int not null default 0,
    exhausted_in_a_row int not null default 0,
    delivered_count bigint not null default 0,
    failed_count bigint not null default 0,
    last_delivery_at timestamptz(3),
    events text[] not null,
    channel text,
    chat_team_id text,
    lane_name text) with (fillfactor = 50);
  create index webhook_list on webhook (tenant_id, created_at, id) where deleted_at is null;
  create index webhook_to_disable on webhook (id) where status = 'active' and failure_reason is not null;
  ${fenceTenant('webhook', ['select', 'insert', 'update'])}
  ${openToSystem('webhook', ['select', 'update'])}`;

const WEBHOOK_SUBSCRIPTION = `
  create table webhook_subscription (
    tenant_id uuid not null,
    event text not null,
    webhook_id uuid not null references webhook (id),
    primary key (tenant_id, event, webhook_id));
  create index webhook_subscription_of_webhook on webhook_subscription (webhook_id);
  ${fenceTenant('webhook_subscription', ['select', 'insert', 'delete'])}
  ${limitProjects(
    'webhook_subscription',
    'webhook_id in (select id from webhook where tenant_id = (select current_tenant()))',
  )}`;

/**
 * The payload is json, not jsonb: what is sent is what was given, member by member. The fillfactor leaves room on the
 * page for the claim's update, which then touches no index.
 */
const WEBHOOK_DELIVERY = `
  create table webhook_delivery (
    id uuid not null,
    tenant_id uuid not null references tenant (id),
    webhook_id uuid not null,
    event text not null,
    payload json not null,
    traceparent text,
    status text not null default 'pending'
      check (status in ('pending', 'delivered', 'failed', 'filtered', 'cancelled')),
    attempts int not null default 0,
    claims int not null default 0,
    due_at timestamptz not null default now(),
    lease_until timestamptz(3),
    redelivery_of uuid,
    last_status_code int,
    last_error text,
    last_duration_ms int,
    created_at timestamptz(3) not null default now(),
    completed_at timestamptz(3),
    primary key (tenant_id, id))
    with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1,
      autovacuum_analyze_scale_factor = 0.05);
  create index webhook_delivery_list on webhook_delivery (webhook_id, created_at, id) include (status);
  create index webhook_delivery_undelivered on webhook_delivery (webhook_id, status, created_at, id)
    where status in ('failed', 'filtered', 'cancelled');
  create index webhook_delivery_refused on webhook_delivery (webhook_id, last_status_code, created_at, id)
    where last_status_code >= 300;
  create index webhook_delivery_repeat on webhook_delivery (redelivery_of) where redelivery_of is not null;
  create index webhook_delivery_due on webhook_delivery (webhook_id, due_at) where status = 'pending';
  ${fenceTenant('webhook_delivery', ['select', 'insert', 'update'])}
  ${openToSystem('webhook_delivery', ['select', 'update', 'delete'])}
  ${limitProjects(
    'webhook_delivery',
    'webhook_id in (select id from webhook where tenant_id = (select current_tenant()))',
  )}`;

/**
 * No foreign key to the delivery: both are written by the same statement and removed together, thousands a second.
 */
const WEBHOOK_ATTEMPT = `
  create table webhook_attempt (
    tenant_id uuid not null,
    delivery_id uuid not null,
    attempt int not null,
    url text not null,
    method text not null,
    status_code int,
    error text,
    error_kind text,
    is_envelope boolean not null,
    sent_body text,
    response_headers json,
    response_body text,
    duration_ms int not null,
    started_at timestamptz(3) not null,
    primary key (tenant_id, delivery_id, attempt)) with (autovacuum_vacuum_insert_scale_factor = 0.1);
  ${fenceTenant('webhook_attempt', ['select'])}
  ${openToSystem('webhook_attempt', ['select', 'insert', 'delete'])}
  ${limitProjects(
    'webhook_attempt',
    `exists (select from webhook_delivery d
      where d.tenant_id = webhook_attempt.tenant_id and d.id = webhook_attempt.delivery_id)`,
  )}`;

/** Webhooks, the events that each has subscribed to, their deliveries and every attempt of these. */
export class Events extends Migration {
  override up(): void {
    for (const sql of [WEBHOOK, WEBHOOK_SUBSCRIPTION, WEBHOOK_DELIVERY, WEBHOOK_ATTEMPT]) this.addSql(sql);
  }
}
