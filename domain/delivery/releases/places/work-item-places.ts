import type { DeploymentLog, LoggedDeployment } from '../../deployments/deployment-log-cache.ts';
import { inOrder, type PackageArrivals, packageArrivals } from '../../deployments/package-arrivals.ts';
import { commitViews } from '../../../code/git/commits.queries.ts';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import { workItemChanges } from '../../../code/git/work-item-changes.ts';
import { workItemUrl } from '../../../projects/work-items/work-item-rules.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import { newestCandidates } from '../../release-candidates/candidate-series.queries.ts';
import type { CandidateRow } from '../../release-candidates/release-candidates.queries.ts';
import { inSteps } from '../../../kernel/queues/in-steps.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { arrivalCommits, keptCommits } from './arrival-commits.ts';
import { type CountedPackageChanges, countedCommits, heldParts, type PartsIn, placesOf } from './held-parts.ts';
import { environmentLabels } from '../measures/metrics.queries.ts';
import type { PackageVersion } from '../versions/package-versions.queries.ts';
import { knownVersionCommits, versionState } from '../versions/version-commit-cache.ts';
import { releaseEnds } from '../changelogs/releasable-commits.ts';
import { arrivalOf, packagesOfDomains, shareOf } from './work-item-places-rules.ts';

/** The most commits of one work item that are listed: the newest. */
export const ITEM_COMMITS_MAX = 200;
/** The most candidates of one domain that are looked at: the newest. */
export const ITEM_CANDIDATES_MAX = 50;

const artifactsOf = ({ value }: CandidateRow): Record<string, string> => value.artifacts ?? {};

interface PackageState {
  /** By whichever domain it came. */
  ofDomains: readonly PackageArrivals[];
  /** The version that is there now; undefined: none. */
  installed: string | undefined;
}

/** What the active environments of a project have of some packages, in the order in which releases travel. */
async function environmentStates(tx: Tx, projectId: string, log: DeploymentLog, names: readonly string[]) {
  const environments = await environmentLabels(tx, projectId);
  const places = Map.groupBy(log.places, ({ environmentId }) => environmentId);
  const inEnvironment = (environmentId: string, name: string): PackageState => {
    const ofDomains = (places.get(environmentId) ?? []).map((place) => packageArrivals(place, name));
    const last = ofDomains
      .flatMap((each) => each.last ?? [])
      .toSorted(inOrder)
      .at(-1);
    return { ofDomains, installed: last?.packages[name] };
  };
  return environments
    .filter(({ isActive }) => isActive)
    .toSorted((a, b) => a.orchestrationOrder - b.orchestrationOrder || (a.name < b.name ? -1 : 1))
    .map((environment) => ({
      ...environment,
      packages: new Map(names.map((name) => [name, inEnvironment(environment.id, name)])),
    }));
}

