import type { ActorReads } from '../data/fenced-reads.ts';
import { DomainError, invalidField } from '../shared/errors.ts';
import { compileMatches, compileScan, type DocumentQuery, PAGE_MAX_BYTES } from './compile-query.ts';
import type { Position } from './compile-sort.ts';

export interface FoundDocument {
  collection: string;
  key: string;
  version: number;
  /** JSON. */
  value: string;
}

interface FoundPage {
  documents: FoundDocument[];
  /** The last document's place, when there may be more. */
  last: Position | undefined;
}

/** The only part of a query that may take any time. */
const REGEX_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 15_000;

interface Row extends FoundDocument {
  size_bytes: number;
}
/** Of no documents there is one row with nothing but `is_common`. */
type MatchRow = (Row | { [column in keyof Row]: null }) & { is_common: boolean };

/** One page of a query, of at least one document and at most `limit`. Throws `invalid_request` when it takes too long. */
export async function runQuery(reads: ActorReads, query: Omit<DocumentQuery, 'tenantId'>): Promise<FoundPage> {
  const regex = query.filters.findIndex(({ operator }) => operator === 'regex');
  const timeoutMs = regex === -1 ? QUERY_TIMEOUT_MS : REGEX_TIMEOUT_MS;
  const whole = { ...query, tenantId: reads.tenantId, limit: query.limit + 1 };
  let rows: Row[];
  try {
    rows = (await matchingRows(reads, whole, timeoutMs)) ?? (await scannedRows(reads, whole, timeoutMs));
  } catch (error) {
    throw refusalOf(error as { code?: string; message: string }, regex, timeoutMs) ?? error;
  }
  const documents = rows.slice(0, query.limit).map(({ size_bytes: _, ...document }) => document);
  const isCut =
    rows.length > query.limit || rows.reduce((bytes, { size_bytes: size }) => bytes + size, 0) >= PAGE_MAX_BYTES;
  const final = documents.at(-1);
  return {
    documents,
    last: isCut && final ? query.order.positionOf({ ...final, value: JSON.parse(final.value) as unknown }) : undefined,
  };
}

const scannedRows = (reads: ActorReads, query: DocumentQuery, timeoutMs: number): Promise<Row[]> => {
  const { text, parameters } = compileScan(query);
  return reads.once<Row>(text, parameters, { timeoutMs });
};

/** Undefined where the index on content is of no use. */
async function matchingRows(reads: ActorReads, query: DocumentQuery, timeoutMs: number): Promise<Row[] | undefined> {
  const compiled = compileMatches(query);
  if (!compiled) return undefined;
  const rows = await reads.sql<MatchRow>(compiled.text, compiled.parameters, { timeoutMs });
  return rows[0]?.is_common ? undefined : rows.filter((row) => row.key !== null);
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
