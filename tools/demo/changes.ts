import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoClient } from './client.ts';
import type { DemoPackage } from './manifest-rules.ts';
import { type DemoRepository, gitIfAny, listed } from './repository.ts';
import type { Versions } from './versions.ts';

type Say = (text: string) => void;

/** A candidate that the demo made. */
export interface DemoCandidate {
  id: string;
  releaseName: string;
  commitSha: string;
  artifacts: Versions;
}

/** The project that the demo made. */
export interface DemoProject {
  repositoryIdentifier: string;
  domain: string;
  repository: DemoRepository;
}

interface Side {
  commits: { sha: string; message: string }[];
  totalCommits: number;
}
interface PackageEntry {
  packageName: string;
  direction: string;
  fromVersion: string | null;
  toVersion: string | null;
  added: Side;
  removed: Side;
  missingChangelog: { reason: string; message: string } | null;
}
interface SideSummary {
  totalCommits: number;
  totalWorkItems: number;
  totalPullRequests: number;
}
interface Summary {
  added: SideSummary;
  removed: SideSummary;
}
interface Mirror {
  fetchedAt: string | null;
  error: string | null;
  failures: number;
  commits: number;
}
interface Analysis {
  baseline: { releaseName: string; isDefaultBaseline: boolean };
  candidates: {
    releaseName: string;
    incrementalChanges: { summary: Totals };
    cumulativeChanges: { summary: Totals };
  }[];
}
interface Totals extends Summary {
  totalPackageChanges: number;
}

const FETCH_MS = 600_000;
const SAID_EVERY_MS = 10_000;
const SHOWN = 3;
const NOTES_LINES = 12;

/** Waits for the repository's first fetch; says why when there is none. */
export async function waitForHistory(api: DemoClient, repositoryIdentifier: string, say: Say): Promise<boolean> {
  const deadline = Date.now() + FETCH_MS;
  let saidAt = Date.now();
  for (;;) {
    const mirror = (await api.get(
      `/api/projects/${encodeURIComponent(repositoryIdentifier)}/mirror`,
    )) as unknown as Mirror;
    if (mirror.fetchedAt !== null) {
      say(`history fetched: ${mirror.commits} commits of all branches and tags are known`);
      return true;
    }
    if (mirror.failures > 0 || Date.now() > deadline) {
      say(`no changelogs, as the repository could not be fetched: ${mirror.error ?? 'not in time'}`);
      return false;
    }
    if (Date.now() - saidAt > SAID_EVERY_MS) {
      say(`fetching the history: ${mirror.commits} commits so far`);
      saidAt = Date.now();
    }
    await sleep(100);
  }
}

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const oneLine = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ').slice(0, 70);
const totals = ({ totalPackageChanges, added, removed }: Totals): string =>
  `${counted(totalPackageChanges, 'package')}, ${counted(added.totalCommits, 'commit')}, ${counted(added.totalWorkItems, 'work item')}${removed.totalCommits > 0 ? `, ${removed.totalCommits} no longer included` : ''}`;

/** The commit of each package version: that of its tag, else of the first candidate that held it. */
async function commitsOfVersions({ path }: DemoRepository, candidates: readonly DemoCandidate[]) {
  const commits = new Map<string, string>();
  for (const { artifacts, commitSha } of candidates)
    for (const [name, version] of Object.entries(artifacts)) {
      if (commits.has(`${name} ${version}`)) continue;
      const [tagged] = await gitIfAny(
        path,
        'for-each-ref',
        '--format=%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)',
        ...new Set([version.replaceAll(/[-+]/g, '.'), version].map((each) => `refs/tags/${name}_v${each}`)),
      );
      commits.set(`${name} ${version}`, tagged ?? commitSha);
    }
  return (name: string, version: string | null) => commits.get(`${name} ${version}`);
}

/** How many changelogs there are, how many list what git does, and which could not be held against git. */
export interface Tally {
  changelogs: number;
  equal: number;
  different: string[];
  /** Changelogs by why git could not be asked for the same. */
  notHeld: Map<string, string[]>;
}

/**
 * The changelog from some packages to those of a candidate, each side of each package held against `git log`.
 * @param candidates of which the versions are, oldest first.
 */
async function heldAgainstGit(
  api: DemoClient,
  { repository }: DemoProject,
  candidates: readonly DemoCandidate[],
  { from, to }: { from: DemoCandidate; to: DemoCandidate },
  tally: Tally,
) {
  const compared = await api.post(`/api/release-candidates/${to.id}/compare-to-packages?includeChangelog=true`, {
    packages: from.artifacts,
    baseLabel: from.releaseName,
  });
  const { packages, summary } = compared.changelog as { packages: PackageEntry[]; summary: Summary };
  const commitOf = await commitsOfVersions(repository, candidates);
  const folders = new Map(repository.packages.map((each) => [each.name, each]));
  for (const { packageName, fromVersion, toVersion, added, removed, missingChangelog } of packages) {
    const folder = folders.get(packageName);
    const [begin, end] = [commitOf(packageName, fromVersion), commitOf(packageName, toVersion)];
    tally.changelogs++;
    const what = `${packageName} from ${from.releaseName} to ${to.releaseName}`;
    if (!folder || begin === undefined || end === undefined || missingChangelog !== null) {
      const why = missingChangelog?.reason ?? whyNotHeld(fromVersion, toVersion);
      tally.notHeld.set(why, [...(tally.notHeld.get(why) ?? []), what]);
      continue;
    }
    const isEqual =
      (await isSame(repository, folder, [begin, end], added)) &&
      (await isSame(repository, folder, [end, begin], removed));
    if (isEqual) tally.equal++;
    else tally.different.push(what);
  }
  return { packages, summary };
}

