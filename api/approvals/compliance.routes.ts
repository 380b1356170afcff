import { Readable } from 'node:stream';
import type { z } from 'zod';
import { withChangelogs } from '../../domain/approvals/compliance-changelogs.ts';
import {
  complianceBatches,
  type ComplianceFilter,
  compliancePage,
  type ComplianceRow,
} from '../../domain/approvals/compliance.queries.ts';
import { projectInRequest } from '../../domain/projects/projects.queries.ts';
import { CSV_TYPE, type CsvCell, csvRecord } from '../../domain/shared/csv-rules.ts';
import { isoOf } from '../../domain/shared/date-time-rules.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
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
const CHANGELOG: typeof COLUMNS = { changelog: (row) => row.changelog };

/** Rows with changelogs are long, and their releases are read together: fewer of them at once. */
const ROWS_WITH_CHANGELOG = 250;

async function* csvOf(
  batches: AsyncIterable<ComplianceRow[]>,
  told: (rows: ComplianceRow[]) => Promise<ComplianceRow[]>,
  includeChangelog: boolean,
): AsyncGenerator<string, void> {
  const columns = { ...COLUMNS, ...(includeChangelog && CHANGELOG) };
  const cells = Object.values(columns);
  yield csvRecord(Object.keys(columns));
  for await (const rows of batches)
    yield (await told(rows)).map((row) => csvRecord(cells.map((cell) => cell(row)))).join('');
}

/** A year overrides the other bounds. */
function boundsOf({ year, from, to }: z.output<typeof ComplianceQuery>): Pick<ComplianceFilter, 'from' | 'to'> {
  if (year === undefined) return { from, to };
  return { from: new Date(Date.UTC(Number(year), 0)), to: new Date(Date.UTC(Number(year) + 1, 0)) };
}

export const complianceRoutes = [
  defineRoute({
    operationId: 'getComplianceReport',
    method: 'get',
    path: '/api/flows/approvals/compliance',
    group: 'Approvals',
    summary: 'Report on the approvals of a repository: each step that was taken, newest first',
    description: [
      'Steps are written once and never changed: the request, and how it was settled. An approval that does not suffice by itself (`minApprovals`) is a step of status `requested` and source `vote`, with the person in `resolvedBy`.',
      '`source` says what made the step: `run`, `vote`, `timer`, `worker`, `release_candidate`, `newer_request` or `run_ended`. `changelog` tells what was new in the release against the candidate before it in its domain and branch: packages with their commits, work items and pull requests, as far as the repository is known; `definition` is what the release itself says. It is null where there is no such candidate.',
      "With `format=csv` the whole report is streamed as `text/csv` (RFC 4180, UTF-8); texts that a spreadsheet would take for formulas get a leading `'`.",
    ].join('\n\n'),
    roles: ANY_ROLE,
    query: ComplianceQuery,
    status: 200,
    response: CompliancePage,
    async handle(
      { query },
      {
        reads,
        tx,
        adapters: {
          git: { commitGraphs },
        },
        requestUrl,
      },
    ) {
      const { repositoryIdentifier, format, limit, offset, includeChangelog, year: _, ...filters } = query;
      const project = await projectInRequest(reads, repositoryIdentifier);
      const filter = { ...filters, repositoryIdentifier, ...boundsOf(query) };
      const history = includeChangelog ? await commitGraphs(reads, project.id) : undefined;
      const told = async (rows: ComplianceRow[]) =>
        history ? tx((work) => withChangelogs(work, history, project, rows)) : rows;
      if (format === 'csv') {
        const text = csvOf(complianceBatches(reads, filter, history && ROWS_WITH_CHANGELOG), told, includeChangelog);
        const name = `approvals-${repositoryIdentifier.replaceAll(/[^\w.-]/g, '-')}${query.year === undefined ? '' : `-${query.year}`}.csv`;
        return new RawReply(CSV_TYPE, Readable.from(text, { highWaterMark: 1 }), {
          'Content-Disposition': `attachment; filename="${name}"`,
        });
      }
      const { items, total } = await compliancePage(reads, filter, { limit, offset });
      return pageReply(requestUrl, { limit, offset, total }, { items: await told(items), total, limit, offset });
    },
  }),
];
