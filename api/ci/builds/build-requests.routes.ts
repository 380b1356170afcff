import type { z } from 'zod';
import { cascadeSource, dispatchStatus, whyExcluded } from '../../../domain/ci/builds/build-plan-rules.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { previewBuild, recordImpact } from '../../../domain/ci/builds/build-previews.mutations.ts';
import { findImpact, type Impact as ImpactFacts } from '../../../domain/ci/builds/build-previews.queries.ts';
import { requestBuild } from '../../../domain/ci/builds/build-runs.mutations.ts';
import type { MissingCommit } from '../../../domain/ci/builds/requested-commit.mutations.ts';
import { displayOf, isFinal } from '../../../domain/delivery/flows/run-status-rules.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { notFound } from '../../../domain/kernel/shared/errors.ts';
import { buildImpactContract, type BuildImpactInput } from '../../../workflows/ci/builds/build-impact.contract.ts';
import { flowRunContract } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import { signalMirrorLater } from '../../../workflows/code/git/git-mirror.contract.ts';
import type { Launch } from '../../../workflows/launch.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { NoContent } from '../../http/parameters.ts';
import { reply } from '../../http/replies.ts';
import { Impact, ImpactQuery, ImpactResultIn, Preview, PreviewQuery, RunIn, RunOut } from './builds.schemas.ts';

const GROUP = 'Builds';

type Place = Pick<BuildImpactInput, 'tenantId' | 'tenantSlug' | 'projectId' | 'repositoryIdentifier'>;

const impactInput = (
  place: Place,
  { previewKey, generation }: Pick<ImpactFacts, 'previewKey' | 'generation'>,
): BuildImpactInput => ({ ...place, previewKey, generation });

const impactView = (
  launch: Launch,
  place: Place,
  { baseCommitId: _, ...impact }: ImpactFacts,
): z.input<typeof Impact> => ({
  ...impact,
  jobId: launch.idOf(buildImpactContract, impactInput(place, impact)),
});

/** Starts a fetch for a missing commit and throws the error. */
function fetchAndRefuse(launch: Launch, { refusal, toFetch }: MissingCommit): never {
  if (toFetch) signalMirrorLater(launch, toFetch);
  throw refusal;
}

export const buildRequestsRoutes = [
  defineRoute({
    operationId: 'previewBuild',
    method: 'get',
    path: '/api/builds/preview',
    group: GROUP,
    summary: 'Preview the build of a commit',
    description: [
      'Shows whether the build can be started, and which domains and packages it affects. The impact is computed by a workflow: it is `pending` at first; poll this route or `GET /api/builds/impact-preview`. Equal requests have the same `previewKey` and are computed once; `refreshImpact` recomputes the impact.',
      'The impact covers the changes since the newest ancestor that was built successfully; otherwise since the default branch, or on the default branch since the previous commit.',
      'An unknown branch or commit gets 400, and a fetch of the repository is requested.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    query: PreviewQuery,
    status: 200,
    response: Preview,
    async handle({ query }, { tx, actor, adapters }) {
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
      const place = { ...tenantOf(actor), projectId: project.id, repositoryIdentifier };
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
        impact: impactView(launch, place, impact),
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
    summary: 'Get the impact of a previewed build',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ImpactQuery,
    status: 200,
    response: Impact,
    async handle({ query: { repositoryIdentifier, previewKey } }, { reads, actor, adapters }) {
      const project = await projectInRequest(reads, repositoryIdentifier);
      const impact = await findImpact(reads, project.id, previewKey);
      if (!impact) throw notFound('The preview');
      return impactView(adapters.launch, { ...tenantOf(actor), projectId: project.id, repositoryIdentifier }, impact);
    },
  }),
  defineRoute({
    operationId: 'publishBuildImpact',
    method: 'post',
    path: '/api/builds/impact-preview/results',
    group: GROUP,
    summary: 'Publish the impact of a previewed build, computed by an external worker',
    description:
      '`generation` is the generation of the impact for which the result was computed: a result for an older generation is ignored, one for a generation that was never requested gets 400.',
    roles: ['owner', 'application'],
    projectScope: 'row',
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
    summary: 'Start the build of a commit, as a push would',
    description: [
      'The commit must be reachable from the branch. An unknown branch or commit gets 400, and a fetch of the repository is requested.',
      "202 `started`: a run of the flow `build` was started, executed by the project's `buildPipeline` or the operator's command; 409 `flow_unavailable` if there is neither. 200: the commit is being built (`already_active`), was built successfully (`already_completed`), or the project does not build this branch (`excluded`). A failed build is started again.",
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    body: RunIn,
    status: 202,
    otherStatuses: [200],
    response: RunOut,
    errors: ['flow_unavailable'],
    audit: 'flow.run_requested',
    async handle({ body }, { tx, adapters: { launch, git, flows }, requestId }) {
      const options = { requestId, commands: flows.commands };
      const build = await tx((work) => requestBuild(work, git.commitGraphs, body, options));
      switch (build.outcome) {
        case 'missing':
          return fetchAndRefuse(launch, build.missing);
        case 'excluded':
          return reply({ outcome: 'excluded' as const, executionId: null, message: build.reason }, { status: 200 });
        case 'existing': {
          const { executionId, status } = build.run;
          const [outcome, message] = isFinal(status)
            ? (['already_completed', 'The commit was built successfully'] as const)
            : (['already_active', 'The commit is being built'] as const);
          return reply({ outcome, executionId, message }, { status: 200 });
        }
        case 'accepted':
          launch.startInBackground(flowRunContract, build.run);
          return { outcome: 'started' as const, executionId: build.run.runId, message: 'The build was started' };
      }
    },
  }),
];
