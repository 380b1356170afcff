import { type CommitView, commitNumbers, commitViews } from '../../../code/git/commits.queries.ts';
import { attributionOf, type History } from '../../../code/git/graph/commit-graph-cache.ts';
import type { MirrorFreshness } from '../../../code/git/mirror/mirror.queries.ts';
import { mentionsOf } from '../../../code/git/attribution-rules.ts';
import { tagCommits } from '../../../code/git/mirror/refs.queries.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import { previousCandidate } from '../../release-candidates/candidate-series.queries.ts';
import type { CandidateRow } from '../../release-candidates/release-candidates.queries.ts';
import { momentOf } from '../../../kernel/text/date-time-rules.ts';
import { invalidField } from '../../../kernel/shared/errors.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { type ChangelogSide, sideView, type WorkItemView, workItemViews } from './change-sides.ts';
import { type MissingChangelog, unknownPackages, whyCommitIsUnknown } from './missing-changelog-rules.ts';

/** From where the changes of a candidate count. */
type Since = { kind: 'beginning' | 'unknown' } | { kind: 'commit'; commit: number } | { kind: 'date'; date: number };

export interface CandidateLog {
  packages: { packageName: string; path: string; totalCommits: number; totalWorkItems: number; workItems: string[] }[];
  workItems: WorkItemView[];
  /** Newest first, at most `LISTED_MAX`. */
  commits: (CommitView & { packages: string[] })[];
  totalCommits: number;
  isTruncated: boolean;
  /** The same commits, and those that the candidate lost since a commit: what `git log commit..since` lists. */
  added: ChangelogSide;
  removed: ChangelogSide;
  /** The id of the commit, or the date, from which changes count; null: from the beginning. */
  since: string | null;
  /** What is missing of the changelogs of all changes, or of those of some packages where these are unknown. */
  missingChangelog: MissingChangelog | null;
  repository: MirrorFreshness;
}

const LISTED_MAX = 1_000;
const NOTHING = { workItems: [], pullRequests: [] };

interface PackagesOfDomain {
  /** By name. */
  known: string[];
  /** Names that the repository does not have. */
  unknown: string[];
}

/**
 * The packages of a candidate's domain: those that the project lists for it, else those that the candidate holds, else
 * all that the project lists for no other domain.
 */
function packagesOf(
  { configuration: { domains = [] } }: ProjectFacts,
  { domain, value }: CandidateRow,
  history: History,
): PackagesOfDomain {
  const listed = new Map(
    domains.flatMap((each) =>
      typeof each === 'string' || !each.packages ? [] : [[each.name, each.packages] as const],
    ),
  );
  const parted = (names: Iterable<string>): PackagesOfDomain => {
    const { known = [], unknown = [] } = Object.groupBy([...new Set(names)].toSorted(), (name) =>
      history.packages.has(name) ? 'known' : 'unknown',
    );
    return { known, unknown };
  };
  const configured = listed.get(domain);
  if (configured) return parted(configured);
  const held = parted(Object.keys(value.artifacts ?? {}));
  const ofOthers = new Set([...listed.values()].flat());
  return held.known.length > 0 ? held : parted([...history.packages.keys()].filter((name) => !ofOthers.has(name)));
}

const DATE = /^\d{4}-\d\d-\d\d(T|$)/;
const SHA = /^[0-9a-f]{7,64}$/i;

/** A commit, a date or a tag. Throws `invalid_request` for what is none. */
async function sinceOf(
  tx: Tx,
  history: History,
  project: ProjectFacts,
  candidate: CandidateRow,
  text: string | undefined,
): Promise<Since> {
  if (text === undefined) {
    const previous = await previousCandidate(tx, project.id, project.defaultBranch, candidate);
    if (!previous) return { kind: 'beginning' };
    const commit = history.graph.known(
      (await commitNumbers(tx, project.id, [previous.commitSha])).get(previous.commitSha),
    );
    return commit === undefined ? { kind: 'unknown' } : { kind: 'commit', commit };
  }
  const moment = momentOf(text);
  if (moment !== undefined) return { kind: 'date', date: Math.floor(moment / 1_000) };
  const tagged = (await tagCommits(tx, project.id, [text])).get(text);
  const named = tagged ?? (SHA.test(text) ? (await commitNumbers(tx, project.id, [text])).get(text) : undefined);
  const commit = history.graph.known(named);
  if (named === undefined && (history.graph.size > 0 || DATE.test(text)))
    throw invalidField('since', `${text} is no date, and no known commit or tag of the repository`);
  return commit === undefined ? { kind: 'unknown' } : { kind: 'commit', commit };
}

