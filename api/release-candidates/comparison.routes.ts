import { z } from 'zod';
import { estimateDeploymentSeconds, installedPackages } from '../../domain/deployments/deployments.queries.ts';
import type { Environment } from '../../domain/environments/environments.entities.ts';
import { environmentById, environmentByName } from '../../domain/environments/environments.queries.ts';
import { comparePackages } from '../../domain/release-candidates/comparison-rules.ts';
import { notFound } from '../../domain/shared/errors.ts';
import { isId } from '../../domain/shared/ids.ts';
import type { Tx } from '../../domain/unit-of-work.ts';
import { defineRoute } from '../http/define-route.ts';
import { Id, queryFlag } from '../http/parameters.ts';
import { candidateWithProject, view } from './candidate-view.ts';
import { CompareIn, CompareToPackagesIn, EnvironmentComparison, PackagesComparison } from './release-candidates.schemas.ts';

const GROUP = 'Release candidates';
const ANYONE = ['owner', 'member', 'application'] as const;
const params = z.object({ id: Id });
const query = z.strictObject({
  includeChangelog: queryFlag(false).meta({ description: 'Taken, and answered with null as long as no commits are imported' }),
});
const NO_GIT_DATA = { changelog: null, linkedCandidates: null };

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
    method: 'post',
    path: '/api/release-candidates/{id}/compare',
    group: GROUP,
    summary: 'Compare a release candidate with what is installed in an environment',
    description: 'Installed is what the successful deployments to the environment, reported as release events, left there.',
    roles: ANYONE,
    params,
    query,
    body: CompareIn,
    status: 200,
    response: EnvironmentComparison,
    audit: { none: 'reads' },
    handle: ({ params: { id }, body }, { tx }) =>
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
          ...NO_GIT_DATA,
        };
      }),
  }),
  defineRoute({
    method: 'post',
    path: '/api/release-candidates/{id}/compare-to-packages',
    group: GROUP,
    summary: 'Compare a release candidate with a map of package versions',
    roles: ANYONE,
    params,
    query,
    body: CompareToPackagesIn,
    status: 200,
    response: PackagesComparison,
    audit: { none: 'reads' },
    handle: ({ params: { id }, body: { packages, baseLabel } }, { tx }) =>
      tx(async (work) => {
        const { candidate, project } = await candidateWithProject(work, id);
        return {
          releaseCandidate: view(candidate, project),
          baseLabel,
          comparison: comparePackages(candidate.value, packages),
          ...NO_GIT_DATA,
        };
      }),
  }),
];
