import { Migration } from '@mikro-orm/migrations';
import { fenceTenant, privileged } from './fences.ts';

/** The audit trail: the application may read it and append to it by one function, and do nothing else to it. */
export class Audit extends Migration {
  override up(): void {
    this.addSql(`
      create table audit_entry (
        tenant_id uuid not null references tenant (id),
        sequence bigint not null,
        id uuid not null unique,
        occurred_at timestamptz(3) not null,
        source text not null,
        action text not null,
        actor jsonb not null,
        repository_identifier text,
        entity_type text not null,
        entity_id text,
        summary text not null,
        before jsonb,
        after jsonb,
        request_id text,
        prev_hash text not null,
        hash text not null,
        primary key (tenant_id, sequence));
      ${fenceTenant('audit_entry', ['select'])}`);
    this.addSql(`
      create table audit_head (
        tenant_id uuid primary key references tenant (id),
        sequence bigint not null,
        hash text not null) with (fillfactor = 50)`);
    this.addSql(`
      create function audit_append(for_tenant uuid, entries jsonb) returns void
        language plpgsql volatile security definer set search_path = public, pg_temp as $$
      declare
        last_sequence bigint;
        last_hash text;
        entry jsonb;
        next_hash text;
      begin
        if for_tenant is distinct from current_tenant() then
          raise insufficient_privilege using message = 'an audit entry belongs to the tenant that is set';
        end if;
        select sequence, hash into last_sequence, last_hash from audit_head where tenant_id = for_tenant for update;
        if not found then
          insert into audit_head values (for_tenant, 0, repeat('0', 64)) on conflict do nothing;
          select sequence, hash into last_sequence, last_hash from audit_head where tenant_id = for_tenant for update;
        end if;
        for entry in select value from jsonb_array_elements(entries) loop
          last_sequence := last_sequence + 1;
          next_hash := encode(sha256(convert_to(
            last_hash || (entry->>'head') || last_hash || (entry->>'middle') || last_sequence || (entry->>'tail'), 'UTF8')), 'hex');
          insert into audit_entry values (
            for_tenant, last_sequence, (entry->>'id')::uuid, (entry->>'occurredAt')::timestamptz,
            entry->>'source', entry->>'action', entry->'actor', entry->>'repositoryIdentifier',
            entry->>'entityType', entry->>'entityId', entry->>'summary',
            nullif(entry->'before', 'null'), nullif(entry->'after', 'null'), entry->>'requestId', last_hash, next_hash);
          last_hash := next_hash;
        end loop;
        update audit_head set sequence = last_sequence, hash = last_hash where tenant_id = for_tenant;
      end $$;
      ${privileged('audit_append(uuid, jsonb)')}`);
  }
}
