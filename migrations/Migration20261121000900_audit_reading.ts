import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, openToSystem, privileged, TENANT_OWNED } from './fences.ts';

/** Reading the trail: by one filter or several, with exact counts; and its exports. */
export class AuditReading extends Migration {
  override up(): void {
    // Columns of their own: under row-level security an expression over JSON is no key for an index.
    this.addSql(`
      alter table audit_entry
        add column actor_email text not null generated always as (actor ->> 'email') stored,
        add column actor_id text not null generated always as (actor ->> 'id') stored`);
    for (const [name, column] of [
      ['time'],
      ['source', 'source'],
      ['action', 'action'],
      ['email', 'actor_email'],
      ['actor', 'actor_id'],
      ['repository', 'repository_identifier'],
      ['entity', 'entity_id'],
    ] as const) {
      const leading = column === undefined ? '' : ` ${column},`;
      const partial = column === 'repository_identifier' || column === 'entity_id' ? `where ${column} is not null` : '';
      this.addSql(
        `create index audit_entry_by_${name} on audit_entry (tenant_id,${leading} occurred_at, sequence) ${partial}`,
      );
    }
    // How many entries of one kind an hour has: a million of them need not be counted for each page.
    this.addSql(`
      create table audit_tally (
        tenant_id uuid not null references tenant (id),
        facet text not null,
        value text collate "C" not null,
        hour timestamptz not null,
        entries bigint not null,
        primary key (tenant_id, facet, value, hour)) with (fillfactor = 50);
      ${fenceTenant('audit_tally', ['select'])}`);
    this.addSql(`
      alter table audit_head enable row level security;
      create policy tenant on audit_head to ${APP_ROLE} using (tenant_id = (select current_tenant()));
      grant select on audit_head to ${APP_ROLE}`);
    this.addSql(`
      create function audit_count(for_tenant uuid, first_sequence bigint) returns void
        language sql volatile security definer set search_path = public, pg_temp as $$
          insert into audit_tally (tenant_id, facet, value, hour, entries)
          select e.tenant_id, kind.facet, kind.value, date_trunc('hour', e.occurred_at, 'UTC'), count(*)
          from audit_entry e
          cross join lateral (values
            ('all', ''), ('source', e.source), ('action', e.action), ('actor', e.actor_email),
            ('actor', nullif(e.actor_id, e.actor_email)), ('repository', e.repository_identifier)) as kind (facet, value)
          where e.tenant_id = for_tenant and e.sequence >= first_sequence and kind.value is not null
          group by 1, 2, 3, 4
          on conflict (tenant_id, facet, value, hour) do update set entries = audit_tally.entries + excluded.entries $$;
      revoke all on function audit_count(uuid, bigint) from public`);
    this.addSql('select audit_count(tenant_id, 1) from audit_head');
    this.addSql(`
      create or replace function audit_append(for_tenant uuid, entries jsonb) returns void
        language plpgsql volatile security definer set search_path = public, pg_temp as $$
      declare
        last_sequence bigint;
        first_sequence bigint;
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
        first_sequence := last_sequence + 1;
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
        perform audit_count(for_tenant, first_sequence);
      end $$;
      ${privileged('audit_append(uuid, jsonb)')}`);

    this.addSql(`
      create table audit_export (${TENANT_OWNED},
        status text not null default 'queued',
        filters jsonb not null,
        requested_by text not null,
        requested_at timestamptz(3) not null default now(),
        upper_sequence bigint not null,
        object_key text,
        file_name text,
        row_count bigint,
        file_size_bytes bigint,
        sha256 text,
        error text,
        completed_at timestamptz(3),
        expires_at timestamptz(3) not null);
      create index audit_export_open on audit_export (created_at) where status in ('queued', 'running');
      create index audit_export_to_expire on audit_export (expires_at) where status = 'completed';
      ${fenceTenant('audit_export', ['select', 'insert', 'update'])}
      ${openToSystem('audit_export', ['select'])}`);
  }
}
