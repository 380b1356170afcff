import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, openToSystem, TENANT_OWNED } from './fences.ts';

/** Webhooks, their deliveries and every try of these. */
export class Webhooks extends Migration {
  override up(): void {
    // A deleted webhook stays as a row without secrets, because its log stays readable.
    this.addSql(`
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
        last_delivery_at timestamptz(3)) with (fillfactor = 50);
      create index webhook_subscribed on webhook (tenant_id, event) where status = 'active' and deleted_at is null;
      create index webhook_list on webhook (tenant_id, created_at, id) where deleted_at is null;
      create index webhook_to_disable on webhook (id) where status = 'active' and failure_reason is not null;
      ${fenceTenant('webhook', ['select', 'insert', 'update'])}
      ${openToSystem('webhook', ['select', 'update'])}`);
    // The payload is json, not jsonb: what is sent is what was given, member by member.
    // The fillfactor leaves room on the page for the claim's update, which then touches no index.
    this.addSql(`
      create table webhook_delivery (
        id uuid not null,
        tenant_id uuid not null references tenant (id),
        webhook_id uuid not null,
        event text not null,
        payload json not null,
        traceparent text,
        status text not null default 'pending' check (status in ('pending', 'delivered', 'failed', 'filtered', 'cancelled')),
        attempts int not null default 0,
        claims int not null default 0,
        due_at timestamptz(3) not null default now(),
        lease_until timestamptz(3),
        redelivery_of uuid,
        last_status_code int,
        last_error text,
        last_duration_ms int,
        created_at timestamptz(3) not null default now(),
        completed_at timestamptz(3),
        primary key (tenant_id, id)) with (fillfactor = 80,
          autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1,
          autovacuum_analyze_scale_factor = 0.05);
      create index webhook_delivery_due on webhook_delivery (webhook_id, due_at) where status = 'pending';
      create index webhook_delivery_list on webhook_delivery (webhook_id, created_at, id) include (status);
      create index webhook_delivery_undelivered on webhook_delivery (webhook_id, status, created_at, id)
        where status in ('failed', 'filtered', 'cancelled');
      create index webhook_delivery_refused on webhook_delivery (webhook_id, last_status_code, created_at, id)
        where last_status_code >= 300;
      create index webhook_delivery_repeat on webhook_delivery (redelivery_of) where redelivery_of is not null;
      ${fenceTenant('webhook_delivery', ['select', 'insert', 'update'])}
      ${openToSystem('webhook_delivery', ['select', 'update', 'delete'])}`);
    // No foreign key to the delivery: both are written by the same statement and removed together, thousands a second.
    this.addSql(`
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
      ${openToSystem('webhook_attempt', ['select', 'insert', 'delete'])}`);
    // One call, one transaction, one round trip; with the caller's rights, so the fence holds inside.
    this.addSql(`
      create function webhook_trigger(for_tenant uuid, events text[], payloads text[], traceparents text[], audit_entries jsonb)
        returns table (request int, delivery_id uuid, webhook_id uuid)
        language plpgsql volatile security invoker set search_path = public, pg_temp as $$
      begin
        perform set_config('app.tenant_id', for_tenant::text, true);
        return query
          with queued as materialized (
            select r.ordinality::int as request, uuidv7() as id, w.id as webhook_id, r.event, r.payload, r.traceparent
            from unnest(events, payloads, traceparents) with ordinality as r (event, payload, traceparent)
            join webhook w on w.tenant_id = for_tenant and w.event = r.event and w.status = 'active' and w.deleted_at is null),
          inserted as (
            insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, traceparent)
            select q.id, for_tenant, q.webhook_id, q.event, q.payload::json, q.traceparent from queued q)
          select q.request, q.id, q.webhook_id from queued q;
        perform audit_append(for_tenant, audit_entries);
      end $$;
      revoke all on function webhook_trigger(uuid, text[], text[], text[], jsonb) from public;
      grant execute on function webhook_trigger(uuid, text[], text[], text[], jsonb) to ${APP_ROLE};`);
  }
}
