import type { DeploymentLog } from '../deployments/deployment-log-cache.ts';
import { inOrder, type PackageArrivals, packageArrivals } from '../deployments/package-arrivals.ts';
import { type CommitView, commitViews } from '../git/commits.queries.ts';
import type { History } from '../git/commit-graph-cache.ts';
import { type ItemChange, workItemChanges } from '../git/work-item-changes.ts';
import { workItemUrl } from '../git/work-item-rules.ts';
import type { ProjectFacts } from '../projects/projects.queries.ts';
import { newestCandidates } from '../release-candidates/candidate-series.queries.ts';
import type { CandidateRow } from '../release-candidates/release-candidates.queries.ts';
import { inSteps } from '../shared/in-steps.ts';
import type { Tx } from '../unit-of-work.ts';
import { environmentLabels } from './metrics.queries.ts';
import type { PackageVersion } from './package-versions.queries.ts';
import { knownVersionCommits, type VersionState, versionState } from './version-commit-cache.ts';
import { releaseEnds } from './releasable-commits.ts';
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

const arrivedCommits = new WeakMap<PackageArrivals, { known: string; commits: readonly number[] }>();

/** Finds the commits of the versions that came to an environment, in order. They are kept once all are known. */
function arrivalCommits({ known }: VersionState, commitOf: (version: PackageVersion) => number | undefined) {
  const found = new Map<PackageArrivals, readonly (number | undefined)[]>();
  return (name: string, arrived: PackageArrivals): readonly (number | undefined)[] => {
    const kept = arrivedCommits.get(arrived);
    if (kept?.known === known) return kept.commits;
    const commits = found.get(arrived) ?? arrived.arrivals.map(({ version }) => commitOf({ name, version }));
    found.set(arrived, commits);
    if (commits.every((commit) => commit !== undefined)) arrivedCommits.set(arrived, { known, commits });
    return commits;
  };
}

