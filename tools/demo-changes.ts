import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoClient } from './demo-client.ts';

/** A candidate that the demo made. */
export interface DemoCandidate {
  id: string;
  releaseName: string;
  commitSha: string;
  artifacts: Record<string, string>;
}

interface PackageEntry {
  packageName: string;
  fromVersion: string | null;
  toVersion: string | null;
  totalCommits: number;
  totalWorkItems: number;
  isTruncated: boolean;
  commits: { sha: string; message: string }[];
  missingChangelog: string | null;
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
type Totals = Record<'totalPackageChanges' | 'totalCommits' | 'totalWorkItems', number>;

const FETCH_MS = 120_000;
const SHOWN = 3;
const NOTES_LINES = 12;

/** Waits for the repository's first fetch; says why when there is none. */
async function isFetched(api: DemoClient, repositoryIdentifier: string, say: (text: string) => void): Promise<boolean> {
  const deadline = Date.now() + FETCH_MS;
  for (;;) {
    const mirror = (await api.get(
      `/api/projects/${encodeURIComponent(repositoryIdentifier)}/mirror`,
    )) as unknown as Mirror;
    if (mirror.fetchedAt !== null) {
      say(`repository fetched: ${mirror.commits} commits are known`);
      return true;
    }
    if (mirror.failures > 0 || Date.now() > deadline) {
      say(`no changelogs, as the repository could not be fetched: ${mirror.error ?? 'not in time'}`);
      return false;
    }
    await sleep(100);
  }
}

const oneLine = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ').slice(0, 70);
const totals = ({ totalPackageChanges, totalCommits, totalWorkItems }: Totals) =>
  `${totalPackageChanges} packages, ${totalCommits} commits, ${totalWorkItems} work items`;

/**
 * Shows what is new in the newest candidate against the one before it, held against git itself, and its release notes.
 * @param listed what `git log from..to -- folder of the package` lists.
 */
export async function demoChanges(
  api: DemoClient,
  repositoryIdentifier: string,
  candidates: readonly DemoCandidate[],
  listed: (packageName: string, from: string, to: string) => Promise<string[]>,
  say: (text: string) => void,
): Promise<void> {
  const [before, newest] = candidates.slice(-2);
  if (!before || !newest || !(await isFetched(api, repositoryIdentifier, say))) return;
  const compared = await api.post(`/api/release-candidates/${newest.id}/compare-to-packages?includeChangelog=true`, {
    packages: before.artifacts,
  });
  const { packages, summary } = compared.changelog as { packages: PackageEntry[]; summary: Record<string, number> };
  say(
    `changelog from ${before.releaseName} to ${newest.releaseName}: ${summary.totalCommits} commits, ${summary.totalWorkItems} work items, ${summary.totalPullRequests} pull requests`,
  );
  let compares = 0;
  for (const {
    packageName,
    fromVersion,
    toVersion,
    totalCommits,
    commits,
    isTruncated,
    missingChangelog,
  } of packages) {
    say(`  ${packageName} ${fromVersion ?? 'new'} -> ${toVersion}: ${missingChangelog ?? `${totalCommits} commits`}`);
    for (const { sha, message } of commits.slice(0, SHOWN)) say(`    ${sha.slice(0, 8)} ${oneLine(message)}`);
    if (totalCommits > SHOWN) say(`    and ${totalCommits - SHOWN} more`);
    if (missingChangelog !== null || fromVersion === null || isTruncated) continue;
    const own = await listed(packageName, before.commitSha, newest.commitSha);
    if (own.join() === commits.map(({ sha }) => sha).join()) compares++;
    else say(`    git log lists others: ${own.length} commits`);
  }
  say(`  ${compares} of ${packages.length} packages have exactly the commits that git log lists`);

  const notes = await api.text(
    `/api/releases/${encodeURIComponent(newest.releaseName)}/notes?${new URLSearchParams({ repositoryIdentifier, format: 'md' })}`,
  );
  const lines = notes.split('\n').filter(Boolean);
  say(`release notes of ${newest.releaseName}, ${lines.length} lines:`);
  for (const line of lines.slice(0, NOTES_LINES)) say(`  | ${line.slice(0, 110)}`);
}

/** Shows the rolling analysis of a domain. */
export async function demoAnalysis(
  api: DemoClient,
  { repositoryIdentifier, domain }: { repositoryIdentifier: string; domain: string },
  say: (text: string) => void,
): Promise<void> {
  if (!(await isFetched(api, repositoryIdentifier, say))) return;
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
