import { csvRecord } from '../text/csv-rules.ts';
import { isoOf } from '../text/date-time-rules.ts';
import type { EntryCells } from './chain.queries.ts';

const COLUMNS = [
  'id',
  'sequence',
  'occurredAt',
  'source',
  'action',
  'actor',
  'repositoryIdentifier',
  'entityType',
  'entityId',
  'summary',
  'before',
  'after',
  'requestId',
  'prevHash',
  'hash',
] as const satisfies readonly (keyof EntryCells)[];

export const EXPORT_HEADER = csvRecord(COLUMNS);

/** Records of entries: RFC 4180, objects as JSON. */
export function exportRecords(rows: readonly EntryCells[]): string {
  let text = '';
  for (const row of rows) {
    text += csvRecord([
      row.id,
      Number(row.sequence),
      isoOf(row.occurredAt),
      row.source,
      row.action,
      row.actor,
      row.repositoryIdentifier,
      row.entityType,
      row.entityId,
      row.summary,
      row.before,
      row.after,
      row.requestId,
      row.prevHash,
      row.hash,
    ]);
  }
  return text;
}
