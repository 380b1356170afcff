import type { ActorReads, ReadOptions } from '../kernel/data/fenced-reads.ts';
import { DomainError, invalidField } from '../kernel/shared/errors.ts';
import { parsePath } from '../kernel/json/json-path-rules.ts';
import type { DocumentFilter } from './compile-filter.ts';
import { compileMatches, compileScan, type DocumentQuery, type DocumentRow, PAGE_MAX_BYTES } from './compile-query.ts';
import { compileOrder, type DocumentSort, type Position } from './compile-sort.ts';
import type { PathPattern } from '../kernel/text/path-pattern-rules.ts';
import { projection } from './projection-rules.ts';
import type { Store } from '../kernel/settings/kept-version-rules.ts';

export interface DocumentQuestion {
  store: Store;
  pattern: PathPattern;
  filters: readonly DocumentFilter[];
  sort: readonly DocumentSort[];
  /** Paths; only these parts of the values are answered. */
  fields?: readonly string[] | undefined;
  /** Only documents behind this position. */
  after?: Position | undefined;
  limit: number;
  offset: number;
}

export type FoundDocument = Omit<DocumentRow, 'sizeBytes'>;

export interface DocumentPage {
  documents: FoundDocument[];
  /** The last document's position, when there may be more. */
  last: Position | undefined;
}

/** An expression may take any time, even on few documents. */
const REGEX_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 15_000;

/**
 * One page of documents, of at least one and at most `limit`, unless there is none. Throws `invalid_request` for what
 * is not valid, and for a query that takes too long.
 */
export async function findDocuments(
  reads: ActorReads,
  { sort, fields, limit, ...question }: DocumentQuestion,
): Promise<DocumentPage> {
  const project = fields && projection(fields.map((field, index) => pathOf(field, `fields/${index}`)));
  const order = compileOrder(sort);
  // One more than the page has, to see whether there are more.
  const rows = await rowsOf(reads, { ...question, tenantId: reads.tenantId, order, limit: limit + 1 });
  const documents = rows.slice(0, limit).map(({ sizeBytes: _, ...document }) => document);
  const isCut = rows.length > limit || rows.reduce((bytes, row) => bytes + row.sizeBytes, 0) >= PAGE_MAX_BYTES;
  const final = documents.at(-1);
  return {
    documents: project
      ? documents.map((each) => ({ ...each, value: JSON.stringify(project(JSON.parse(each.value))) }))
      : documents,
    last: isCut && final ? order.positionOf({ ...final, value: JSON.parse(final.value) as unknown }) : undefined,
  };
}

function pathOf(field: string, place: string): string[] {
  const segments = parsePath(field);
  if (!segments) throw invalidField(place, 'not a path');
  return segments;
}

async function rowsOf(reads: ActorReads, query: DocumentQuery): Promise<DocumentRow[]> {
  const regex = query.filters.findIndex(({ operator }) => operator === 'regex');
  const limits =
    regex === -1
      ? ({ timeoutMs: QUERY_TIMEOUT_MS, pace: 'varies' } as const)
      : ({ timeoutMs: REGEX_TIMEOUT_MS, pace: 'slow' } as const);
  try {
    return (await matches(reads, query, limits)) ?? (await scan(reads, query, limits));
  } catch (error) {
    throw refusalOf(error as { code?: string; message: string }, regex, limits.timeoutMs) ?? error;
  }
}

const scan = async (reads: ActorReads, query: DocumentQuery, limits: ReadOptions): Promise<DocumentRow[]> =>
  (await compileScan(query).execute(reads.with({ ...limits, isPlannedAnew: true }).db)).rows;

/** Undefined where the index on content is of no use. */
async function matches(
  reads: ActorReads,
  query: DocumentQuery,
  limits: ReadOptions,
): Promise<DocumentRow[] | undefined> {
  const { rows } = (await compileMatches(query)?.execute(reads.with(limits).db)) ?? {};
  if (!rows || rows[0]?.isCommon) return undefined;
  return rows.flatMap(({ isCommon: _, ...row }) => (row.key === null ? [] : row));
}

function refusalOf(
  { code, message }: { code?: string; message: string },
  regex: number,
  timeoutMs: number,
): DomainError | undefined {
  if (code === '2201B') return invalidField(`filters/${Math.max(0, regex)}/value`, message);
  if (code === '57014')
    return new DomainError('invalid_request', `The query took longer than ${timeoutMs / 1_000} s; ask for less`);
  return undefined;
}
