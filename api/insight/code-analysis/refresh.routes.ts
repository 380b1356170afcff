import { z } from 'zod';
import { BRANCHES_MAX, refreshAnalyses } from '../../../domain/insight/code-analysis/jobs/analysis-jobs.mutations.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { flowRunContract } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { Name, RepositoryIdentifier } from '../../http/parameters.ts';
import { PREFIX } from './shown-analysis.ts';

const RefreshQuery = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  branch: Name.optional().meta({ description: 'Absent: the branches that `configuration.branches` lists' }),
});
const JobId = z.uuid().meta({ description: 'A flow run: `GET /api/flows/runs/{id}`' });
const RefreshOut = z.object({
  status: z.literal('pending'),
  jobId: JobId.meta({ description: 'The first of `jobs`' }),
  jobs: z.array(z.object({ branch: z.string(), jobId: JobId })),
  message: z.string(),
});

export const codeAnalysisRefreshRoutes = [
  defineRoute({
    operationId: 'refreshCodeAnalysis',
    method: 'post',
    path: `${PREFIX}/refresh`,
    group: 'Code analysis',
    summary: 'Analyse the heads of branches now',
    description: `Starts a run of the flow \`analyze\` for each branch, also where the head has results: they are replaced. A commit that is being analysed is not analysed twice: its job is answered. The project's \`analysisPipeline\` goes before the operator's command, and both before the service's own analyzer; the first two publish what they find by \`POST ${PREFIX}/results\`. Without \`branch\`: the branches that match \`configuration.branches\`, at most ${BRANCHES_MAX}; the default branch where none are listed. Each of the branches is also analysed every night at 03:00 UTC from then on, if its head has no results.`,
    roles: ANY_ROLE,
    projectScope: 'row',
    query: RefreshQuery,
    status: 202,
    response: RefreshOut,
    errors: ['flow_unavailable'],
    audit: 'flow.run_requested',
    async handle({ query: { repositoryIdentifier, branch } }, { tx, adapters: { launch, flows }, requestId }) {
      const jobs = await tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        return refreshAnalyses(work, project, branch, { requestId, commands: flows.commands });
      });
      for (const { run } of jobs) if (run) launch.startInBackground(flowRunContract, run);
      const [first] = jobs;
      if (!first) throw new Error('a refresh without branches');
      return {
        status: 'pending' as const,
        jobId: first.jobId,
        jobs: jobs.map(({ branch: name, jobId }) => ({ branch: name, jobId })),
        message: jobs.length === 1 ? 'The branch is being analysed' : `${jobs.length} branches are being analysed`,
      };
    },
  }),
];
