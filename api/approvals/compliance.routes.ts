import { Readable } from 'node:stream';
import type { z } from 'zod';
import { complianceBatches, type ComplianceFilter, compliancePage, type ComplianceRow } from '../../domain/approvals/compliance.queries.ts';
import { projectForReads } from '../../domain/projects/projects.queries.ts';
import { CSV_TYPE, type CsvCell, csvRecord } from '../../domain/shared/csv-rules.ts';
import { isoOf } from '../../domain/shared/moment-rules.ts';
import { defineRoute } from '../http/define-route.ts';
import { pageReply, RawReply } from '../http/replies.ts';
import { CompliancePage, ComplianceQuery } from './approvals.schemas.ts';

/** The columns of the file, in order. */
const COLUMNS: Record<string, (row: ComplianceRow) => CsvCell> = {
  id: (row) => row.id,
  approvalId: (row) => row.approvalId,
  executionId: (row) => row.executionId,
  taskType: (row) => row.taskType,
  repositoryIdentifier: (row) => row.repositoryIdentifier,
  environment: (row) => row.environment,
  domain: (row) => row.domain,
  releaseName: (row) => row.releaseName,
  status: (row) => row.status,
  requestedBy: (row) => row.requestedBy,
  requestedAt: (row) => isoOf(row.requestedAt),
  resolvedBy: (row) => row.resolvedBy,
  resolvedAt: (row) => row.resolvedAt && isoOf(row.resolvedAt),
  responseTimeMs: (row) => row.responseTimeMs,
  approvers: (row) => row.approvers.join('; '),
  comment: (row) => row.comment,
  source: (row) => row.source,
};
const CHANGELOG: typeof COLUMNS = { changelog: (row) => row.changelog as CsvCell };

async function* csvOf(batches: AsyncIterable<ComplianceRow[]>, includeChangelog: boolean): AsyncGenerator<string, void> {
  const columns = { ...COLUMNS, ...(includeChangelog && CHANGELOG) };
  const cells = Object.values(columns);
  yield csvRecord(Object.keys(columns));
  for await (const rows of batches) yield rows.map((row) => csvRecord(cells.map((cell) => cell(row)))).join('');
}

/** A year overrides the other bounds. */
function boundsOf({ year, from, to }: z.output<typeof ComplianceQuery>): Pick<ComplianceFilter, 'from' | 'to'> {
  if (year === undefined) return { from, to };
  return { from: new Date(Date.UTC(Number(year), 0)), to: new Date(Date.UTC(Number(year) + 1, 0)) };
}

export const complianceRoutes = [
  defineRoute({
    method: 'get',
    path: '/api/flows/approvals/compliance',
    group: 'Approvals',
    summary: 'Report on the approvals of a repository: each step that was taken, newest first',
    description: [
      'Steps are written once and never changed: the request, and how it was settled. An approval that does not suffice by itself (`minApprovals`) is a step of status `requested` and source `vote`, with the person in `resolvedBy`.',
      '`source` says what made the step: `run`, `vote`, `timer`, `worker`, `release_candidate`, `newer_request` or `run_ended`. `changelog` is the one that the definition of the release holds, null when it holds none.',
      'With `format=csv` the whole report is streamed as `text/csv` (RFC 4180, UTF-8); texts that a spreadsheet would take for formulas get a leading `\'`.',
    ].join('\n\n'),
    roles: ['owner', 'member', 'application'],
    query: ComplianceQuery,
    status: 200,
    response: CompliancePage,
    async handle({ query }, { reads, requestUrl }) {
      const { repositoryIdentifier, format, limit, offset, includeChangelog, year: _, ...filters } = query;
      await projectForReads(reads, repositoryIdentifier);
      const filter = { ...filters, repositoryIdentifier, ...boundsOf(query) };
      if (format === 'csv') {
        const text = csvOf(complianceBatches(reads, filter, includeChangelog), includeChangelog);
        const name = `approvals-${repositoryIdentifier.replaceAll(/[^\w.-]/g, '-')}${query.year === undefined ? '' : `-${query.year}`}.csv`;
        return new RawReply(CSV_TYPE, Readable.from(text, { highWaterMark: 1 }), { 'Content-Disposition': `attachment; filename="${name}"` });
      }
      const { items, total } = await compliancePage(reads, filter, { limit, offset, includeChangelog });
      return pageReply(requestUrl, { limit, offset, total }, { items, total, limit, offset });
    },
  }),
];
