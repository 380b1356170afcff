import type { DeploymentLog } from '../../deployments/deployment-log-cache.ts';
import { arrivalOf, runningNow } from '../../deployments/installed-series-rules.ts';
import type { Packages } from '../../deployments/report-rules.ts';
import { listEnvironments, unknownEnvironment } from '../../../projects/environments/environments.queries.ts';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import { candidatesNamed } from '../../release-candidates/candidate-series.queries.ts';
import { isSuccess, requiredEnvironments } from '../../release-candidates/finalization-rules.ts';
import { notFound } from '../../../kernel/shared/errors.ts';
import { matchesPattern } from '../../../kernel/text/pattern-rules.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { changelogOf } from './changelog.ts';
import { resolveInOrder } from './resolved-changes.ts';
import { packageChanges } from './package-change-rules.ts';
import {
  type Arrival,
  type BasePlace,
  type Content,
  contentOf,
  joinedSteps,
  packagesAfterArrival,
  placesOf,
  type ReleaseStep,
  stepOfArrival,
  stepToCome,
} from './release-bases.ts';

export interface NotesQuery {
  releaseName: string;
  domain?: string | undefined;
  /** The environment whose deployment the notes are about; those that the release went to when absent. */
  environmentName?: string | undefined;
  /** The release against which it is held; what ran before it when absent. */
  fromReleaseName?: string | undefined;
}

type Environment = Awaited<ReturnType<typeof listEnvironments>>[number];

/** A domain in one environment, with how a release came there. */
interface Place extends BasePlace {
  environment: Environment;
  arrival: Arrival | undefined;
}

/** A release of one domain: what it consists of, and where it came to. */
interface NamedRelease {
  domain: string;
  /** Content of its candidate, else what was deployed to the first environment. */
  content: Content;
  /** The line that it belongs to; undefined: its candidate was removed. */
  branch: string | undefined;
  /** All environments, in the order in which releases travel. */
  places: Place[];
}

/** Releases of a name, deployed or not yet, by domain. */
async function releasesNamed(
  tx: Tx,
  log: DeploymentLog,
  project: ProjectFacts,
  environments: readonly Environment[],
  { releaseName, domain }: Pick<NotesQuery, 'releaseName' | 'domain'>,
): Promise<NamedRelease[]> {
  const candidates = await candidatesNamed(tx, project.id, { releaseName, domain });
  const deployed = log.places.filter(({ series }) => arrivalOf(series, releaseName));
  const names = [...candidates, ...deployed].map((each) => each.domain);
  const placeOf = placesOf(log);
  return [...new Set(names)]
    .filter((name) => domain === undefined || name === domain)
    .toSorted()
    .map((name) => {
      const candidate = candidates.find((each) => each.domain === name);
      const places = environments.map((environment): Place => {
        const place = placeOf(environment.id, name);
        return { ...place, environment, arrival: place.place && arrivalOf(place.place.series, releaseName) };
      });
      const [arrival] = places.flatMap((place) => place.arrival ?? []);
      return {
        domain: name,
        content: candidate
          ? { packages: candidate.value.artifacts ?? {}, commitSha: candidate.commitSha }
          : arrival
            ? contentOf(arrival)
            : { packages: {}, commitSha: null },
        branch: candidate && (candidate.branch ?? project.defaultBranch),
        places,
      };
    });
}

/**
 * The environments that the notes of a release are about: the one that is asked for, else those that it came to. A release
 * that came to none: those of its line that run something of its domain, or all of its line.
 */
function placesInNotes({ places, branch }: NamedRelease, environmentName: string | undefined): Place[] {
  if (environmentName !== undefined) return places.filter(({ environment }) => environment.name === environmentName);
  const reached = places.filter(({ arrival }) => arrival);
  if (reached.length > 0 || branch === undefined) return reached;
  const required = new Set(
    requiredEnvironments(
      places.map(({ environment }) => environment),
      branch,
    ),
  );
  const ofLine = places.filter(({ environment }) =>
    required.size > 0 ? required.has(environment) : environment.isActive && matchesPattern(environment.branch, branch),
  );
  const inUse = ofLine.filter(({ place }) => place && runningNow(place.series));
  return inUse.length > 0 ? inUse : ofLine;
}

