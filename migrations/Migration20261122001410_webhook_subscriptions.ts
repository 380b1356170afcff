import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant } from './fences.ts';

/** As a `case`, the condition costs nothing to callers that are not limited to projects. */
const REACHED = `case when (select current_projects()) is null then true
  else webhook_id in (select id from webhook where tenant_id = (select current_tenant())) end`;

/** A webhook subscribes to several events or groups of events, by one row each while it is active. */
export class WebhookSubscriptions extends Migration {
  override up(): void {
    this.addSql(`
      create function event_group(event text) returns text language sql immutable parallel safe
        return split_part(event, '.', 1) || '.*';
      alter table webhook add column events text[];
      update webhook set events = array[event];
      alter table webhook alter column events set not null;
      create table webhook_subscription (
        tenant_id uuid not null,
        event text not null,
        webhook_id uuid not null references webhook (id),
        primary key (tenant_id, event, webhook_id));
      create index webhook_subscription_of_webhook on webhook_subscription (webhook_id);
      insert into webhook_subscription (tenant_id, event, webhook_id)
        select tenant_id, event, id from webhook where status = 'active' and deleted_at is null;
      ${fenceTenant('webhook_subscription', ['select', 'insert', 'delete'])}
      create policy project on webhook_subscription as restrictive to ${APP_ROLE}
        using (${REACHED}) with check (${REACHED})`);
    this.addTriggers();
    this.addSql('drop index webhook_subscribed');
    this.joinSubscriptions('webhook_trigger(uuid, text[], text[], text[], jsonb)', 'r.event', [
      ['w.id as webhook_id', 's.webhook_id'],
      [
        `join webhook w on w.tenant_id = for_tenant and w.event = r.event and w.status = 'active' and w.deleted_at is null`,
      ],
    ]);
    this.joinSubscriptions('document_write(uuid, jsonb, timestamptz)', `o.value->>'event'`, [
      ['w.id as webhook_id, w.event,', `s.webhook_id, o.value->>'event' as event,`],
      [
        `join webhook w on w.tenant_id = for_tenant and w.event = o.value->>'event' and w.status = 'active' and w.deleted_at is null`,
      ],
    ]);
  }

  private addTriggers(): void {
    // Processes of the version before, which go on during a rolling upgrade, write `event` alone.
    this.addSql(`
      create function webhook_events() returns trigger language plpgsql set search_path = public, pg_temp as $$
      begin
        if new.events is null or (tg_op = 'UPDATE' and new.event <> old.event and new.events = old.events) then
          new.events := array[new.event];
        end if;
        return new;
      end $$;
      create trigger webhook_events before insert or update of event, events on webhook
        for each row execute function webhook_events()`);
    // An event that its group includes has no row of its own, so that nothing is delivered twice.
    this.addSql(`
      create function webhook_subscribe() returns trigger language plpgsql set search_path = public, pg_temp as $$
      begin
        if tg_op = 'UPDATE' then
          delete from webhook_subscription where tenant_id = new.tenant_id and webhook_id = new.id;
        end if;
        if new.status = 'active' and new.deleted_at is null then
          insert into webhook_subscription (tenant_id, event, webhook_id)
          select distinct new.tenant_id, given.event, new.id from unnest(new.events) as given (event)
          where given.event = event_group(given.event) or event_group(given.event) <> all (new.events);
        end if;
        return null;
      end $$;
      create trigger webhook_subscribe after insert or update of event, events, status, deleted_at on webhook
        for each row execute function webhook_subscribe()`);
  }

  /** Rewrites how a function finds the webhooks of an event; the rest of it stays as it was created. */
  private joinSubscriptions(
    signature: string,
    event: string,
    [[column, newColumn], [join]]: [[string, string], [string]],
  ): void {
    const newJoin = `join webhook_subscription s on s.tenant_id = for_tenant and s.event in (${event}, event_group(${event}))`;
    this.addSql(`
      do $do$
      declare
        before text := pg_get_functiondef('${signature}'::regprocedure);
      begin
        if strpos(before, $t$${column}$t$) = 0 or strpos(before, $t$${join}$t$) = 0 then
          raise 'unexpected definition of ${signature}';
        end if;
        execute replace(replace(before, $t$${column}$t$, $t$${newColumn}$t$), $t$${join}$t$, $t$${newJoin}$t$);
      end $do$`);
  }
}