/** Where a work item is: its commits, and for each domain that it concerns the candidates and environments that have it. */
export async function workItemPlaces(tx: Tx, history: History, log: DeploymentLog, project: ProjectFacts, key: string) {
  const { naming, changes: found, pullRequestsUpTo } = await inSteps(workItemChanges(history, key));
  const candidates = await newestCandidates(tx, project.id, { exceptDomain: null, perDomain: ITEM_CANDIDATES_MAX });
  const names = [...new Set(found.map(({ packageName }) => packageName))];
  const held = packagesByDomain(candidates);
  const states = await environmentStates(tx, project.id, log, names);
  const versions = await versionState(tx, history);
  const current = [...candidates.map(artifactsOf), ...states.map(({ packages }) => installedIn(packages))].flatMap(
    (packages) => versionsOf(packages, names),
  );
  const arrived = arrivedVersions(states, versions);
  const commitOf = await knownVersionCommits(tx, history, versions, current.concat(arrived.versions));
  const releasable = await releaseEnds(tx, project, candidates);
  const ends = [...new Set([...releasable, ...current.flatMap((version) => commitOf(version) ?? [])])];
  const isReleasable = history.graph.ancestorsOf(releasable);
  const changes: CountedPackageChanges[] = found
    .map((each) => ({ ...each, counted: ends.reduce((bits, end) => bits | each.countedUpTo(end), 0) }))
    .filter(({ counted }) => counted !== 0);
  const packagesOf = Map.groupBy(
    changes.flatMap((each) => countedCommits(each).map((commit) => ({ commit, name: each.packageName }))),
    ({ commit }) => commit,
  );
  const listed = [...new Set([...naming, ...packagesOf.keys()])].toSorted((a, b) => b - a);
  const views = await commitViews(tx, project.id, listed.slice(0, ITEM_COMMITS_MAX));
  const pullRequests = [...naming].flatMap((commit) => history.messages.mentionOf(commit)?.pullRequests ?? []);
  const partsIn = heldParts(changes, ends, views, commitOf);
  const arrivals = { partsIn, kept: arrived.kept, commitOf };
  const domains = [...packagesOfDomains(project.configuration, held)].flatMap(([domain, ofDomain]) => {
    const own = changes.filter(({ packageName }) => ofDomain.has(packageName));
    const ofOne = candidates.filter((each) => each.domain === domain);
    return own.length === 0 ? [] : [{ domain, ...domainPlaces(own, ofOne, states, arrivals) }];
  });
  const assigned = new Set(domains.flatMap((each) => each.packages));
  return {
    key,
    url: workItemUrl(key, project.configuration),
    commits: listed.slice(0, ITEM_COMMITS_MAX).flatMap((commit) => {
      const view = views.get(commit);
      const packages = (packagesOf.get(commit) ?? []).map(({ name }) => name).toSorted();
      return view ? [{ ...view, isReleasable: isReleasable(commit), packages }] : [];
    }),
    totalCommits: listed.length,
    isTruncated: listed.length > ITEM_COMMITS_MAX,
    pullRequests: [...new Set([...pullRequests, ...pullRequestsUpTo(ends)])].toSorted((a, b) => a - b),
    domains: domains.toSorted((a, b) => (a.domain < b.domain ? -1 : 1)),
    missingDomains: domains
      .filter(({ missingFromEnvironments }) => missingFromEnvironments.length > 0)
      .map(({ domain }) => domain)
      .toSorted(),
    packagesWithoutDomain: [...new Set(changes.map(({ packageName }) => packageName))]
      .filter((name) => !assigned.has(name))
      .toSorted(),
    repository: history.freshness,
  };
}

type EnvironmentState = Awaited<ReturnType<typeof environmentStates>>[number];

/** The versions of some packages among others, of those that are there. */
function versionsOf(packages: Record<string, string>, names: readonly string[]): PackageVersion[] {
  const versions: PackageVersion[] = [];
  for (const name of names) {
    const version = versionIn(packages, name);
    if (version !== undefined) versions.push({ name, version });
  }
  return versions;
}

const versionIn = (packages: Record<string, string>, name: string): string | undefined =>
  Object.hasOwn(packages, name) ? packages[name] : undefined;

const installedIn = (packages: ReadonlyMap<string, PackageState>): Record<string, string> =>
  Object.fromEntries(
    [...packages].flatMap(([name, { installed }]) => (installed === undefined ? [] : [[name, installed]])),
  );

/** Candidates of a domain, newest first, that have any of the changes; new in those that have more than the one before on their branch. */
function candidatesWith(
  candidates: readonly CandidateRow[],
  changes: readonly CountedPackageChanges[],
  partsIn: PartsIn,
) {
  const shares = candidates.map((candidate) => ({
    candidate,
    share: shareOf(partsIn(changes, (name) => versionIn(artifactsOf(candidate), name))),
  }));
  return shares.flatMap(({ candidate, share }, index) => {
    if (share.present === 0) return [];
    const before = shares.slice(index + 1).find((each) => each.candidate.branch === candidate.branch);
    const { id, releaseName, branch, status, createdAt } = candidate;
    return {
      id,
      releaseName,
      branch,
      status,
      createdAt,
      ...share,
      isNew: share.present > (before?.share.present ?? 0),
    };
  });
}

