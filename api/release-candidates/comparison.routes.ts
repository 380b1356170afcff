import { z } from 'zod';
import { estimateDeploymentSeconds, installedPackages } from '../../domain/deployments/deployments.queries.ts';
import type { Environment } from '../../domain/environments/environments.entities.ts';
import { environmentById, environmentByName } from '../../domain/environments/environments.queries.ts';
import type { ProjectFacts } from '../../domain/projects/projects.queries.ts';
import { type Comparison, comparePackages } from '../../domain/release-candidates/comparison-rules.ts';
import type { ReleaseCandidate } from '../../domain/release-candidates/release-candidates.entities.ts';
import { candidateLog } from '../../domain/releases/candidate-log.ts';
import { changelogOf } from '../../domain/releases/changelog.ts';
import { linkedCandidates } from '../../domain/releases/linked-candidates.ts';
import { notFound } from '../../domain/shared/errors.ts';
import { isId } from '../../domain/shared/ids.ts';
import type { Tx } from '../../domain/unit-of-work.ts';
import { signalMirror } from '../../workflows/git/git-mirror.contract.ts';
import { CandidateChanges } from '../http/changelogs.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { Id, queryFlag } from '../http/parameters.ts';
import type { Adapters } from '../http/scope.ts';
import { candidateWithProject, view } from './candidate-view.ts';
import {
  CompareIn,
  CompareToPackagesIn,
  EnvironmentComparison,
  PackagesComparison,
} from './release-candidates.schemas.ts';

const GROUP = 'Release candidates';
const params = z.object({ id: Id });
const query = z.strictObject({
  includeChangelog: queryFlag(false).meta({
    description:
      'Commits and work items of each package that is installed or updated, and the candidates that are linked by them',
  }),
});

/** What a comparison says beyond versions, when it is asked for. */
async function gitData(
  work: Tx,
  { git: { commitGraphs } }: Pick<Adapters, 'git'>,
  { project, candidate, comparison }: { project: ProjectFacts; candidate: ReleaseCandidate; comparison: Comparison },
  isWanted: boolean,
) {
  if (!isWanted) return { changelog: null, linkedCandidates: null };
  const history = await commitGraphs(work, project.id);
  const changes = [...comparison.packagesToInstall, ...comparison.packagesToUpdate].map(({ name, versions }) => ({
    name,
    ...versions,
  }));
  const changelog = await changelogOf(work, history, project, changes);
  const keys = [...new Set(changelog.packages.flatMap(({ workItems }) => workItems))];
  return { changelog, linkedCandidates: await linkedCandidates(work, history, candidate.domain, keys) };
}

/** The environment that a body names, in the candidate's project. Throws `not_found`. */
async function chosenEnvironment(
  tx: Tx,
  projectId: string,
  { environmentId, environmentName }: z.output<typeof CompareIn>,
): Promise<Environment> {
  const environment =
    environmentName === undefined
      ? isId(environmentId ?? '') && (await environmentById(tx, environmentId ?? '')).environment
      : await environmentByName(tx, projectId, environmentName);
  if (!environment || environment.projectId !== projectId) throw notFound('The environment');
  return environment;
}

export const comparisonRoutes = [
  defineRoute({
    operationId: 'compareReleaseCandidateToEnvironment',
    method: 'post',
    path: '/api/release-candidates/{id}/compare',
    group: GROUP,
    summary: 'Compare a release candidate with what is installed in an environment',
    description:
      'Installed is what the successful deployments to the environment, reported as release events, left there.',
    roles: ANY_ROLE,
    params,
    query,
    body: CompareIn,
    status: 200,
    response: EnvironmentComparison,
    audit: { none: 'reads' },
    handle: ({ params: { id }, query: { includeChangelog }, body }, { tx, adapters }) =>
      tx(async (work) => {
        const { candidate, project } = await candidateWithProject(work, id);
        const environment = await chosenEnvironment(work, project.id, body);
        const comparison = comparePackages(candidate.value, await installedPackages(work, environment.id));
        const changed = [...comparison.packagesToInstall, ...comparison.packagesToUpdate].map(({ name }) => name);
        return {
          releaseCandidate: view(candidate, project),
          environment,
          comparison,
          estimatedDeploymentTime: await estimateDeploymentSeconds(work, project.id, changed),
          ...(await gitData(work, adapters, { project, candidate, comparison }, includeChangelog)),
        };
      }),
  }),
  defineRoute({
    operationId: 'compareReleaseCandidateToPackages',
    method: 'post',
    path: '/api/release-candidates/{id}/compare-to-packages',
    group: GROUP,
    summary: 'Compare a release candidate with a map of package versions',
    roles: ANY_ROLE,
    params,
    query,
    body: CompareToPackagesIn,
    status: 200,
    response: PackagesComparison,
    audit: { none: 'reads' },
    handle: ({ params: { id }, query: { includeChangelog }, body: { packages, baseLabel } }, { tx, adapters }) =>
      tx(async (work) => {
        const { candidate, project } = await candidateWithProject(work, id);
        const comparison = comparePackages(candidate.value, packages);
        return {
          releaseCandidate: view(candidate, project),
          baseLabel,
          comparison,
          ...(await gitData(work, adapters, { project, candidate, comparison }, includeChangelog)),
        };
      }),
  }),
  defineRoute({
    operationId: 'getReleaseCandidateChanges',
    method: 'get',
    path: '/api/release-candidates/{id}/changes',
    group: GROUP,
    summary: 'The commits, packages and work items that are new in a release candidate',
    description: [
      "Those of `git log since..commit -- <paths>` with the paths of the packages of the candidate's domain (those that the project lists for the domain, else those that the candidate holds). Merges count as commits.",
      '`since` is a commit, a tag, or a date that is compared with the dates of the commits; absent: the commit of the candidate before it on the same branch.',
      'A commit that is not known is no error: `missingChangelog` says so, and a fetch of the repository is asked for.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    params,
    query: z.strictObject({ since: z.string().min(1).max(255).optional() }),
    status: 200,
    response: CandidateChanges,
    async handle(
      { params: { id }, query: { since } },
      {
        tx,
        adapters: {
          git: { commitGraphs },
          launch,
        },
      },
    ) {
      const { project, log } = await tx(async (work) => {
        const found = await candidateWithProject(work, id);
        const history = await commitGraphs(work, found.project.id);
        return { ...found, log: await candidateLog(work, history, found.project, found.candidate, since) };
      });
      if (log.missingChangelog !== null && project.remoteUrl !== null) {
        signalMirror(launch, {
          tenantId: project.tenantId,
          projectId: project.id,
          repositoryIdentifier: project.identifier,
        });
      }
      return log;
    },
  }),
];
