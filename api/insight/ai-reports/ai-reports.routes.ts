import {
  REPORT_KEYS_MAX,
  shownStatus,
  type ReportScope,
  scopeProblem,
} from '../../../domain/insight/ai-reports/ai-report-rules.ts';
import { publishReport } from '../../../domain/insight/ai-reports/ai-reports.mutations.ts';
import {
  newestReports,
  newestWithText,
  reportHistory,
  reportState,
  type ReportSummary,
} from '../../../domain/insight/ai-reports/ai-reports.queries.ts';
import type { Reads } from '../../../domain/kernel/data/fenced-reads.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { invalidField, notFound } from '../../../domain/kernel/shared/errors.ts';
import { z } from 'zod';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { NoContent } from '../../http/parameters.ts';
import {
  FullReportOut,
  HistoryQuery,
  PublishIn,
  ReportOut,
  ReportQuery,
  ReportsQuery,
  StatusOut,
} from './ai-reports.schemas.ts';

const GROUP = 'AI reports';

interface AskedKey {
  repositoryIdentifier: string;
  branch?: string | undefined;
  scope: ReportScope;
  scopeName: string;
}

/** The project and the key that a query names. A domain or package that is gone may still have reports. */
async function keyInQuery(reads: Reads, { repositoryIdentifier, branch, scope, scopeName }: AskedKey) {
  const problem = scopeProblem({ scope, scopeName }, { domain: [], package: [] });
  if (problem !== undefined) throw invalidField('scopeName', problem);
  const project = await projectInRequest(reads, repositoryIdentifier);
  return { project, key: { branch: branch ?? project.defaultBranch, scope, scopeName } };
}

type EndedSummary = ReportSummary & { status: 'completed' | 'failed' };
const view = (repositoryIdentifier: string, report: ReportSummary) =>
  ({ repositoryIdentifier, ...report }) as { repositoryIdentifier: string } & EndedSummary;

export const aiReportsRoutes = [
  defineRoute({
    operationId: 'publishAiReport',
    method: 'post',
    path: '/api/ai-reports/results',
    group: GROUP,
    summary: 'Publish a report that was made elsewhere',
    description: `Reports are added, never changed; the newest 10 by \`analyzedAt\` of each repository, branch, scope and name are kept, among them the newest with a text; an older one is audited, and neither kept nor announced. Of a repository at most ${REPORT_KEYS_MAX} branches, scopes and names with 256 MB of text are kept, those with the newest reports. A text above 1 MB gets 413. A domain must be one that the project lists or has candidates of, a package one of its configuration or its repository; where none is known of that kind, any name is taken.`,
    roles: ['owner', 'application'],
    projectScope: 'row',
    body: PublishIn,
    status: 204,
    response: NoContent,
    errors: ['payload_too_large'],
    audit: 'ai_report.published',
    async handle({ body: { repositoryIdentifier, branch, markdownReport: markdown, ...report } }, { tx }) {
      await tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        await publishReport(work, project, { ...report, branch: branch ?? project.defaultBranch, markdown });
      });
    },
  }),
  defineRoute({
    operationId: 'listAiReports',
    method: 'get',
    path: '/api/ai-reports',
    group: GROUP,
    summary: 'List the newest report of each branch, scope and name',
    description: `Without the texts. Reports that are being generated are not among them. At most ${REPORT_KEYS_MAX.toLocaleString('en')}, the newest first.`,
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ReportsQuery,
    status: 200,
    response: z.array(ReportOut),
    async handle({ query: { repositoryIdentifier } }, { reads }) {
      const project = await projectInRequest(reads, repositoryIdentifier);
      return (await newestReports(reads, project.id)).map((report) => view(repositoryIdentifier, report));
    },
  }),
  defineRoute({
    operationId: 'getAiReportStatus',
    method: 'get',
    path: '/api/ai-reports/status',
    group: GROUP,
    summary: 'Get how far the reports on a scope are',
    description:
      '`generating` while a report is being generated; else the status of the newest report. `error` is why that failed.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ReportQuery,
    status: 200,
    response: StatusOut,
    async handle({ query }, { reads }) {
      const { project, key } = await keyInQuery(reads, query);
      const state = await reportState(reads, project.id, key);
      return {
        status: shownStatus(state?.status),
        taskExecutionId: state?.taskExecutionId ?? null,
        reportId: state?.id ?? null,
        error: state?.error ?? null,
        updatedAt: state?.updatedAt ?? null,
      };
    },
  }),
  defineRoute({
    operationId: 'getLatestAiReport',
    method: 'get',
    path: '/api/ai-reports/latest',
    group: GROUP,
    summary: 'Get the newest report on a scope with its text',
    description: 'The newest by `analyzedAt` that has a text; none: 404. A generation that failed has none.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ReportQuery,
    status: 200,
    response: FullReportOut,
    async handle({ query }, { reads }) {
      const { project, key } = await keyInQuery(reads, query);
      const report = await newestWithText(reads, project.id, key);
      if (!report) throw notFound(`A report on ${key.scope} ${key.scopeName} of branch ${key.branch}`);
      const { markdown, ...summary } = report;
      return { ...view(project.identifier, summary), markdownReport: markdown ?? '' };
    },
  }),
  defineRoute({
    operationId: 'listAiReportHistory',
    method: 'get',
    path: '/api/ai-reports/history',
    group: GROUP,
    summary: 'List the reports on a scope',
    description: 'Newest first by `analyzedAt`, without the texts. 10 are kept.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: HistoryQuery,
    status: 200,
    response: z.array(ReportOut),
    async handle({ query: { limit, ...query } }, { reads }) {
      const { project, key } = await keyInQuery(reads, query);
      const reports = await reportHistory(reads, project.id, key, limit);
      return reports.map((report) => view(project.identifier, report));
    },
  }),
];
