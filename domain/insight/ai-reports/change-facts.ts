import { commitViews } from '../../code/git/commits.queries.ts';
import type { History } from '../../code/git/graph/commit-graph-cache.ts';
import { attributions, rangeFacts } from '../../code/git/graph/range-facts.ts';
import { mentionsOf } from '../../code/git/attribution-rules.ts';
import type { RangeFacts } from '../../code/git/graph/range-cache.ts';
import { versionCommits } from '../../delivery/releases/versions/package-versions.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import { counted, dayOf, fact, FACTS_MAX, type Fact, type FactGroup, someOf } from './fact-rules.ts';
import type { ReportSubject } from './report-subject.ts';

const WHOLE = 'the repository';

/** Commits of a package, or of the whole repository, since the last release. */
interface Changed extends RangeFacts {
  name: string;
  /** Since what; null: since the beginning. */
  since: string | null;
}

/** What changed up to a commit since the last release of each package: by package, by work item, and by commit. */
export async function changeGroups(
  tx: Tx,
  history: History,
  subject: ReportSubject,
  tip: number,
): Promise<{ packages: FactGroup; workItems: FactGroup; commits: FactGroup }> {
  const { changes, unknown } =
    history.packages.size === 0 && subject.domains === undefined
      ? await wholeRepository(tx, history, subject, tip)
      : await byPackage(tx, history, subject, tip);
  const inPackages = new Map<number, string[]>();
  const ofItems = new Map<string, string[]>();
  for (const { name, commits, workItems } of changes) {
    for (const commit of commits) inPackages.set(commit, [...(inPackages.get(commit) ?? []), name]);
    for (const key of workItems) ofItems.set(key, [...(ofItems.get(key) ?? []), name]);
  }
  const newest = [...inPackages.keys()].toSorted((a, b) => b - a);
  const views = await commitViews(tx, history.projectId, newest.slice(0, FACTS_MAX));
  const commitFacts = newest.flatMap((commit) => {
    const view = views.get(commit);
    if (!view) return [];
    const place = someOf(inPackages.get(commit) ?? [], 4);
    return fact('git', `Commit ${view.sha.slice(0, 10)} of ${dayOf(view.committedAt)} in ${place}: ${view.message}`);
  });
  const itemFacts = [...ofItems]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, names]) =>
      fact('work items', `Work item ${key} has changes in ${someOf(names)} since the last release`),
    );
  return {
    packages: { facts: [...changes.toSorted(byCommits).map(changedFact), ...unknown], share: 60 },
    workItems: { facts: itemFacts, share: 50 },
    commits: { facts: commitFacts, total: newest.length, share: 80 },
  };
}

const byCommits = (a: Changed, b: Changed): number => b.commits.length - a.commits.length;

function changedFact({ name, since, commits, workItems, pullRequests }: Changed): Fact {
  const what = name === WHOLE ? 'The repository' : `Package ${name}`;
  const numbers = `${counted(commits.length, 'commit')}, ${counted(workItems.length, 'work item')} and ${counted(pullRequests.length, 'pull request')}`;
  return fact('git', `${what} has ${numbers} ${since === null ? 'and was never released' : `since ${since}`}`);
}

interface FoundChanges {
  changes: Changed[];
  /** What is not known, and why. */
  unknown: Fact[];
}

async function byPackage(tx: Tx, history: History, subject: ReportSubject, tip: number): Promise<FoundChanges> {
  const versions = await versionCommits(tx, history, [...subject.released.values()]);
  const unknown: Fact[] = [];
  const wanted = subject.packages.flatMap((name) => {
    const known = history.packages.get(name);
    if (!known) {
      unknown.push(fact('git', `Package ${name} is not among those that the repository lists`));
      return [];
    }
    const released = subject.released.get(name);
    const from = released ? versions.of(released) : null;
    if (released && from === undefined) {
      unknown.push(
        fact(
          'git',
          `Changes of package ${name} are not known: no commit of its released version ${released.version} is`,
        ),
      );
      return [];
    }
    const since = released ? `version ${released.version} of release ${released.releaseName}` : null;
    return { name, since, range: { packageNo: known.packageNo, from: from ?? null, to: tip } };
  });
  const ranges = await rangeFacts(
    tx,
    history,
    wanted.map(({ range }) => range),
  );
  return { changes: wanted.map(({ name, since, range }) => ({ name, since, ...ranges.of(range) })), unknown };
}

/** What changed in a repository that lists no packages: all commits since the newest version that was released. */
async function wholeRepository(tx: Tx, history: History, subject: ReportSubject, tip: number): Promise<FoundChanges> {
  const newest = [...subject.released.values()].toSorted((a, b) => (a.at < b.at ? 1 : -1));
  const versions = await versionCommits(tx, history, newest);
  const last = newest.find((released) => versions.of(released) !== undefined);
  const from = last ? (versions.of(last) ?? null) : null;
  const commits = history.graph.log('everything', from, tip);
  const since = last ? `version ${last.version} of release ${last.releaseName}` : null;
  const mentions = mentionsOf(commits, attributions(history)({ from, to: tip }));
  return { changes: [{ name: WHOLE, since, commits, ...mentions }], unknown: [] };
}
