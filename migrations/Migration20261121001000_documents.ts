import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, privileged } from './fences.ts';

/** The document store: collections, documents, their earlier versions, and the functions for what is called often. */
export class Documents extends Migration {
  override up(): void {
    this.addSql(`
      create table document_collection (
        tenant_id uuid not null references tenant (id),
        id uuid not null,
        name text collate "C" not null,
        created_at timestamptz(3) not null default now(),
        primary key (tenant_id, name),
        unique (tenant_id, id));
      ${fenceTenant('document_collection')}`);
    this.addSql(`
      create table document (
        tenant_id uuid not null,
        store text collate "C" not null check (store in ('doc', 'changelog', 'packages', 'builds')),
        collection text collate "C" not null,
        key text collate "C" not null,
        version int not null,
        value jsonb not null,
        size_bytes int not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        updated_by text not null,
        primary key (tenant_id, store, collection, key),
        foreign key (tenant_id, collection) references document_collection (tenant_id, name)) with (
          autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
      ${fenceTenant('document')}`);
    // The tenant and the store stand in the indexed value, so that a search never meets entries of others.
    this.addSql(`
      create index document_content on document
        using gin (jsonb_set('{}', array[tenant_id::text || store], value) jsonb_path_ops) with (gin_pending_list_limit = 1024)`);
    this.addSql(`
      create table document_version (
        tenant_id uuid not null,
        store text collate "C" not null,
        collection text collate "C" not null,
        key text collate "C" not null,
        version int not null,
        value jsonb not null,
        size_bytes int not null,
        updated_at timestamptz(3) not null,
        updated_by text not null,
        primary key (tenant_id, store, collection, key, version),
        foreign key (tenant_id, store, collection, key) references document (tenant_id, store, collection, key) on delete cascade);
      ${fenceTenant('document_version')}`);
    this.addReads();
    this.addWrite();
  }

  private addReads(): void {
    // Behind the fence no index on content is of use: its operator is not leakproof. This finds keys of the tenant alone.
    this.addSql(`
      create function document_matches(in_store text, content jsonb, at_most int)
        returns table (collection text, key text)
        language sql stable security definer set search_path = public, pg_temp rows 100 as $$
          select d.collection, d.key from document d
          where jsonb_set('{}', array[d.tenant_id::text || d.store], d.value)
              @> jsonb_build_object(coalesce(current_tenant()::text, '') || in_store, content)
            and d.tenant_id is not distinct from current_tenant()
          limit at_most $$;
      ${privileged('document_matches(text, jsonb, int)')}`);
    // Requests of many tenants in one round trip, each behind its own fence; with the caller's rights.
    this.addSql(`
      create function document_read(requests jsonb)
        returns table (request int, version int, value text, created_at timestamptz, updated_at timestamptz)
        language plpgsql volatile security invoker set search_path = public, pg_temp as $$
      declare
        item record;
      begin
        for item in
          select o.ordinality::int as place, (o.value->>'tenant')::uuid as tenant, o.value->>'store' as store,
            o.value->>'collection' as collection, o.value->>'key' as key
          from jsonb_array_elements(requests) with ordinality as o
        loop
          perform set_config('app.tenant_id', item.tenant::text, true);
          return query
            select item.place, d.version, d.value::text, d.created_at, d.updated_at from document d
            where d.tenant_id = item.tenant and d.store = item.store and d.collection = item.collection and d.key = item.key;
        end loop;
      end $$;
      revoke all on function document_read(jsonb) from public;
      grant execute on function document_read(jsonb) to ${APP_ROLE};`);
  }

