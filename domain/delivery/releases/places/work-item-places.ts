import type { DeploymentLog } from '../../deployments/deployment-log-cache.ts';
import { commitViews } from '../../../code/git/commits.queries.ts';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import { workItemChanges } from '../../../code/git/work-item-changes.ts';
import { workItemUrl } from '../../../projects/work-items/work-item-rules.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import { newestCandidates } from '../../release-candidates/candidate-series.queries.ts';
import type { CandidateRow } from '../../release-candidates/release-candidates.queries.ts';
import { inSteps } from '../../../kernel/queues/in-steps.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { type CountedPackageChanges, countedCommits, heldParts } from './held-parts.ts';
import type { PackageVersion } from '../versions/package-versions.queries.ts';
import { knownVersionCommits, versionState } from '../versions/version-commit-cache.ts';
import { releaseEnds } from '../changelogs/releasable-commits.ts';
import { packagesOfDomains } from './work-item-places-rules.ts';
import {
  artifactsOf,
  type PackageState,
  environmentStates,
  versionIn,
  arrivedVersions,
  domainPlaces,
} from './domain-places.ts';

/** The most commits of one work item that are listed: the newest. */
export const ITEM_COMMITS_MAX = 200;
/** The most candidates of one domain that are looked at: the newest. */
export const ITEM_CANDIDATES_MAX = 50;

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

/** The versions of some packages among others, of those that are there. */
function versionsOf(packages: Record<string, string>, names: readonly string[]): PackageVersion[] {
  const versions: PackageVersion[] = [];
  for (const name of names) {
    const version = versionIn(packages, name);
    if (version !== undefined) versions.push({ name, version });
  }
  return versions;
}

const installedIn = (packages: ReadonlyMap<string, PackageState>): Record<string, string> =>
  Object.fromEntries(
    [...packages].flatMap(([name, { installed }]) => (installed === undefined ? [] : [[name, installed]])),
  );

/** The packages that candidates of each domain carry. */
const packagesByDomain = (candidates: readonly CandidateRow[]): Map<string, Set<string>> =>
  new Map(
    [...Map.groupBy(candidates, ({ domain }) => domain)].map(([domain, own]) => [
      domain,
      new Set(own.flatMap((each) => Object.keys(artifactsOf(each)))),
    ]),
  );
