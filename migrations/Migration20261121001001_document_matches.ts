import { Migration } from '@mikro-orm/migrations';
import { privileged } from './fences.ts';

/** Documents that are found by their content come whole, so that none is looked up a second time. */
export class DocumentMatches extends Migration {
  override up(): void {
    this.addSql(`
      drop function document_matches(text, jsonb, int);
      create function document_matches(in_store text, content jsonb, at_most int)
        returns table (collection text, key text, version int, value jsonb, size_bytes int)
        language sql stable security definer set search_path = public, pg_temp rows 100 as $$
          select d.collection, d.key, d.version, d.value, d.size_bytes from document d
          where jsonb_set('{}', array[d.tenant_id::text || d.store], d.value)
              @> jsonb_build_object(coalesce(current_tenant()::text, '') || in_store, content)
            and d.tenant_id is not distinct from current_tenant()
          limit at_most $$;
      ${privileged('document_matches(text, jsonb, int)')}`);
  }
}
