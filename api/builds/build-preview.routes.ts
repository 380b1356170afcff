import type { z } from 'zod';
import { cascadeSource, dispatchStatus, whyExcluded } from '../../domain/builds/build-plan-rules.ts';
import {
  findImpact,
  type Impact as ImpactFacts,
  keepImpact,
  requestImpact,
} from '../../domain/builds/build-preview.queries.ts';
import { existingBuild } from '../../domain/builds/build-runs.ts';
import { listEnvironments } from '../../domain/environments/environments.queries.ts';
import { executorOf } from '../../domain/flows/executor-rules.ts';
import { displayOf, isFinal } from '../../domain/flows/run-status-rules.ts';
import { commitShas } from '../../domain/git/commits.queries.ts';
import type { Project } from '../../domain/projects/projects.entities.ts';
import { projectInRequest } from '../../domain/projects/projects.queries.ts';
import { invalidField, notFound } from '../../domain/shared/errors.ts';
import { matchesPattern } from '../../domain/shared/pattern-rules.ts';
import { buildImpactContract, type BuildImpactInput } from '../../workflows/builds/build-impact.contract.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { NoContent } from '../http/parameters.ts';
import type { Adapters } from '../http/scope.ts';
import { commitInRequest, fetchMissing } from './commit-in-request.ts';
import { Impact, ImpactQuery, ImpactResultIn, Preview, PreviewQuery } from './builds.schemas.ts';

const GROUP = 'Builds';

type Place = Pick<BuildImpactInput, 'tenantId' | 'projectId' | 'repositoryIdentifier'>;

const jobOf = (
  place: Place,
  { previewKey, generation }: Pick<ImpactFacts, 'previewKey' | 'generation'>,
): BuildImpactInput => ({ ...place, previewKey, generation });

const impactView = (place: Place, { baseCommitId: _, ...impact }: ImpactFacts): z.input<typeof Impact> => ({
  ...impact,
  jobId: buildImpactContract.workflowId(jobOf(place, impact)),
});

/** Whether the project's pipeline, or a program of the operator's list, builds commits. */
const canBuild = ({ configuration }: Pick<Project, 'configuration'>, { flows: { commands } }: Adapters): boolean =>
  executorOf(
    { own: undefined },
    { hasPipeline: configuration.buildPipeline !== undefined, hasCommand: commands.has('build') },
  ) !== undefined;

export const buildPreviewRoutes = [
  defineRoute({
    operationId: 'previewBuild',
    method: 'get',
    path: '/api/builds/preview',
    group: GROUP,
    summary: 'What a build of a commit would do: domains and packages that it concerns, and whether it can be started',
    description: [
      'The impact is computed by a workflow: it is `pending` at first, and read again here or by `GET /api/builds/impact-preview`. The same request has the same `previewKey` and is computed once; `refreshImpact` computes it anew.',
      'It is what changed since the newest commit before on the same line that was built with success; without one, since the default branch, or on the default branch since the commit before.',
      'A branch or commit that is not known is 400, and a fetch of the repository is asked for.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    query: PreviewQuery,
    status: 200,
    response: Preview,
    async handle({ query }, { tx, adapters }) {
      const {
        repositoryIdentifier,
        branchName,
        forceBuildDomains,
        forceBuildPackages,
        targetEnvironmentTypes,
        refreshImpact,
        debug,
      } = query;
      const outcome = await tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const history = await adapters.git.commitGraphs(work, project.id);
        const found = await commitInRequest(work, project, history, query, 'query');
        if ('refusal' in found) return found;
        const request = {
          branch: branchName,
          commitId: found.sha,
          forcedDomains: forceBuildDomains,
          forcedPackages: forceBuildPackages,
        };
        const { isAsked, ...impact } = await requestImpact(work, project.id, request, refreshImpact);
        const existing = await existingBuild(work, project.id, found.sha);
        const environments = (await listEnvironments(work, project.id)).filter(
          ({ isActive, category, branch }) =>
            isActive &&
            (targetEnvironmentTypes.length === 0 || targetEnvironmentTypes.includes(category)) &&
            matchesPattern(branch, branchName),
        );
        const tip = debug ? (await commitShas(work, project.id, [found.tip])).get(found.tip) : undefined;
        return { project, history, sha: found.sha, impact, isAsked, existing, environments, tip };
      });
      if ('refusal' in outcome) return fetchMissing(adapters.launch, outcome);
      const { project, history, sha, impact, isAsked, existing, environments, tip } = outcome;
      const place = { tenantId: project.tenantId, projectId: project.id, repositoryIdentifier };
      if (isAsked) adapters.launch.begin(buildImpactContract, jobOf(place, impact));
      const exclusionReason = whyExcluded(branchName, project);
      const environmentNames = environments.map(({ name }) => name);
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
          isAvailable: canBuild(project, adapters),
          existing: existing ? (isFinal(existing.status) ? 'completed' : 'active') : null,
        }),
        existingExecutionId: existing?.executionId ?? null,
        existingRun: existing ? { executionId: existing.executionId, status: displayOf(existing.status) } : null,
        impact: impactView(place, impact),
        ...(debug && {
          debug: {
            branchTip: tip ?? null,
            commitId: sha,
            baseCommitId: impact.baseCommitId,
            fetchedAt: history.freshness.fetchedAt,
            isStale: history.freshness.isStale,
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
      '`generation` is that of the impact for which it was computed: a result of an older one changes nothing, one that was never asked for is 400.',
    roles: ['owner', 'application'],
    body: ImpactResultIn,
    status: 204,
    response: NoContent,
    audit: 'build.impact_recorded',
    handle: ({ body: { repositoryIdentifier, previewKey, ...result } }, { tx }) =>
      tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        if (!(await keepImpact(work, project.id, previewKey, result))) {
          const known = await findImpact(work, project.id, previewKey);
          if (!known) throw notFound('The preview');
          if (result.generation > known.generation)
            throw invalidField('generation', `the newest generation is ${known.generation}`);
          return;
        }
        work.audit({
          source: 'project',
          action: 'build.impact_recorded',
          entityType: 'build_preview',
          entityId: previewKey,
          repositoryIdentifier,
          summary: `Impact of a build recorded as ${result.status}`,
          after: {
            generation: result.generation,
            status: result.status,
            domains: result.impactedDomains.map(({ domainName }) => domainName),
          },
        });
      }),
  }),
];