/** Where a work item is: its commits, and for each domain that it concerns the candidates and environments that have it. */
export async function workItemPlaces(tx: Tx, history: History, log: DeploymentLog, project: ProjectFacts, key: string) {
  const { naming, changes: found, pullRequestsUpTo } = await inSteps(workItemChanges(history, key));
  const candidates = await newestCandidates(tx, project.id, { exceptDomain: null, perDomain: ITEM_CANDIDATES_MAX });
  const names = [...new Set(found.map(({ packageName }) => packageName))];
  const held = new Map(
    [...Map.groupBy(candidates, ({ domain }) => domain)].map(([domain, own]) => [
      domain,
      new Set(own.flatMap((each) => Object.keys(artifactsOf(each)))),
    ]),
  );
  const states = await environmentStates(tx, project.id, log, names);
  const versions = await versionState(tx, history);
  const isKept = (arrived: PackageArrivals) => arrivedCommits.get(arrived)?.known === versions.known;
  const commitOf = await knownVersionCommits(tx, history, versions, [
    ...candidates.flatMap((candidate) =>
      names.flatMap((name) => versionIn(artifactsOf(candidate), name).map((version) => ({ name, version }))),
    ),
    ...states.flatMap(({ packages }) =>
      [...packages].flatMap(([name, { ofDomains, installed }]) => [
        ...(installed === undefined ? [] : [{ name, version: installed }]),
        ...ofDomains.flatMap((arrived) =>
          isKept(arrived) ? [] : arrived.arrivals.map(({ version }) => ({ name, version })),
        ),
      ]),
    ),
  ]);
  const holds: Holds = (version, { packageName, isCountedUpTo }) => {
    if (version === undefined) return false;
    const end = commitOf({ name: packageName, version });
    return end === undefined ? undefined : isCountedUpTo(end);
  };
  const endsOf = (packages: Record<string, string>) =>
    names.flatMap((name) => versionIn(packages, name).flatMap((version) => commitOf({ name, version }) ?? []));
  const releasable = await releaseEnds(tx, project, candidates);
  const ends = [
    ...new Set([
      ...releasable,
      ...candidates.flatMap((candidate) => endsOf(artifactsOf(candidate))),
      ...states.flatMap(({ packages }) => endsOf(installedIn(packages))),
    ]),
  ];
  const isReleasable = history.graph.ancestorsOf(releasable);
  const changes = found.filter(({ isCountedUpTo }) => ends.some(isCountedUpTo));
  const listed = [...new Set([...naming, ...changes.map(({ commit }) => commit)])].toSorted((a, b) => b - a);
  const views = await commitViews(tx, project.id, listed.slice(0, ITEM_COMMITS_MAX));
  const pullRequests = [...naming].flatMap((commit) => history.messages.mentionOf(commit)?.pullRequests ?? []);
  const commitsOfArrivals = arrivalCommits(versions, commitOf);
  const environmentView = ({ id, name, category, packages }: EnvironmentState, own: readonly ItemChange[]) => {
    const arrivals = own.map(({ packageName, isCountedUpTo }) => {
      const came = (packages.get(packageName)?.ofDomains ?? []).flatMap((arrived) => {
        const commits = commitsOfArrivals(packageName, arrived);
        const at = commits.findIndex((end) => end !== undefined && isCountedUpTo(end));
        return arrived.arrivals[at]?.deployment ?? [];
      });
      return came.toSorted(inOrder)[0];
    });
    const { first, last } = arrivalOf(arrivals);
    const share = shareOf(own, (change) => holds(packages.get(change.packageName)?.installed, change));
    return {
      environmentId: id,
      name,
      category,
      ...share,
      firstArrivedAt: first ? new Date(first.at).toISOString() : null,
      arrivedAt: last ? new Date(last.at).toISOString() : null,
      releaseName: last?.releaseName ?? null,
    };
  };
  const domains = [...packagesOfDomains(project.configuration, held)].flatMap(([domain, ofDomain]) => {
    const own = changes.filter(({ packageName }) => ofDomain.has(packageName));
    if (own.length === 0) return [];
    const environments = states.map((state) => environmentView(state, own));
    return {
      domain,
      packages: [...new Set(own.map(({ packageName }) => packageName))].toSorted(),
      candidates: candidatesWith(
        candidates.filter((each) => each.domain === domain),
        own,
        holds,
      ),
      environments,
      missingFromEnvironments: environments
        .filter(({ category, presence }) => category === 'release' && (presence === 'none' || presence === 'some'))
        .map(({ name }) => name),
    };
  });
  const assigned = new Set(domains.flatMap((each) => each.packages));
  return {
    key,
    url: workItemUrl(key, project.configuration),
    commits: listed
      .slice(0, ITEM_COMMITS_MAX)
      .flatMap((commit) => commitView(views.get(commit), isReleasable(commit), changes)),
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

/** The version of a package among others, if it is there. */
const versionIn = (packages: Record<string, string>, name: string): string[] =>
  Object.hasOwn(packages, name) ? [packages[name] ?? ''] : [];

const installedIn = (packages: ReadonlyMap<string, PackageState>): Record<string, string> =>
  Object.fromEntries(
    [...packages].flatMap(([name, { installed }]) => (installed === undefined ? [] : [[name, installed]])),
  );

const commitView = (view: CommitView | undefined, isReleasable: boolean, changes: readonly ItemChange[]) =>
  view
    ? [
        {
          ...view,
          isReleasable,
          packages: changes
            .filter(({ commit }) => commit === view.seq)
            .map(({ packageName }) => packageName)
            .toSorted(),
        },
      ]
    : [];

type Holds = (version: string | undefined, change: ItemChange) => boolean | undefined;

/** Candidates of a domain, newest first, that have any of the changes; new in those that have more than the one before on their branch. */
function candidatesWith(candidates: readonly CandidateRow[], changes: readonly ItemChange[], holds: Holds) {
  const shares = candidates.map((candidate) => ({
    candidate,
    share: shareOf(changes, (change) => holds(versionIn(artifactsOf(candidate), change.packageName)[0], change)),
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
