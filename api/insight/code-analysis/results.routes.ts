import { Readable } from 'node:stream';
import { z } from 'zod';
import { analysisById, listAnalyses } from '../../../domain/insight/code-analysis/analyses.queries.ts';
import { publishAnalysis } from '../../../domain/insight/code-analysis/analyses.mutations.ts';
import {
  LOG_MAX_BYTES,
  logKey,
  PACKED_MAX_BYTES,
  SARIF_TYPE,
} from '../../../domain/insight/code-analysis/sarif/log-upload.ts';
import { isCut } from '../../../domain/insight/code-analysis/sarif/cut-rules.ts';
import { issuesTrend, TREND_RUNS } from '../../../domain/insight/code-analysis/comparisons/trend-rules.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { notFound } from '../../../domain/kernel/shared/errors.ts';
import {
  analysisResultsContract,
  resultsStoredSignal,
} from '../../../workflows/insight/code-analysis/analysis-results.contract.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, JsonObject } from '../../http/parameters.ts';
import { RawReply, reply } from '../../http/replies.ts';
import { parseBody } from '../../http/request-input.ts';
import {
  AnalysisOut,
  byBranch,
  DashboardOut,
  DashboardQuery,
  HistoryQuery,
  PublishIn,
  PublishOut,
  PublishStream,
} from './code-analysis.schemas.ts';
import { PREFIX, sarifUrl, shownAnalysis } from './shown-analysis.ts';

const GROUP = 'Code analysis';
/** Runs that the dashboard compares. */
const DASHBOARD_RUNS = 10;

export const codeAnalysisResultsRoutes = [
  defineRoute({
    operationId: 'publishCodeAnalysis',
    method: 'post',
    path: `${PREFIX}/results`,
    group: GROUP,
    summary: 'Publish the results of a code analysis',
    description:
      'The SARIF log is checked and stored while it arrives. It has at most 50 MB, sent as gzip (`Content-Encoding: gzip`, or base64 of its gzip as `sarif`) at most 10 MB; at most 20 runs, in each 25,000 results, 25,000 rules, 100 extensions and 100 bases of paths, in each result 1,000 locations and 1 MB; 100 levels; no member twice. What breaks that, or the schema of SARIF 2.1.0, gets 422 with a pointer. A commit that has results on the branch keeps them: 200 with `ignored: true`. The newest ten runs of a branch are kept. A level is taken from the result, the invocation, the rule, else it is `warning`; suppressed results, and those with `baselineState: absent`, are not counted. Uploads that together would take too much memory get 503.',
    roles: ['owner', 'application'],
    projectScope: 'row',
    body: PublishStream,
    bodyType: 'stream',
    bodyLimitBytes: LOG_MAX_BYTES,
    packedLimitBytes: PACKED_MAX_BYTES,
    isRepeatable: true,
    status: 201,
    otherStatuses: [200],
    response: PublishOut,
    audit: 'code_analysis.published',
    errors: ['payload_too_large', 'unsupported_media_type', 'unprocessable'],
    async handle({ body }, { tx, adapters, actor }) {
      const store = { tx, objects: adapters.objects.store, tenantId: actor.tenantId };
      const factsOf = (members: unknown) => {
        const { sarif: _, duration: durationMs, ...facts } = parseBody(PublishIn, members);
        return { ...facts, durationMs };
      };
      const { outcome, project, branch } = await publishAnalysis(store, body, factsOf);
      if (outcome === 'ignored') return reply({ success: true as const, ignored: true as const }, { status: 200 });
      const input = {
        ...tenantOf(actor),
        projectId: project.id,
        repositoryIdentifier: project.identifier,
        branch,
      };
      adapters.launch.signalWithStartInBackground(analysisResultsContract, input, resultsStoredSignal, 0);
      return { success: true as const };
    },
  }),

  defineRoute({
    operationId: 'listCodeAnalyses',
    method: 'get',
    path: `${PREFIX}/history/{branch}`,
    group: GROUP,
    summary: 'List the analyses of a branch, the latest first',
    description: 'A branch keeps its newest ten. The SARIF log of each is at its `sarifUrl`.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byBranch,
    query: HistoryQuery,
    status: 200,
    response: z.array(AnalysisOut),
    async handle({ params: { branch }, query: { repositoryIdentifier, limit } }, scope) {
      const project = await projectInRequest(scope.reads, repositoryIdentifier);
      const rows = await listAnalyses(scope.reads, { projectId: project.id, branch }, limit);
      return rows.map((row) => shownAnalysis(scope, repositoryIdentifier, row));
    },
  }),

  defineRoute({
    operationId: 'getCodeAnalysisDashboard',
    method: 'get',
    path: `${PREFIX}/dashboard/{branch}`,
    group: GROUP,
    summary: 'Show how the issues of a branch develop',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byBranch,
    query: DashboardQuery,
    status: 200,
    response: DashboardOut,
    async handle({ params: { branch }, query: { repositoryIdentifier } }, scope) {
      const project = await projectInRequest(scope.reads, repositoryIdentifier);
      const rows = await listAnalyses(scope.reads, { projectId: project.id, branch }, DASHBOARD_RUNS);
      const [latest] = rows;
      return {
        repositoryIdentifier,
        branch,
        latestAnalysis: latest ? shownAnalysis(scope, repositoryIdentifier, latest) : null,
        history: rows.map(({ id, commitId, analyzedAt, summary, newIssues, fixedIssues }, place) => ({
          commitId,
          analyzedAt,
          totalIssues: summary.totalIssues,
          errors: summary.issuesByLevel.error,
          warnings: summary.issuesByLevel.warning,
          newIssues,
          fixedIssues,
          isComplete: !isCut(summary) && !isCut(rows[place + 1]?.summary),
          sarifUrl: sarifUrl(scope, id),
        })),
        trends: {
          issuesTrend: issuesTrend(rows.map(({ summary }) => summary.totalIssues)),
          isComplete: !rows.slice(0, TREND_RUNS).some(({ summary }) => isCut(summary)),
        },
      };
    },
  }),

  defineRoute({
    operationId: 'getCodeAnalysisSarif',
    method: 'get',
    path: `${PREFIX}/results/{id}/sarif`,
    group: GROUP,
    summary: 'Fetch the SARIF log of an analysis',
    description: 'As it was published, byte by byte.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: JsonObject,
    contentTypes: [SARIF_TYPE],
    async handle({ params: { id } }, { reads, adapters, actor }) {
      const found = await analysisById(reads, id);
      const content = found && (await adapters.objects.store.get(logKey(actor.tenantId, found.bodyId)));
      if (!content) throw notFound('The analysis');
      return new RawReply(SARIF_TYPE, Readable.from(content, { objectMode: false }), {
        'Cache-Control': 'private, no-store',
      });
    },
  }),
];
