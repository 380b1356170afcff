import { environmentById } from '../../../projects/environments/environments.queries.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import { notFound } from '../../../kernel/shared/errors.ts';
import type { Tx } from '../../../unit-of-work.ts';
import type { DeploymentLog, DeploymentLogCache } from '../../deployments/deployment-log-cache.ts';
import { deploymentFacts } from '../../deployments/deployment-facts.ts';
import { type CandidateRow, candidateById } from '../../release-candidates/release-candidates.queries.ts';
import { type ChangelogSource, compareSides, estimatedSeconds, sideOf } from './candidate-comparison.ts';
import { type ComparedSide, environmentSide } from './compared-sides.ts';

/** What is compared: a release candidate or an environment, by its id. */
export interface SideChoice {
  kind: 'candidate' | 'environment';
  id: string;
}

interface ChosenSide {
  side: ComparedSide;
  view: SideView;
  candidate: CandidateRow | undefined;
}

/** A side as it is shown. */
interface SideView extends SideChoice {
  /** Name of the release, or of the environment. */
  name: string;
  /** Null for an environment, as the commit is. */
  domain: string | null;
  commitSha: string | null;
}

/**
 * Compares any two of the candidates and environments of a project: what the left one would install or update on the
 * right one. Throws `not_found`.
 * @param source for the commits and work items of the changes; undefined leaves them out.
 */
export async function compareAnySides(
  tx: Tx,
  source: ChangelogSource | undefined,
  deploymentLogs: DeploymentLogCache,
  project: ProjectFacts,
  choices: { left: SideChoice; right: SideChoice },
) {
  const log = await deploymentLogs(tx, project.id);
  const left = await chosenSide(tx, source, log, project, choices.left);
  const right = await chosenSide(tx, source, log, project, choices.right);
  const compared = await compareSides(tx, source, project, {
    left: left.side,
    right: right.side,
    domain: left.view.domain,
  });
  const names = Object.keys(right.side.packages).filter((name) => !Object.hasOwn(left.side.packages, name));
  return {
    repositoryIdentifier: project.identifier,
    left: left.view,
    right: right.view,
    ...compared,
    onlyRight: names.toSorted().map((name) => ({ name, version: right.side.packages[name] ?? '' })),
    deployment: await deploymentOf(tx, left, right),
    estimatedDeploymentTime:
      right.view.kind === 'environment' ? await estimatedSeconds(tx, project.id, compared.comparison) : null,
  };
}

/** Whether a candidate is deployed to an environment; null: the sides are others. */
async function deploymentOf(tx: Tx, { candidate }: ChosenSide, { view: { kind, id } }: ChosenSide) {
  if (!candidate || kind !== 'environment') return null;
  return (await deploymentFacts(tx, [candidate], [id]))(candidate.id, id);
}

async function chosenSide(
  tx: Tx,
  source: ChangelogSource | undefined,
  log: DeploymentLog,
  project: ProjectFacts,
  choice: SideChoice,
): Promise<ChosenSide> {
  if (choice.kind === 'candidate') {
    const { candidate } = await candidateById(tx, choice.id);
    if (candidate.projectId !== project.id) throw notFound('The release candidate');
    const { releaseName: name, domain, commitSha } = candidate;
    return { side: await sideOf(tx, source, candidate), view: { ...choice, name, domain, commitSha }, candidate };
  }
  const { environment } = await environmentById(tx, choice.id);
  if (environment.projectId !== project.id) throw notFound('The environment');
  const view = { ...choice, name: environment.name, domain: null, commitSha: null };
  return { side: environmentSide(log, environment.id), view, candidate: undefined };
}
