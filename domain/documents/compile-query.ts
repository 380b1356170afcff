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

/** Rows of collection, key, version, value (its text) and size_bytes, in the query's order. */
const SHOWN = raw('collection, key, version, value::text as value, size_bytes');
const sized = (page: Fragment): Fragment =>
  sql`select p.*, row_number() over () as place, sum(p.size_bytes) over (rows between unbounded preceding and 1 preceding) as bytes_before from (${page}) p`;
const isInPage = raw(`coalesce(bytes_before, 0) < ${PAGE_MAX_BYTES}`);

/**
 * A query as one statement that reads documents in the order of their keys. Throws `invalid_request` for a filter that
 * cannot be.
 */
export function compileScan(query: DocumentQuery): Fragment {
  const { order, limit, offset } = query;
  const owned = [sql`d.tenant_id = ${query.tenantId}`, sql`d.store = ${query.store}`];
  // Each part is ordered and cut by itself: only so is the primary key's order used under a union.
  const parts = scanned(query).map(
    (path) =>
      sql`(${selected(raw('document d'), [...owned, path, ...conditions(query)])} order by ${order.by} limit ${limit + offset})`,
  );
  const page = sql`select d.* from (${join(parts, ' union all ')}) d order by ${order.by} limit ${limit} offset ${offset}`;
  return sql`select ${SHOWN} from (${sized(page)}) p where ${isInPage}`;
}

/**
 * The same over the documents that the index on content proposes, where the filters say what to look for there. There
 * is always a row: `is_common` says that the index proposes too many, and that the query was not answered.
 */
export function compileMatches(query: DocumentQuery): Fragment | undefined {
  const { order, limit, offset, store, pattern } = query;
  // Compiled first: that is where a malformed filter is refused.
  const where = [...conditions(query), isMatch(pattern)];
  const content = containedIn(query.filters);
  if (content === undefined) return undefined;
  const page = sql`${selected(raw('m d'), where)} order by ${order.by} limit ${limit} offset ${offset}`;
  return sql`
    with m as materialized (
      select collection collate "C" as collection, key collate "C" as key, version, value, size_bytes
      from document_matches(${store}, ${content}::jsonb, ${MATCHES_MAX + 1})),
    n as (select count(*) > ${raw(String(MATCHES_MAX))} as is_common from m)
    select is_common, ${SHOWN} from n left join (${sized(page)}) p on not is_common and ${isInPage} order by place`;
}

const conditions = ({ filters, order, after }: DocumentQuery): Fragment[] => [
  ...filters.map(compileFilter),
  ...(after ? [order.after(after)] : []),
];

const selected = (from: Fragment, where: readonly Fragment[]): Fragment =>
  sql`select d.collection, d.key, d.version, d.value, d.size_bytes from ${from} where ${join(where, ' and ')}`;

/** The pattern as one condition, for documents that are at hand. */
function isMatch({ whole, byKey }: PathPattern): Fragment {
  const isWhole = named('collection', whole);
  return byKey
    ? sql`(${isWhole} or (${named('collection', byKey.collection)} and ${named('key', byKey.key)}))`
    : isWhole;
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
