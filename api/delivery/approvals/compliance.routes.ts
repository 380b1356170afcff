import { Readable } from 'node:stream';
import type { z } from 'zod';
import { withChangelogs } from '../../../domain/delivery/approvals/compliance-changelogs.ts';
import {
  complianceBatches,
  type ComplianceFilter,
  compliancePage,
  type ComplianceRow,
} from '../../../domain/delivery/approvals/compliance.queries.ts';
import { batchesWithUnapproved, pageWithUnapproved } from '../../../domain/delivery/approvals/unapproved.queries.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { CSV_TYPE, type CsvCell, csvRecord } from '../../../domain/kernel/text/csv-rules.ts';
import { isoOf } from '../../../domain/kernel/text/date-time-rules.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { pageReply, RawReply } from '../../http/replies.ts';
import { CompliancePage, ComplianceQuery } from './approvals.schemas.ts';

/** Columns of the CSV file, in order. */
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
  override: (row) => row.override && `${row.override.by}: ${row.override.reason}`,
  policyViolations: (row) => row.policyViolations.map(({ code }) => code).join('; '),
};
const CHANGELOG: typeof COLUMNS = { changelog: (row) => row.changelog };

/** Rows with changelogs are large, so fewer of them are read at once. */
const ROWS_WITH_CHANGELOG = 250;

async function* csvOf(
  batches: AsyncIterable<ComplianceRow[]>,
  completed: (rows: ComplianceRow[]) => Promise<ComplianceRow[]>,
  includeChangelog: boolean,
): AsyncGenerator<string, void> {
  const columns = { ...COLUMNS, ...(includeChangelog && CHANGELOG) };
  const cells = Object.values(columns);
  yield csvRecord(Object.keys(columns));
  for await (const rows of batches)
    yield (await completed(rows)).map((row) => csvRecord(cells.map((cell) => cell(row)))).join('');
}

/** `year` overrides `from` and `to`. */
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
    summary: 'Report the approval history of a repository, newest first',
    description: [
      'Each row is one step of an approval: the request, and how it was resolved. Steps are never changed. A vote that does not reach `minApprovals` is a step with status `requested` and source `vote`, with the voter in `resolvedBy`.',
      '`source` is the cause of the step: `run`, `vote`, `timer`, `worker`, `release_candidate`, `newer_request` or `run_ended`. `changelog` compares the release with the previous candidate of its domain and branch: packages with their commits, work items and pull requests, as far as the repository has been fetched; `definition` is the changelog in the release definition. It is null if the release has no candidate.',
      '`override` is the override of the promotion policy that the run had. Where nobody was asked for an approval, the override is a step of its own: status `overridden`, `approvalId` null.',
      'With `includeUnapproved=true` the deployments to release environments that nobody approved are rows of their own: status `not_requested`, `requestedAt` is the time of the deployment, `source` is `run` or `report`, and the task type of a reported one is `release-event`. An approval counts for the deployment by its own run, and for the first deployment of the same content to the same environment that is reported after it; an approval that the report itself states counts, too. Later deployments of that content are rows. A deployment that broke a policy of its environment (`policyViolations`) is a row, too, wherever it went: status `policy_violated` if it has an approval or needs none.',
      "With `format=csv` the whole report is streamed as `text/csv` (RFC 4180, UTF-8); values that a spreadsheet would interpret as formulas get a leading `'`.",
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ComplianceQuery,
    status: 200,
    response: CompliancePage,
    contentTypes: ['application/json', 'text/csv'],
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
      const {
        repositoryIdentifier,
        format,
        limit,
        offset,
        includeChangelog,
        includeUnapproved,
        year: _,
        ...filters
      } = query;
      const isFull = includeUnapproved || filters.status === 'not_requested' || filters.status === 'policy_violated';
      const [page, batches] = isFull
        ? [pageWithUnapproved, batchesWithUnapproved]
        : [compliancePage, complianceBatches];
      const project = await projectInRequest(reads, repositoryIdentifier);
      const filter = { ...filters, repositoryIdentifier, ...boundsOf(query) };
      const history = includeChangelog ? await commitGraphs(reads, project.id) : undefined;
      const completed = async (rows: ComplianceRow[]) =>
        history ? tx((work) => withChangelogs(work, history, project, rows)) : rows;
      if (format === 'csv') {
        const text = csvOf(
          batches(reads.with({ pace: 'varies', isContinued: true }), filter, history && ROWS_WITH_CHANGELOG),
          completed,
          includeChangelog,
        );
        const name = `approvals-${repositoryIdentifier.replaceAll(/[^\w.-]/g, '-')}${query.year === undefined ? '' : `-${query.year}`}.csv`;
        return new RawReply(CSV_TYPE, Readable.from(text, { highWaterMark: 1 }), {
          'Content-Disposition': `attachment; filename="${name}"`,
        });
      }
      const { items, total } = await page(reads.with({ pace: 'varies' }), filter, { limit, offset });
      return pageReply(requestUrl, { limit, offset, total }, { items: await completed(items), total, limit, offset });
    },
  }),
];
