import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, privileged } from './fences.ts';

const IS_UNLIMITED = '(select current_projects()) is null';

/**
 * Limits a table to what a condition allows to an application token with projects. As a `case`, the condition costs
 * others nothing, and PostgreSQL does not take it for one that hardly any row meets.
 */
const limit = (table: string, condition: string): string => {
  const check = `case when ${IS_UNLIMITED} then true else ${condition} end`;
  return `create policy project on ${table} as restrictive to ${APP_ROLE} using (${check}) with check (${check})`;
};

const isOfRun = (table: string, column: string): string =>
  `exists (select from flow_run r where r.tenant_id = ${table}.tenant_id and r.id = ${table}.${column})`;

/** Tables of the whole tenant, of which an application token with projects sees nothing. */
const OF_TENANT = [
  'application_token',
  'audit_entry',
  'audit_export',
  'audit_head',
  'audit_tally',
  'auth_session',
  'invitation',
  'refresh_token',
  'user_profile',
];

/** An application token with projects reaches what belongs to these projects, in every table of the tenant. */
export class ProjectLimits extends Migration {
  override up(): void {
    for (const table of OF_TENANT) {
      this.addSql(`create policy project on ${table} as restrictive to ${APP_ROLE} using (${IS_UNLIMITED})`);
    }
    this.addSql(limit('flow_check', isOfRun('flow_check', 'run_id')));
    this.addSql(limit('flow_run_lock', isOfRun('flow_run_lock', 'execution_id')));
    this.addSql(
      limit(
        'webhook',
        'repository_identifier in (select identifier from project where tenant_id = (select current_tenant()))',
      ),
    );
    this.addSql(
      limit('webhook_delivery', 'webhook_id in (select id from webhook where tenant_id = (select current_tenant()))'),
    );
    this.addSql(
      limit(
        'webhook_attempt',
        `exists (select from webhook_delivery d where d.tenant_id = webhook_attempt.tenant_id and d.id = webhook_attempt.delivery_id)`,
      ),
    );
    this.addCollections();
    this.addNames();
  }

  private addCollections(): void {
    // Regular expressions; none when they are not set, so that a token with projects then sees no documents.
    this.addSql(`
      create function current_collections() returns text[] language sql stable parallel safe
        return array(select jsonb_array_elements_text(nullif(current_setting('app.collections', true), '')::jsonb))`);
    for (const [table, column] of [
      ['document_collection', 'name'],
      ['document', 'collection'],
      ['document_version', 'collection'],
    ] as const) {
      this.addSql(limit(table, `${column} ~ any ((select current_collections())::text[])`));
    }
    this.addSql(`
      create or replace function document_matches(in_store text, content jsonb, at_most int)
        returns table (collection text, key text, version int, value jsonb, size_bytes int)
        language sql stable security definer set search_path = public, pg_temp
        set plan_cache_mode = force_generic_plan rows 100 as $$
          select d.collection, d.key, d.version, d.value, d.size_bytes from document d
          where jsonb_set('{}', array[d.tenant_id::text || d.store], d.value)
              @> jsonb_build_object(coalesce(current_tenant()::text, '') || in_store, content)
            and d.tenant_id is not distinct from current_tenant()
            and case when ${IS_UNLIMITED} then true else d.collection ~ any ((select current_collections())::text[]) end
          limit at_most $$`);
  }

  /** What the collections of a token's projects are named for comes with the token. */
  private addNames(): void {
    this.addSql(`
      create function collection_names(for_tenant uuid, of_projects uuid[]) returns jsonb
        language sql stable set search_path = public, pg_temp as $$
          with own as (
            select p.identifier, p.configuration->'documentCollections' as patterns
            from project p where p.tenant_id = for_tenant and p.id = any (of_projects))
          select jsonb_build_object(
            'identifiers', array(select o.identifier from own o order by 1),
            'patterns', array(select distinct n from own o, jsonb_array_elements_text(o.patterns) n order by 1),
            'others', array(
              select p.identifier from project p
              where p.tenant_id = for_tenant and p.id <> all (of_projects)
                and exists (select from own o where starts_with(p.identifier, o.identifier || '/'))
              order by 1)) $$;
      revoke all on function collection_names(uuid, uuid[]) from public`);
    const token = (hash: string) => `
      select t.${hash}, t.id, t.tenant_id, t.name, t.project_ids,
        case when t.project_ids is not null then collection_names(t.tenant_id, t.project_ids) end,
        t.last_used_at is null or t.last_used_at < now() - interval '1 minute'
      from application_token t
      where t.${hash} = any (hashes) and t.revoked_at is null and t.expires_at > now()`;
    this.addSql(`
      drop function auth_application_tokens(text[]);
      create function auth_application_tokens(hashes text[])
        returns table (token_hash text, id uuid, tenant_id uuid, name text, project_ids uuid[], collection_names jsonb,
          is_use_stale boolean)
        language sql stable security definer set search_path = public, pg_temp as $$
          ${token('token_hash')}
          union all
          ${token('previous_hash')} and t.previous_until > now() $$;
      ${privileged('auth_application_tokens(text[])')}`);
  }
}