  private addWrite(): void {
    // Locks are always taken in one order: collections, documents, the head of the audit trail.
    this.addSql(`
      create function document_write(for_tenant uuid, requests jsonb, written_at timestamptz)
        returns table (request int, is_written boolean, version int, created_at timestamptz, webhook_ids uuid[])
        language plpgsql volatile security invoker set search_path = public, pg_temp as $$
      declare
        item record;
        done record;
        written int[] := '{}';
        places int[] := '{}';
        versions int[] := '{}';
        moments timestamptz[] := '{}';
        to_wake uuid[];
      begin
        perform set_config('app.tenant_id', for_tenant::text, true);
        insert into document_collection (tenant_id, id, name)
          select for_tenant, uuidv7(), n.name
          from (select distinct o->>'collection' collate "C" as name from jsonb_array_elements(requests) o where o->>'expected' is null) n
          order by n.name
          on conflict do nothing;
        perform from document_collection c
          where c.tenant_id = for_tenant
            and c.name = any (array(select distinct o->>'collection' collate "C" from jsonb_array_elements(requests) o))
          order by c.name for key share;
        for item in
          select o.ordinality::int as place, o.value->>'store' as store, o.value->>'collection' as collection,
            o.value->>'key' as key, o.value->'value' as value, (o.value->>'size')::int as size_bytes,
            (o.value->>'expected')::int as expected, (o.value->>'kept')::int as kept, o.value->>'writer' as writer
          from jsonb_array_elements(requests) with ordinality as o
          order by o.value->>'collection' collate "C", o.value->>'store' collate "C", o.value->>'key' collate "C", o.ordinality
        loop
          if item.expected is null then
            insert into document values (for_tenant, item.store, item.collection, item.key, 1, item.value, item.size_bytes,
                written_at, written_at, item.writer)
              on conflict do nothing
              returning document.version, document.created_at into done;
          elsif item.kept = 0 then
            update document d
              set value = item.value, version = d.version + 1, size_bytes = item.size_bytes, updated_at = written_at,
                updated_by = item.writer
              where d.tenant_id = for_tenant and d.store = item.store and d.collection = item.collection
                and d.key = item.key and d.version = item.expected
              returning d.version, d.created_at into done;
          else
            with changed as (
              update document d
              set value = item.value, version = d.version + 1, size_bytes = item.size_bytes, updated_at = written_at,
                updated_by = item.writer
              where d.tenant_id = for_tenant and d.store = item.store and d.collection = item.collection
                and d.key = item.key and d.version = item.expected
              returning new.version, new.created_at, old.value as old_value, old.size_bytes as old_size,
                old.updated_at as old_at, old.updated_by as old_by),
            kept as (
              insert into document_version
              select for_tenant, item.store, item.collection, item.key, item.expected, c.old_value, c.old_size, c.old_at, c.old_by
              from changed c)
            select c.version, c.created_at from changed c into done;
            delete from document_version v
              where v.tenant_id = for_tenant and v.store = item.store and v.collection = item.collection and v.key = item.key
                and v.version <= item.expected - item.kept and done.version is not null;
          end if;
          places := places || item.place;
          moments := moments || done.created_at;
          if done.version is not null then
            written := written || item.place;
            versions := versions || done.version;
          else
            versions := versions || (
              select d.version from document d where d.tenant_id = for_tenant and d.store = item.store
                and d.collection = item.collection and d.key = item.key);
          end if;
        end loop;
        if cardinality(written) > 0 then
          with queued as materialized (
            select uuidv7() as id, w.id as webhook_id, w.event, o.value->'data' as data, o.value->>'traceparent' as traceparent
            from jsonb_array_elements(requests) with ordinality as o
            join webhook w on w.tenant_id = for_tenant and w.event = o.value->>'event' and w.status = 'active' and w.deleted_at is null
            where o.ordinality = any (written)
            order by o.ordinality),
          inserted as (
            insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, traceparent)
            select q.id, for_tenant, q.webhook_id, q.event, q.data::json, q.traceparent from queued q)
          select array_agg(distinct q.webhook_id) from queued q into to_wake;
          perform audit_append(for_tenant, (
            select jsonb_agg(o.value->'audit' order by o.ordinality)
            from jsonb_array_elements(requests) with ordinality as o where o.ordinality = any (written)));
        end if;
        return query
          select o.place, o.moment is not null, o.version, o.moment, to_wake
          from unnest(places, versions, moments) as o (place, version, moment);
      end $$;
      revoke all on function document_write(uuid, jsonb, timestamptz) from public;
      grant execute on function document_write(uuid, jsonb, timestamptz) to ${APP_ROLE};`);
  }
}
