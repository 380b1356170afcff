import { deploymentFacts } from '../deployments/deployment-facts.ts';
import { expectedSeconds, installedPackages, medianSeconds } from '../deployments/deployments.queries.ts';
import { environmentById, environmentByName, unknownEnvironment } from '../environments/environments.queries.ts';
import type { CommitGraphCache } from '../git/commit-graph-cache.ts';
import { currentDependencies } from '../git/packages.queries.ts';
import { type Comparison, comparePackages } from '../release-candidates/comparison-rules.ts';
import { type CandidateOfProject, candidateById } from '../release-candidates/release-candidates.queries.ts';
import { notFound } from '../shared/errors.ts';
import { isId } from '../shared/ids.ts';
import type { Tx } from '../unit-of-work.ts';
import { changelogOf } from './changelog.ts';
import { linkedCandidates } from './linked-candidates.ts';

/** An environment by its name or its id; exactly one of them is given. */
export interface EnvironmentChoice {
  environmentName?: string | undefined;
  environmentId?: string | undefined;
}

/** The environment of a project that is chosen. Throws `not_found`. */
async function chosenEnvironment(
  tx: Tx,
  projectId: string,
  { environmentName, environmentId = '' }: EnvironmentChoice,
) {
  const environment =
    environmentName === undefined
      ? isId(environmentId) && (await environmentById(tx, environmentId)).environment
      : await environmentByName(tx, projectId, environmentName);
  if (!environment && environmentName !== undefined) throw await unknownEnvironment(tx, projectId, environmentName);
  if (!environment || environment.projectId !== projectId) throw notFound('The environment');
  return environment;
}

/** Packages that a comparison installs or updates. */
const changesOf = ({ packagesToInstall, packagesToUpdate }: Comparison) => [...packagesToInstall, ...packagesToUpdate];

/**
 * Compares a candidate with what is installed in an environment of its project. Throws `not_found`.
 * @param commitGraphs for the commits and work items of the changes; undefined leaves them out.
 */
export async function compareToEnvironment(
  tx: Tx,
  commitGraphs: CommitGraphCache | undefined,
  candidateId: string,
  choice: EnvironmentChoice,
) {
  const found = await candidateById(tx, candidateId);
  const { candidate, project } = found;
  const environment = await chosenEnvironment(tx, project.id, choice);
  const installed = await installedPackages(tx, environment.id);
  const comparison = comparePackages(candidate.value, installed, await currentDependencies(tx, project.id));
  const changed = changesOf(comparison).map(({ name }) => name);
  return {
    ...found,
    environment,
    comparison,
    deployment: (await deploymentFacts(tx, [candidate], [environment.id]))(candidate.id, environment.id),
    estimatedDeploymentTime: expectedSeconds(await medianSeconds(tx, project.id, changed), changed),
    ...(await changesInGit(tx, commitGraphs, found, comparison)),
  };
}

/** Compares a candidate with given versions of packages. Throws `not_found`. `commitGraphs`: see `compareToEnvironment`. */
export async function compareToPackages(
  tx: Tx,
  commitGraphs: CommitGraphCache | undefined,
  candidateId: string,
  packages: Readonly<Record<string, string>>,
) {
  const found = await candidateById(tx, candidateId);
  const dependencies = await currentDependencies(tx, found.project.id);
  const comparison = comparePackages(found.candidate.value, packages, dependencies);
  return { ...found, comparison, ...(await changesInGit(tx, commitGraphs, found, comparison)) };
}

/** What changes beside versions: commits and work items, and the candidates of other domains that they link. */
async function changesInGit(
  tx: Tx,
  commitGraphs: CommitGraphCache | undefined,
  { candidate, project }: CandidateOfProject,
  comparison: Comparison,
) {
  if (!commitGraphs) return { changelog: null, linkedCandidates: null };
  const history = await commitGraphs(tx, project.id);
  const changes = changesOf(comparison).map(({ name, versions }) => ({ name, ...versions }));
  const changelog = await changelogOf(tx, history, project, changes);
  const keys = [...new Set(changelog.packages.flatMap(({ added }) => added.workItems))];
  return { changelog, linkedCandidates: await linkedCandidates(tx, history, candidate.domain, keys) };
}
