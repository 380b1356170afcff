import { cancelReport, LOCAL, requestReport } from '../../../domain/insight/ai-reports/generation.mutations.ts';
import { modelInRequest } from '../../../domain/insight/language-models/configured-model.queries.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { invalidField } from '../../../domain/kernel/shared/errors.ts';
import type { Tx } from '../../../domain/unit-of-work.ts';
import { aiReportContract } from '../../../workflows/insight/ai-reports/ai-report.contract.ts';
import { EngineUnavailableError } from '../../../workflows/launch.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { CancelOut, RefreshOut, RefreshQuery, ReportQuery } from './ai-reports.schemas.ts';

const GROUP = 'AI reports';

interface WantedMaker {
  provider?: string | undefined;
  model?: string | undefined;
}

/** Who is to write a report. Throws `invalid_request` where no such model is configured. */
async function makerOf(tx: Tx, projectId: string, { provider, model }: WantedMaker) {
  if (provider !== LOCAL) {
    const configured = await modelInRequest(tx, { projectId, provider, model });
    return { provider: configured.settings.provider as string, model: configured.model };
  }
  if (model !== undefined) throw invalidField('model', `the provider ${LOCAL} has no models`);
  return { provider: LOCAL, model: null };
}

export const aiReportRefreshRoutes = [
  defineRoute({
    operationId: 'refreshAiReport',
    method: 'post',
    path: '/api/ai-reports/refresh',
    group: GROUP,
    summary: 'Generate a report on a repository, a domain or a package',
    description: [
      'The service gathers at most 400 numbered facts from what it knows: the latest code analysis with new and fixed issues, releases, changes and work items since the last release, failed deployments, sizes. A report begins with these facts. Then a language model is asked for a summary, risks and recommendations, which cite facts by number; claims that cite none are dropped and counted. Texts are masked where they look like secrets, and names of people are not sent.',
      'The model is that of the active integration of kind `ai-model` of the project, else of the tenant; none: 400. `provider=local` gives facts alone, without any model. A report of the same scope that is being generated is joined, whatever its model. Without `force`, the report of the same facts, prompt and model is the answer where there is one (`cached`). Follow `GET /api/ai-reports/status`; `error` begins with the kind of failure, such as `budget_exceeded`.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    query: RefreshQuery,
    status: 202,
    response: RefreshOut,
    audit: 'ai_report.requested',
    async handle({ query }, { tx, actor, adapters }) {
      const { repositoryIdentifier, branch, scope, scopeName, provider, model, force } = query;
      const requested = await tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const maker = await makerOf(work, project.id, { provider, model });
        const key = { branch: branch ?? project.defaultBranch, scope, scopeName };
        const asked = { ...key, ...maker, isForced: force };
        const made = await requestReport(work, adapters.git.commitGraphs, project, asked);
        return { ...made, repositoryIdentifier: project.identifier, branch: key.branch };
      });
      const { id, status, ...names } = requested;
      if (status === 'queued')
        adapters.launch.startInBackground(aiReportContract, { ...tenantOf(actor), reportId: id, ...names });
      const cached = status === 'cached';
      return { taskExecutionId: id, status: cached ? ('completed' as const) : ('generating' as const), cached };
    },
  }),
  defineRoute({
    operationId: 'cancelAiReport',
    method: 'post',
    path: '/api/ai-reports/cancel',
    group: GROUP,
    summary: 'Cancel the report that is being generated on a scope',
    description:
      'The answer of the language model is broken off; what came of it costs what the provider bills. The report ends as `failed`, with an `error` that begins with `cancelled`, if it was not completed before. None is being generated: 404.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ReportQuery,
    status: 202,
    response: CancelOut,
    audit: ['ai_report.cancel_requested', 'ai_report.failed'],
    async handle({ query }, { tx, actor, adapters, log }) {
      const { repositoryIdentifier, branch, scope, scopeName } = query;
      const { id, hasEnded, ...names } = await tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const key = { branch: branch ?? project.defaultBranch, scope, scopeName };
        const cancelled = await cancelReport(work, project, key);
        return { ...cancelled, repositoryIdentifier: project.identifier, branch: key.branch };
      });
      try {
        await adapters.launch.cancel(aiReportContract, { ...tenantOf(actor), reportId: id, ...names });
      } catch (error) {
        // Its workflow finds that the report has ended.
        if (!hasEnded || !(error instanceof EngineUnavailableError)) throw error;
        log.warn({ err: error, reportId: id }, 'the workflow of a cancelled report was not cancelled');
      }
      return { taskExecutionId: id, status: hasEnded ? ('failed' as const) : ('generating' as const) };
    },
  }),
];
