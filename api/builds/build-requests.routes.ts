import type { z } from 'zod';
import { cascadeSource, dispatchStatus, whyExcluded } from '../../domain/builds/build-plan-rules.ts';
import { previewBuild, recordImpact } from '../../domain/builds/build-previews.mutations.ts';
import { findImpact, type Impact as ImpactFacts } from '../../domain/builds/build-previews.queries.ts';
import { requestBuild } from '../../domain/builds/build-runs.mutations.ts';
import type { MissingCommit } from '../../domain/builds/requested-commit.mutations.ts';
import { displayOf, isFinal } from '../../domain/flows/run-status-rules.ts';
import { projectInRequest } from '../../domain/projects/projects.queries.ts';
import { notFound } from '../../domain/shared/errors.ts';
import { buildImpactContract, type BuildImpactInput } from '../../workflows/builds/build-impact.contract.ts';
import { flowRunContract } from '../../workflows/flows/flow-run.contract.ts';
import { signalMirror } from '../../workflows/git/git-mirror.contract.ts';
import type { Launch } from '../../workflows/launch.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { NoContent } from '../http/parameters.ts';
import { reply } from '../http/replies.ts';
import { Impact, ImpactQuery, ImpactResultIn, Preview, PreviewQuery, RunIn, RunOut } from './builds.schemas.ts';

const GROUP = 'Builds';

type Place = Pick<BuildImpactInput, 'tenantId' | 'projectId' | 'repositoryIdentifier'>;

const impactInput = (
  place: Place,
  { previewKey, generation }: Pick<ImpactFacts, 'previewKey' | 'generation'>,
): BuildImpactInput => ({ ...place, previewKey, generation });

const impactView = (place: Place, { baseCommitId: _, ...impact }: ImpactFacts): z.input<typeof Impact> => ({
  ...impact,
  jobId: buildImpactContract.workflowId(impactInput(place, impact)),
});

/** Has the repository of a missing commit fetched, and refuses the request. */
function fetchAndRefuse(launch: Launch, { refusal, toFetch }: MissingCommit): never {
  if (toFetch)
    signalMirror(launch, {
      tenantId: toFetch.tenantId,
      projectId: toFetch.id,
      repositoryIdentifier: toFetch.identifier,
    });
  throw refusal;
}