/** The packages that candidates of each domain carry. */
const packagesByDomain = (candidates: readonly CandidateRow[]): Map<string, Set<string>> =>
  new Map(
    [...Map.groupBy(candidates, ({ domain }) => domain)].map(([domain, own]) => [
      domain,
      new Set(own.flatMap((each) => Object.keys(artifactsOf(each)))),
    ]),
  );

/** The versions of packages that environments have had, and for each of their places the commits that are kept of them. */
function arrivedVersions(states: readonly EnvironmentState[], versions: Awaited<ReturnType<typeof versionState>>) {
  const kept = new Map<PackageArrivals, number[]>();
  const arrivals = states.flatMap(({ packages }) =>
    [...packages].flatMap(([name, { ofDomains }]) =>
      ofDomains.flatMap((each) => {
        const commits = keptCommits(each, versions);
        kept.set(each, commits);
        return each.arrivals.slice(commits.length).map(({ version }) => ({ name, version }));
      }),
    ),
  );
  return { kept, versions: arrivals };
}

interface Arrived {
  partsIn: PartsIn;
  kept: ReadonlyMap<PackageArrivals, number[]>;
  commitOf: Awaited<ReturnType<typeof knownVersionCommits>>;
}

/** The deployment by which each counted change came to an environment first; undefined: it did not. */
function arrivalsOf(
  packages: EnvironmentState['packages'],
  own: readonly CountedPackageChanges[],
  { kept, commitOf }: Arrived,
): (LoggedDeployment | undefined)[] {
  return own.flatMap((part) => {
    const came = new Map<number, LoggedDeployment>();
    for (const arrived of packages.get(part.packageName)?.ofDomains ?? []) {
      const commits = arrivalCommits(part.packageName, arrived, kept.get(arrived) ?? [], commitOf);
      let missing = part.counted;
      for (let at = 0; at < arrived.arrivals.length && missing !== 0; at++) {
        const end = commits[at];
        const bits = end === undefined ? 0 : part.countedUpTo(end) & missing;
        const arrival = bits === 0 ? undefined : arrived.arrivals[at];
        if (!arrival) continue;
        missing &= ~bits;
        for (const place of placesOf(bits)) {
          const other = came.get(place);
          if (!other || inOrder(arrival.deployment, other) < 0) came.set(place, arrival.deployment);
        }
      }
    }
    return placesOf(part.counted).map((place) => came.get(place));
  });
}

/** How much of a domain's changes an environment has, and since when. */
function environmentShare(
  { id, name, category, packages }: EnvironmentState,
  own: readonly CountedPackageChanges[],
  arrived: Arrived,
) {
  const arrivals = arrivalsOf(packages, own, arrived);
  const share = shareOf(arrived.partsIn(own, (packageName) => packages.get(packageName)?.installed));
  const came = arrivals.filter((arrival) => arrival !== undefined);
  const { first, last } = arrivalOf(share.presence === 'all' ? came : arrivals);
  return {
    environmentId: id,
    name,
    category,
    ...share,
    firstArrivedAt: first ? new Date(first.at).toISOString() : null,
    arrivedAt: last ? new Date(last.at).toISOString() : null,
    releaseName: last?.releaseName ?? null,
  };
}

/** Which candidates and environments have changes of a domain. */
function domainPlaces(
  own: readonly CountedPackageChanges[],
  candidates: readonly CandidateRow[],
  states: readonly EnvironmentState[],
  arrived: Arrived,
) {
  const environments = states.map((state) => environmentShare(state, own, arrived));
  return {
    packages: [...new Set(own.map(({ packageName }) => packageName))].toSorted(),
    candidates: candidatesWith(candidates, own, arrived.partsIn),
    environments,
    missingFromEnvironments: environments
      .filter(({ category, presence }) => category === 'release' && (presence === 'none' || presence === 'some'))
      .map(({ name }) => name),
  };
}