/** How a release came to an environment; nothing where it did not yet. */
function deploymentIn({ arrival, environment, place }: Place, releaseName: string) {
  const first = arrival?.deployments.find(({ status }) => isSuccess(status));
  if (!first) return [];
  const own = (place?.deployments ?? []).filter((each) => each.releaseName === releaseName && isSuccess(each.status));
  return [
    {
      environment: environment.name,
      deployedAt: new Date(first.at).toISOString(),
      isRolledBack: own.every(({ rolledBackAt }) => rolledBackAt !== null),
    },
  ];
}

/** A release held against another one: as that came to the same environment, else to any, else as its candidate is. */
function stepFrom(base: NamedRelease | undefined, baseName: string, place: Place, after: Packages): ReleaseStep {
  const arrival =
    base?.places.find(({ environmentId }) => environmentId === place.environmentId)?.arrival ??
    base?.places.find((each) => each.arrival)?.arrival;
  const before = arrival ? packagesAfterArrival(arrival) : (base?.content.packages ?? {});
  return { baseName: base ? baseName : null, changes: packageChanges(before, after) };
}

/**
 * What is new in a release, by domain and environment: against what the environment ran before the release came to it, or
 * where it did not come yet, against what runs there. Environments in which the same is new share a part. Throws
 * `not_found`.
 */
export async function releaseNotes(
  tx: Tx,
  history: History,
  log: DeploymentLog,
  project: ProjectFacts,
  { releaseName, domain, environmentName, fromReleaseName }: NotesQuery,
) {
  const environments = await listEnvironments(tx, project.id);
  if (environmentName !== undefined && !environments.some(({ name }) => name === environmentName))
    throw await unknownEnvironment(tx, project.id, environmentName);
  const named = (name: string) => releasesNamed(tx, log, project, environments, { releaseName: name, domain });
  const releases = await named(releaseName);
  if (releases.length === 0) throw notFound(`The release ${releaseName}`);
  const bases = fromReleaseName === undefined ? undefined : await named(fromReleaseName);
  if (bases?.length === 0) throw notFound(`The release ${fromReleaseName}`);
  const domains = [];
  for (const release of releases) {
    const base = bases?.find((each) => each.domain === release.domain);
    const steps = placesInNotes(release, environmentName).map((place) => {
      const after = place.arrival ? contentOf(place.arrival) : release.content;
      const step =
        fromReleaseName !== undefined
          ? stepFrom(base, fromReleaseName, place, after.packages)
          : place.arrival
            ? stepOfArrival(log, place, place.arrival)
            : stepToCome(log, place, releaseName, after);
      return { ...step, places: [place] };
    });
    for (const { baseName, changes, places } of joined(steps, release)) {
      const { repository: _, ...changelog } = await changelogOf(
        tx,
        history,
        project,
        await resolveInOrder(tx, history, changes),
      );
      domains.push({
        domain: release.domain,
        previousReleaseName: baseName,
        bases: places.map(({ environment: { id, name } }) => ({
          environment: name,
          environmentId: id,
          releaseName: baseName,
        })),
        deployments: places.flatMap((place) => deploymentIn(place, releaseName)),
        ...changelog,
      });
    }
  }
  return { repositoryIdentifier: project.identifier, releaseName, domains, repository: history.freshness };
}

type Part = ReleaseStep & { places: Place[] };

/** Steps that are alike as one; of a release that goes nowhere, one that holds it against nothing. */
function joined(steps: readonly Part[], { content }: NamedRelease): Part[] {
  if (steps.length === 0) return [{ baseName: null, changes: packageChanges({}, content.packages), places: [] }];
  return joinedSteps(steps);
}