export const buildRequestsRoutes = [
  defineRoute({
    operationId: 'previewBuild',
    method: 'get',
    path: '/api/builds/preview',
    group: GROUP,
    summary: 'What a build of a commit would do: domains and packages that it affects, and whether it can be started',
    description: [
      'The impact is computed by a workflow: it is `pending` at first, and read again here or by `GET /api/builds/impact-preview`. The same request has the same `previewKey` and is computed once; `refreshImpact` computes it anew.',
      'It is what changed since the newest commit before on the same line that was built with success; without one, since the default branch, or on the default branch since the commit before.',
      'A branch or commit that is not known is 400, and a fetch of the repository is requested.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    query: PreviewQuery,
    status: 200,
    response: Preview,
    async handle({ query }, { tx, adapters }) {
      const { launch, flows, git } = adapters;
      const { repositoryIdentifier, branchName, commitId, debug } = query;
      const question = {
        repositoryIdentifier,
        branchName,
        commitId,
        forcedDomains: query.forceBuildDomains,
        forcedPackages: query.forceBuildPackages,
        environmentCategories: query.targetEnvironmentTypes,
        isRefreshed: query.refreshImpact,
      };
      const preview = await tx((work) => previewBuild(work, git.commitGraphs, question));
      if (!preview.isKnown) return fetchAndRefuse(launch, preview);
      const { project, impact, existing, environmentNames } = preview;
      const place = { tenantId: project.tenantId, projectId: project.id, repositoryIdentifier };
      if (preview.isRequested) launch.startInBackground(buildImpactContract, impactInput(place, impact));
      const exclusionReason = whyExcluded(branchName, project);
      return {
        workflowKind: 'build-on-merge',
        targetScope: 'allowed-domains',
        plannedTargets: impact.impactedDomains.map(({ domainName, impactedPackages }) => ({
          domainName,
          packages: impactedPackages,
          environments: environmentNames,
        })),
        cascadeSourceBranch: cascadeSource(branchName, project),
        excluded: exclusionReason !== null,
        exclusionReason,
        dispatchStatus: dispatchStatus({
          isExcluded: exclusionReason !== null,
          hasPipeline: project.configuration.buildPipeline !== undefined,
          hasCommand: flows.commands.has('build'),
          existing: existing?.status,
        }),
        existingExecutionId: existing?.executionId ?? null,
        existingRun: existing ? { executionId: existing.executionId, status: displayOf(existing.status) } : null,
        impact: impactView(place, impact),
        ...(debug && {
          debug: {
            branchTip: preview.tipSha,
            commitId: preview.sha,
            baseCommitId: impact.baseCommitId,
            fetchedAt: preview.freshness.fetchedAt,
            isStale: preview.freshness.isStale,
          },
        }),
      };
    },
  }),
  defineRoute({
    operationId: 'getBuildImpact',
    method: 'get',
    path: '/api/builds/impact-preview',
    group: GROUP,
    summary: 'The impact of a previewed build, as far as it is computed',
    roles: ANY_ROLE,
    query: ImpactQuery,
    status: 200,
    response: Impact,
    async handle({ query: { repositoryIdentifier, previewKey } }, { reads }) {
      const project = await projectInRequest(reads, repositoryIdentifier);
      const impact = await findImpact(reads, project.id, previewKey);
      if (!impact) throw notFound('The preview');
      return impactView({ tenantId: reads.tenantId, projectId: project.id, repositoryIdentifier }, impact);
    },
  }),
  defineRoute({
    operationId: 'publishBuildImpact',
    method: 'post',
    path: '/api/builds/impact-preview/results',
    group: GROUP,
    summary: 'Publish the impact of a previewed build that a worker outside computed',
    description:
      '`generation` is that of the impact for which it was computed: a result of an older one changes nothing, one that was never requested is 400.',
    roles: ['owner', 'application'],
    body: ImpactResultIn,
    status: 204,
    response: NoContent,
    audit: 'build.impact_recorded',
    async handle({ body }, { tx }) {
      await tx((work) => recordImpact(work, body));
    },
  }),
  defineRoute({
    operationId: 'startBuild',
    method: 'post',
    path: '/api/builds/run',
    group: GROUP,
    summary: 'Have a commit of a branch built, as a push of it would',
    description: [
      'The commit must be reachable from the branch; what is not known is 400, and a fetch of the repository is requested.',
      "202 `started`: a run of the flow `build`, by the project's `buildPipeline` or the operator's command. 200: the commit is being built (`already_active`), was built with success (`already_completed`), or the branch is not one that the project builds (`excluded`). A build that failed is started again.",
    ].join('\n\n'),
    roles: ANY_ROLE,
    body: RunIn,
    status: 202,
    otherStatuses: [200],
    response: RunOut,
    audit: 'flow.run_requested',
    async handle({ body }, { tx, adapters: { launch, git }, requestId }) {
      const build = await tx((work) => requestBuild(work, git.commitGraphs, body, requestId));
      switch (build.outcome) {
        case 'missing':
          return fetchAndRefuse(launch, build.missing);
        case 'excluded':
          return reply({ outcome: 'excluded' as const, executionId: null, message: build.reason }, { status: 200 });
        case 'existing': {
          const { executionId, status } = build.run;
          const [outcome, message] = isFinal(status)
            ? (['already_completed', 'The commit was built with success'] as const)
            : (['already_active', 'The commit is being built'] as const);
          return reply({ outcome, executionId, message }, { status: 200 });
        }
        case 'accepted':
          launch.startInBackground(flowRunContract, build.run);
          return { outcome: 'started' as const, executionId: build.run.runId, message: 'The build is started' };
      }
    },
  }),
];
