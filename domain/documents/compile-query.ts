import { type RawBuilder, sql } from 'kysely';
import { compileFilter, containedIn, type DocumentFilter } from './compile-filter.ts';
import { NAME_COLUMNS } from './compile-field.ts';
import type { Order, Position } from './compile-sort.ts';
import type { Glob, PathPattern } from '../kernel/text/path-pattern-rules.ts';
import type { Store } from '../kernel/settings/kept-version-rules.ts';

export interface DocumentQuery {
  tenantId: string;
  store: Store;
  pattern: PathPattern;
  filters: readonly DocumentFilter[];
  order: Order;
  /** Only documents behind it. */
  after?: Position | undefined;
  limit: number;
  offset: number;
}

export interface DocumentRow {
  collection: string;
  key: string;
  version: number;
  /** JSON. */
  value: string;
  sizeBytes: number;
}

/** A row of documents by content. Where there are none, one row has nothing but `isCommon`. */
export type MatchRow = { isCommon: boolean } & (DocumentRow | { [C in keyof DocumentRow]: null });

/** A page ends early when its documents reach this size, so that no request fills the memory; it has at least one. */
export const PAGE_MAX_BYTES = 8 * 1024 * 1024;
/** More matches than this are found faster by reading documents in their order than by the index on content. */
const MATCHES_MAX = 1_000;

type Part = RawBuilder<unknown>;

const COLUMNS = sql`d.collection, d.key, d.version, d.value, d.size_bytes`;
const SHOWN = sql`p.collection, p.key, p.version, p.value::text as value, p.size_bytes as "sizeBytes"`;
const sized = (page: Part): Part =>
  sql`select ${COLUMNS}, row_number() over () as place, sum(d.size_bytes) over (rows between unbounded preceding and 1 preceding) as bytes_before from (${page}) d`;
const IS_IN_PAGE = sql`coalesce(p.bytes_before, 0) < ${sql.lit(PAGE_MAX_BYTES)}`;

/**
 * A query as one statement that reads documents in the order of their keys. Throws `invalid_request` for a filter that
 * is not valid.
 */
export function compileScan(query: DocumentQuery): RawBuilder<DocumentRow> {
  const { order, limit, offset } = query;
  const owned = [sql`d.tenant_id = ${query.tenantId}`, sql`d.store = ${query.store}`];
  // Each part is ordered and cut by itself: only so is the primary key's order used under a union.
  const parts = scanned(query).map(
    (path) =>
      sql`(${selected(sql`document d`, [...owned, path, ...conditions(query)])} order by ${order.by} limit ${limit + offset})`,
  );
  const page = sql`select ${COLUMNS} from (${sql.join(parts, sql` union all `)}) d order by ${order.by} limit ${limit} offset ${offset}`;
  return sql`select ${SHOWN} from (${sized(page)}) p where ${IS_IN_PAGE} order by p.place`;
}

/**
 * A page of documents like that of `compileQuery`, over the documents that the index on content proposes, where the filters
 * say what to look for there. There is always a row: `isCommon` says that the index proposes too many, and that the query
 * was not answered.
 */
export function compileMatches(query: DocumentQuery): RawBuilder<MatchRow> | undefined {
  const { order, limit, offset, store, pattern } = query;
  // Compiled first: that is where a malformed filter is refused.
  const where = [...conditions(query), isMatch(pattern)];
  const content = containedIn(query.filters);
  if (content === undefined) return undefined;
  const page = sql`${selected(sql`m d`, where)} order by ${order.by} limit ${limit} offset ${offset}`;
  return sql`
    with m as materialized (
      select collection collate "C" as collection, key collate "C" as key, version, value, size_bytes
      from document_matches(${store}, ${content}::jsonb, ${sql.lit(MATCHES_MAX + 1)})),
    n as (select count(*) > ${sql.lit(MATCHES_MAX)} as is_common from m)
    select n.is_common as "isCommon", ${SHOWN} from n left join (${sized(page)}) p on not n.is_common and ${IS_IN_PAGE} order by p.place`;
}

const conditions = ({ filters, order, after }: DocumentQuery): Part[] => [
  ...filters.map(compileFilter),
  ...(after ? [order.after(after)] : []),
];

const selected = (from: Part, where: readonly Part[]): Part =>
  sql`select ${COLUMNS} from ${from} where ${sql.join(where, sql` and `)}`;

/** The pattern as one condition, for documents that are found already. */
function isMatch({ whole, byKey }: PathPattern): Part {
  const isWhole = named('collection', whole);
  return byKey
    ? sql`(${isWhole} or (${named('collection', byKey.collection)} and ${named('key', byKey.key)}))`
    : isWhole;
}

/** The pattern as conditions that each find their documents by the primary key, and no document twice. */
function scanned({ tenantId, pattern: { whole, byKey } }: DocumentQuery): Part[] {
  const wholeCollections = collections(tenantId, whole);
  if (!byKey) return [wholeCollections];
  const keys = sql`${collections(tenantId, byKey.collection)} and ${named('key', byKey.key)}`;
  const isElsewhere = byKey.collection.kind === 'literal' ? keys : sql`${keys} and not ${named('collection', whole)}`;
  return [wholeCollections, isElsewhere];
}

function collections(tenantId: string, glob: Glob): Part {
  if (glob.kind !== 'regex') return named('collection', glob);
  return sql`d.collection = any (array(
        select c.name from document_collection c where c.tenant_id = ${tenantId} and c.name ^@ ${glob.prefix} and c.name ~ ${glob.source}))`;
}

function named(column: keyof typeof NAME_COLUMNS, glob: Glob): Part {
  switch (glob.kind) {
    case 'literal':
      return sql`${NAME_COLUMNS[column]} = ${glob.name}`;
    case 'regex':
      return sql`${NAME_COLUMNS[column]} ~ ${glob.source}`;
    case 'any':
      return sql`true`;
  }
}
