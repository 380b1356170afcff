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
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import { type Comparison, comparePackages } from '../../release-candidates/comparison-rules.ts';
import { type CandidateRow, candidateById } from '../../release-candidates/release-candidates.queries.ts';
import { notFound } from '../../../kernel/shared/errors.ts';
import { isId } from '../../../kernel/shared/ids.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { resolveInOrder } from './resolved-changes.ts';
import { type ChangelogTexts, changelogText } from './changelog-texts.ts';
import { linkedCandidates } from './linked-candidates.ts';
import {
  candidateSide,
  candidateSideWithCommits,
  commitsBetween,
  type ComparedSide,
  environmentSide,
  othersBetween,
} from './compared-sides.ts';
import type { PackageChange } from './package-change-rules.ts';
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
  const left = await sideOf(tx, source, candidate);
  const right = environmentSide(log, environment.id);
  const compared = await compareSides(tx, source, project, { left, right, domain: candidate.domain });
  return {
    ...found,
    environment: {
      ...environment,
      policyViolations: (await runningViolations(tx, log, [environment.id]))(environment.id),
    },
    ...(await lastDeploymentOf(tx, log, candidate, environment.id)),
    ...compared,
    deployment: (await deploymentFacts(tx, [candidate], [environment.id]))(candidate.id, environment.id),
    estimatedDeploymentTime: await estimatedSeconds(tx, project.id, compared.comparison),
  };
}

/** A candidate as a side; without a `source` commits do not matter. */
export const sideOf = async (reads: Reads, source: ChangelogSource | undefined, candidate: CandidateRow) =>
  source ? candidateSideWithCommits(reads, candidate) : candidateSide(candidate);

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

/** Compares a candidate with given versions of packages. Throws `not_found`. `source`: see `compareToEnvironment`. */
export async function compareToPackages(
  tx: Tx,
  source: ChangelogSource | undefined,
  candidateId: string,
  packages: Readonly<Record<string, string>>,
) {
  const found = await candidateById(tx, candidateId);
  const left = await sideOf(tx, source, found.candidate);
  return {
    ...found,
    ...(await compareSides(tx, source, found.project, { left, packages, domain: found.candidate.domain })),
  };
}

/** How long a deployment of what differs is expected to take, in seconds; null: it is not known. */
export async function estimatedSeconds(
  reads: Reads,
  projectId: string,
  comparison: Comparison,
): Promise<number | null> {
  const changed = changesOf(comparison).map(({ name }) => name);
  return expectedSeconds(await medianSeconds(reads, projectId, changed), changed);
}

interface Sides {
  left: ComparedSide;
  right?: ComparedSide | undefined;
  /** What is there, where it is no side of its own. */
  packages?: Packages;
  /** The domain of the left side, if it has one. */
  domain: string | null;
}

/** What the left side would install or update on the right one, with its commits and work items where there is a `source`. */
export async function compareSides(
  tx: Tx,
  source: ChangelogSource | undefined,
  project: ProjectFacts,
  { left, right, packages = {}, domain }: Sides,
) {
  const others = right ? othersBetween(left, right) : new Map<string, PackageChange>();
  const dependencies = await currentDependencies(tx, project.id);
  const installed = right?.packages ?? packages;
  const comparison = comparePackages(left.definition, installed, dependencies, new Set(others.keys()));
  if (!source) return { comparison, changelog: null, linkedCandidates: null };
  const history = await source.commitGraphs(tx, project.id);
  const changes = changesOf(comparison).map(
    ({ name, versions }) => others.get(name) ?? { name, ...versions, ...commitsBetween(left, right, name) },
  );
  const parts = await resolveInOrder(tx, history, changes);
  const changelog = await changelogText(tx, history, project, parts, source);
  if (domain === null) return { comparison, changelog, linkedCandidates: null };
  const added = parts.flatMap((change) => change.added ?? []);
  const ranges = await rangeFacts(tx, history, added);
  const keys = [...new Set(added.flatMap((range) => ranges.of(range).workItems))];
  return { comparison, changelog, linkedCandidates: await linkedCandidates(tx, history, domain, keys) };
}