function whyNotHeld(fromVersion: string | null, toVersion: string | null): string {
  if (fromVersion === null) return 'the package is new';
  return toVersion === null ? 'the package is gone' : 'folder or commit unknown to the demo';
}

/** Whether one side of a changelog is what `git log` lists; of long ones the newest commits are listed, and all counted. */
async function isSame(
  { path }: DemoRepository,
  folder: DemoPackage,
  [from, to]: [string, string],
  { commits, totalCommits }: Side,
): Promise<boolean> {
  const own = await listed(path, folder, from, to);
  const shown = commits.map(({ sha }) => sha);
  return own.length === totalCommits && shown.join() === own.slice(0, shown.length).join();
}

const sideTotals = ({ totalCommits, totalWorkItems, totalPullRequests }: SideSummary): string =>
  [
    counted(totalCommits, 'commit'),
    counted(totalWorkItems, 'work item'),
    counted(totalPullRequests, 'pull request'),
  ].join(', ');

const sides = ({ added, removed }: Pick<PackageEntry, 'added' | 'removed'>): string =>
  `${counted(added.totalCommits, 'commit')}${removed.totalCommits > 0 ? `, and ${removed.totalCommits} no longer included` : ''}`;

function sayPackages(packages: readonly PackageEntry[], say: Say): void {
  for (const { packageName, direction, fromVersion, toVersion, added, removed, missingChangelog } of packages) {
    const change = `  ${packageName} ${fromVersion ?? 'new'} -> ${toVersion ?? 'gone'}`;
    say(`${change} (${direction}): ${missingChangelog?.message ?? sides({ added, removed })}`);
    for (const [sign, { commits, totalCommits }] of [
      ['+', added],
      ['-', removed],
    ] as const) {
      for (const { sha, message } of commits.slice(0, SHOWN)) say(`    ${sign} ${sha.slice(0, 8)} ${oneLine(message)}`);
      if (totalCommits > SHOWN) say(`    ${sign} and ${totalCommits - SHOWN} more`);
    }
  }
}

/** Holds the changelogs between all candidates and those before them against git, and shows the newest one. */
export async function showChangelogs(
  api: DemoClient,
  project: DemoProject,
  candidates: readonly DemoCandidate[],
  tally: Tally,
  say: Say,
): Promise<void> {
  for (const [index, to] of candidates.entries()) {
    const from = candidates[index - 1];
    if (!from) continue;
    const { packages, summary } = await heldAgainstGit(api, project, candidates, { from, to }, tally);
    const lost = summary.removed.totalCommits > 0 ? `; no longer included: ${sideTotals(summary.removed)}` : '';
    say(
      `changelog from ${from.releaseName} to ${to.releaseName}: ${counted(packages.length, 'package')}, ${sideTotals(summary.added)}${lost}`,
    );
    if (to === candidates.at(-1)) sayPackages(packages, say);
  }
}

/** Shows what a candidate has and lacks against another one. */
export async function showDifference(
  api: DemoClient,
  project: DemoProject,
  candidates: readonly DemoCandidate[],
  ends: { from: DemoCandidate; to: DemoCandidate },
  tally: Tally,
  say: Say,
): Promise<void> {
  const { packages } = await heldAgainstGit(api, project, candidates, ends, tally);
  say(`what ${ends.to.releaseName} has and lacks against ${ends.from.releaseName}:`);
  sayPackages(packages, say);
}

export function sayTally({ changelogs, equal, different, notHeld }: Tally, say: Say): void {
  say(`${equal} of ${changelogs} changelogs of packages list exactly the commits that git log lists`);
  for (const each of different) say(`  other than git log: ${each}`);
  for (const [why, which] of notHeld) {
    const more = which.length > SHOWN ? ` and ${which.length - SHOWN} more` : '';
    say(`  ${which.length} not held against git log, ${why}: ${which.slice(0, SHOWN).join(', ')}${more}`);
  }
}

/** Shows the release notes of a candidate. */
export async function showNotes(
  api: DemoClient,
  { repositoryIdentifier }: DemoProject,
  releaseName: string,
  say: Say,
): Promise<void> {
  const notes = await api.text(
    `/api/releases/${encodeURIComponent(releaseName)}/notes?${new URLSearchParams({ repositoryIdentifier, format: 'md' })}`,
  );
  const lines = notes.split('\n').filter(Boolean);
  say(`release notes of ${releaseName}, ${lines.length} lines:`);
  for (const line of lines.slice(0, NOTES_LINES)) say(`  | ${line.slice(0, 110)}`);
}

/** Shows the rolling analysis of a domain. */
export async function showAnalysis(
  api: DemoClient,
  { repositoryIdentifier, domain }: DemoProject,
  say: Say,
): Promise<void> {
  const path = `/api/release-candidates/rolling-analysis/${encodeURIComponent(repositoryIdentifier)}/${domain}`;
  const askedAt = performance.now();
  const { baseline, candidates: analysed } = (await api.get(path)) as unknown as Analysis;
  say(
    `rolling analysis against ${baseline.releaseName}${baseline.isDefaultBaseline ? ', the oldest,' : ', which is deployed everywhere,'} in ${(performance.now() - askedAt).toFixed(0)} ms`,
  );
  for (const { releaseName, incrementalChanges, cumulativeChanges } of analysed) {
    say(
      `  ${releaseName}: ${totals(incrementalChanges.summary)} since the candidate before; ${totals(cumulativeChanges.summary)} since the baseline`,
    );
  }
}
