import { type ShownVerification, verificationsOf } from '../../verification/shown-verifications.queries.ts';
import { deploymentFacts } from '../../deployments/deployment-facts.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { DeploymentLog, DeploymentLogCache } from '../../deployments/deployment-log-cache.ts';
import type { Packages } from '../../deployments/report-rules.ts';
import { expectedSeconds, medianSeconds, violationsOfDeployments } from '../../deployments/deployments.queries.ts';
import {
  environmentById,
  environmentByName,
  unknownEnvironment,
} from '../../../projects/environments/environments.queries.ts';
import type { CommitGraphCache } from '../../../code/git/graph/commit-graph-cache.ts';
import { currentDependencies } from '../../../code/git/packages.queries.ts';
import { rangeFacts } from '../../../code/git/graph/range-facts.ts';
import type { PolicyViolation } from '../../../projects/policies/policy-violation-rules.ts';
import { type Comparison, comparePackages } from '../../release-candidates/comparison-rules.ts';
import {
  type CandidateOfProject,
  type CandidateRow,
  candidateById,
} from '../../release-candidates/release-candidates.queries.ts';
import { firstHolder } from '../../release-candidates/first-holders.queries.ts';
import { notFound } from '../../../kernel/shared/errors.ts';
import { isId } from '../../../kernel/shared/ids.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { resolveInOrder } from './resolved-changes.ts';
import { type ChangelogTexts, changelogText } from './changelog-texts.ts';
import { type InstalledPackage, lastInstalled } from '../versions/installed-states.ts';
import { linkedCandidates } from './linked-candidates.ts';
import { otherContents, type PackageChange, packageChanges } from './package-change-rules.ts';
import { runningViolations } from '../running-violations.ts';

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

/** What the commits and work items of changes are read from, and how they are written. */
export interface ChangelogSource extends ChangelogTexts {
  commitGraphs: CommitGraphCache;
}

/**
 * Compares a candidate with what is installed in an environment of its project. Throws `not_found`.
 * @param source for the commits and work items of the changes; undefined leaves them out.
 */
export async function compareToEnvironment(
  tx: Tx,
  source: ChangelogSource | undefined,
  deploymentLogs: DeploymentLogCache,
  candidateId: string,
  choice: EnvironmentChoice,
) {
  const found = await candidateById(tx, candidateId);
  const { candidate, project } = found;
  const environment = await chosenEnvironment(tx, project.id, choice);
  const log = await deploymentLogs(tx, project.id);
  const last = lastInstalled(log, environment.id);
  const installed = Object.fromEntries([...last].map(([name, { packages }]) => [name, packages[name] ?? '']));
  const others = othersInstalled(candidate, last, installed);
  const dependencies = await currentDependencies(tx, project.id);
  const comparison = comparePackages(candidate.value, installed, dependencies, new Set(others.keys()));
  const changed = changesOf(comparison).map(({ name }) => name);
  return {
    ...found,
    environment: {
      ...environment,
      policyViolations: (await runningViolations(tx, log, [environment.id]))(environment.id),
    },
    ...(await lastDeploymentOf(tx, log, candidate, environment.id)),
    comparison,
    deployment: (await deploymentFacts(tx, [candidate], [environment.id]))(candidate.id, environment.id),
    estimatedDeploymentTime: expectedSeconds(await medianSeconds(tx, project.id, changed), changed),
    ...(await changesInGit(tx, source, found, comparison, others)),
  };
}

/** What the last deployment of a candidate's content to an environment broke of its policies, and whether it is verified. */
async function lastDeploymentOf(
  reads: Reads,
  { places }: DeploymentLog,
  { domain, releaseName, contentDigest }: CandidateRow,
  environmentId: string,
): Promise<{ policyViolations: PolicyViolation[]; verification: ShownVerification | null }> {
  const last = places
    .find((place) => place.environmentId === environmentId && place.domain === domain)
    ?.deployments.findLast((each) => each.releaseName === releaseName && each.contentDigest === contentDigest);
  if (!last) return { policyViolations: [], verification: null };
  return {
    policyViolations: (await violationsOfDeployments(reads, [last.id])).get(last.id) ?? [],
    verification: (await verificationsOf(reads, [last.id])).get(last.id) ?? null,
  };
}

/**
 * Packages that are installed in the candidate's versions, but from another commit, with what is known of it: those that
 * the same release installed with another content, and where all versions are the same, all from another commit.
 */
function othersInstalled(
  { domain, releaseName, contentDigest, commitSha, value: { artifacts = {} } }: CandidateRow,
  last: ReadonlyMap<string, InstalledPackage>,
  installed: Packages,
): Map<string, PackageChange> {
  const changes = otherContents(installed, artifacts, (name) => last.get(name)?.commitSha ?? null, commitSha);
  const isAllOther =
    packageChanges(installed, artifacts).length === 0 && changes.length === Object.keys(artifacts).length;
  const isOther = (name: string): boolean => {
    const deployment = last.get(name);
    const isOfRelease = deployment?.domain === domain && deployment.releaseName === releaseName;
    return isAllOther || (isOfRelease && deployment.contentDigest !== contentDigest);
  };
  return new Map(changes.filter(({ name }) => isOther(name)).map((change) => [change.name, change]));
}

/** Compares a candidate with given versions of packages. Throws `not_found`. `source`: see `compareToEnvironment`. */
export async function compareToPackages(
  tx: Tx,
  source: ChangelogSource | undefined,
  candidateId: string,
  packages: Readonly<Record<string, string>>,
) {
  const found = await candidateById(tx, candidateId);
  const dependencies = await currentDependencies(tx, found.project.id);
  const comparison = comparePackages(found.candidate.value, packages, dependencies);
  return { ...found, comparison, ...(await changesInGit(tx, source, found, comparison)) };
}

/** What changes beside versions: commits and work items, as JSON, and the candidates of other domains that they link. */
async function changesInGit(
  tx: Tx,
  source: ChangelogSource | undefined,
  { candidate, project }: CandidateOfProject,
  comparison: Comparison,
  others: ReadonlyMap<string, PackageChange> = new Map(),
) {
  if (!source) return { changelog: null, linkedCandidates: null };
  const history = await source.commitGraphs(tx, project.id);
  // Versions that another candidate held first from another commit do not tell this one's.
  const commits = (await firstHolder(tx, candidate)) && { to: candidate.commitSha };
  const changes = changesOf(comparison).map(
    ({ name, versions }) => others.get(name) ?? { name, ...versions, ...(commits && { commits }) },
  );
  const parts = await resolveInOrder(tx, history, changes);
  const changelog = await changelogText(tx, history, project, parts, source);
  const added = parts.flatMap((change) => change.added ?? []);
  const ranges = await rangeFacts(tx, history, added);
  const keys = [...new Set(added.flatMap((range) => ranges.of(range).workItems))];
  return { changelog, linkedCandidates: await linkedCandidates(tx, history, candidate.domain, keys) };
}
