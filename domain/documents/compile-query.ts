import { compileFilter, containedIn, type DocumentFilter } from './compile-filter.ts';
import type { Order, Position } from './compile-sort.ts';
import type { Glob, PathPattern } from './path-pattern-rules.ts';
import { type Fragment, join, raw, sql } from './sql-fragment.ts';

export interface DocumentQuery {
  tenantId: string;
  store: string;
  pattern: PathPattern;
  filters: readonly DocumentFilter[];
  order: Order;
  /** Only what comes behind it. */
  after?: Position | undefined;
  limit: number;
  offset: number;
}

/** A page ends early when its documents reach this size, so that no request fills the memory; it has at least one. */
export const PAGE_MAX_BYTES = 8 * 1024 * 1024;
/** More matches than this are found faster by reading documents in their order than by the index on content. */
const MATCHES_MAX = 1_000;

/**
 * A query as one statement: rows of collection, key, version, value (its text) and size_bytes, in the query's order.
 * Throws `invalid_request` for a filter that cannot be.
 */
export function compileQuery(query: DocumentQuery): Fragment {
  const { order, limit, offset, store, filters } = query;
  const conditions = [...filters.map(compileFilter), ...(query.after ? [order.after(query.after)] : [])];
  const owned = [sql`d.tenant_id = ${query.tenantId}`, sql`d.store = ${store}`];
  // Each part is ordered and cut by itself: only so is the primary key's order used under a union.
  const ordered = sql`order by ${order.by} limit ${limit + offset}`;
  const scans = scanned(query).map((path) => arm(raw('document d'), [...owned, path, ...conditions]));
  const content = containedIn(filters);
  const documents = content === undefined ? scans : [matched(query, conditions), ...scans.map(unlessMatched)];
  const matches = content === undefined ? raw('') : sql`m as materialized (
      select collection collate "C" as collection, key collate "C" as key, version, value, size_bytes
      from document_matches(${store}, ${content}::jsonb, ${MATCHES_MAX + 1})), `;
  return sql`
    with ${matches}page as (
      select d.* from (${join(documents.map((documentsOf) => sql`(${documentsOf} ${ordered})`), '\n      union all\n      ')}) d
      order by ${order.by} limit ${limit} offset ${offset})
    select collection, key, version, value::text as value, size_bytes from (
      select p.*, sum(p.size_bytes) over (rows between unbounded preceding and 1 preceding) as bytes_before from page p) p
    where coalesce(bytes_before, 0) < ${raw(String(PAGE_MAX_BYTES))}`;
}

const arm = (from: Fragment, conditions: readonly Fragment[]): Fragment =>
  sql`select d.collection, d.key, d.version, d.value, d.size_bytes from ${from} where ${join(conditions, ' and ')}`;

/** Documents whose content is in the index, when these are few. */
const matched = ({ pattern }: DocumentQuery, conditions: readonly Fragment[]): Fragment =>
  arm(raw('m d'), [
    sql`(select count(*) from m) <= ${raw(String(MATCHES_MAX))}`,
    ...conditions,
    isMatch(pattern),
  ]);

const unlessMatched = (scan: Fragment): Fragment => sql`${scan} and (select count(*) from m) > ${raw(String(MATCHES_MAX))}`;

/** The pattern as one condition, for documents that are at hand. */
function isMatch({ whole, byKey }: PathPattern): Fragment {
  const isWhole = named('collection', whole);
  return byKey ? sql`(${isWhole} or (${named('collection', byKey.collection)} and ${named('key', byKey.key)}))` : isWhole;
}

/** The pattern as conditions that each find their documents by the primary key, and no document twice. */
function scanned({ tenantId, pattern: { whole, byKey } }: DocumentQuery): Fragment[] {
  const wholeCollections = collections(tenantId, whole);
  if (!byKey) return [wholeCollections];
  const keys = sql`${collections(tenantId, byKey.collection)} and ${named('key', byKey.key)}`;
  const isElsewhere = byKey.collection.kind === 'literal' ? keys : sql`${keys} and not ${named('collection', whole)}`;
  return [wholeCollections, isElsewhere];
}

function collections(tenantId: string, glob: Glob): Fragment {
  if (glob.kind !== 'regex') return named('collection', glob);
  return sql`d.collection = any (array(
        select c.name from document_collection c where c.tenant_id = ${tenantId} and c.name ^@ ${glob.prefix} and c.name ~ ${glob.source}))`;
}

function named(column: 'collection' | 'key', glob: Glob): Fragment {
  switch (glob.kind) {
    case 'literal':
      return sql`d.${raw(column)} = ${glob.name}`;
    case 'regex':
      return sql`d.${raw(column)} ~ ${glob.source}`;
    case 'any':
      return raw('true');
  }
}