/**
 * The commits of a candidate that touch packages of its domain: those which `git log since..commit -- <their paths>`
 * lists; of a repository without known packages, all. A date is compared with the dates of the commits.
 */
export async function candidateLog(
  tx: Tx,
  history: History,
  project: ProjectFacts,
  candidate: CandidateRow,
  text: string | undefined,
): Promise<CandidateLog> {
  const since = await sinceOf(tx, history, project, candidate, text);
  const to = history.graph.known((await commitNumbers(tx, project.id, [candidate.commitSha])).get(candidate.commitSha));
  const { known: names, unknown } = packagesOf(project, candidate, history);
  const numberOf = (name: string) => history.packages.get(name)?.packageNo ?? -1;
  const selection = names.length === 0 && history.packages.size === 0 ? 'everything' : names.map(numberOf);
  const missing = missingOf(candidate, since, to, history);
  const log = (packages: typeof selection): number[] => {
    if (to === undefined || missing !== null) return [];
    const commits = history.graph.log(packages, since.kind === 'commit' ? since.commit : null, to);
    return since.kind === 'date' ? commits.filter((commit) => history.graph.dateOf(commit) >= since.date) : commits;
  };
  const commits = log(selection);
  const from = since.kind === 'commit' ? since.commit : null;
  const isKnown = missing === null && to !== undefined;
  const removed = isKnown && from !== null ? history.graph.log(selection, to, from) : [];
  const byPackage = names.map((name) => ({ name, commits: log([numberOf(name)]) }));
  const addedFor = to === undefined ? () => NOTHING : attributionOf(history, from, to);
  const removedFor = isKnown && from !== null ? attributionOf(history, to, from) : () => NOTHING;
  const views = await commitViews(tx, project.id, [
    ...commits.slice(0, LISTED_MAX),
    ...removed.slice(0, LISTED_MAX),
    ...(from === null ? [] : [from]),
  ]);
  const packagesByCommit = new Map<number, string[]>();
  for (const each of byPackage)
    for (const commit of each.commits)
      packagesByCommit.set(commit, [...(packagesByCommit.get(commit) ?? []), each.name]);
  const added = sideView({ commits, ...mentionsOf(commits, addedFor) }, views, LISTED_MAX);
  return {
    packages: byPackage.map(({ name, commits: own }) => {
      const { workItems } = mentionsOf(own, addedFor);
      const { path = '' } = history.packages.get(name) ?? {};
      return { packageName: name, path, totalCommits: own.length, totalWorkItems: workItems.length, workItems };
    }),
    workItems: workItemViews([{ commits, attribution: addedFor }], views, project),
    commits: added.commits.map((commit) => ({ ...commit, packages: packagesByCommit.get(commit.seq) ?? [] })),
    totalCommits: commits.length,
    isTruncated: added.isTruncated,
    added,
    removed: sideView({ commits: removed, ...mentionsOf(removed, removedFor) }, views, LISTED_MAX),
    since:
      since.kind === 'commit'
        ? (views.get(since.commit)?.sha ?? null)
        : since.kind === 'date'
          ? new Date(since.date * 1_000).toISOString()
          : null,
    missingChangelog:
      missing ?? (unknown.length > 0 && history.packages.size > 0 ? unknownPackages(unknown, history) : null),
    repository: history.freshness,
  };
}

function missingOf(
  { commitSha }: CandidateRow,
  since: Since,
  to: number | undefined,
  history: History,
): MissingChangelog | null {
  if (to === undefined) return whyCommitIsUnknown(`The commit ${commitSha}`, history);
  return since.kind === 'unknown' ? whyCommitIsUnknown('The commit from which changes count', history) : null;
}
