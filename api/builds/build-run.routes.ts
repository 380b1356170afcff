import { whyExcluded } from '../../domain/builds/build-plan-rules.ts';
import { runBuild } from '../../domain/builds/build-runs.ts';
import { isFinal } from '../../domain/flows/run-status-rules.ts';
import { projectInRequest } from '../../domain/projects/projects.queries.ts';
import { flowRun } from '../../workflows/flows/flow-run.contract.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { reply } from '../http/replies.ts';
import { commitInRequest, fetchMissing } from './commit-in-request.ts';
import { RunIn, RunOut } from './builds.schemas.ts';

export const buildRunRoutes = [
  defineRoute({
    operationId: 'startBuild',
    method: 'post',
    path: '/api/builds/run',
    group: 'Builds',
    summary: 'Have a commit of a branch built, as a push of it would',
    description: [
      'The commit must be reachable from the branch; what is not known is 400, and a fetch of the repository is asked for.',
      "202 `started`: a run of the flow `build`, by the project's `buildPipeline` or the operator's command. 200: the commit is being built (`already_active`), was built with success (`already_completed`), or the branch is not one that the project builds (`excluded`). A build that failed is started again.",
    ].join('\n\n'),
    roles: ANY_ROLE,
    body: RunIn,
    status: 202,
    otherStatuses: [200],
    response: RunOut,
    audit: 'flow.run_requested',
    async handle({ body }, { tx, adapters, requestId }) {
      const { repositoryIdentifier, branchName: branch } = body;
      const outcome = await tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const found = await commitInRequest(
          work,
          project,
          await adapters.git.commitGraphs(work, project.id),
          body,
          'body',
        );
        if ('refusal' in found) return found;
        const exclusion = whyExcluded(branch, project);
        return exclusion === null ? runBuild(work, project, { branch, sha: found.sha, requestId }) : { exclusion };
      });
      if ('refusal' in outcome) return fetchMissing(adapters.launch, outcome);
      if ('exclusion' in outcome)
        return reply({ outcome: 'excluded' as const, executionId: null, message: outcome.exclusion }, { status: 200 });
      if ('existing' in outcome) {
        const { executionId, status } = outcome.existing;
        return isFinal(status)
          ? reply(
              { outcome: 'already_completed' as const, executionId, message: 'The commit was built with success' },
              { status: 200 },
            )
          : reply(
              { outcome: 'already_active' as const, executionId, message: 'The commit is being built' },
              { status: 200 },
            );
      }
      adapters.launch.begin(flowRun, outcome.accepted);
      return { outcome: 'started' as const, executionId: outcome.accepted.runId, message: 'The build is started' };
    },
  }),
];
