import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { firstHolder } from '../../release-candidates/first-holders.queries.ts';
import type { ReleaseDefinition } from '../../release-candidates/comparison-rules.ts';
import type { CandidateRow } from '../../release-candidates/release-candidates.queries.ts';
import type { DeploymentLog } from '../../deployments/deployment-log-cache.ts';
import type { Packages } from '../../deployments/report-rules.ts';
import { lastInstalled } from '../versions/installed-states.ts';
import { otherContents, type PackageChange, packageChanges } from './package-change-rules.ts';

/** The content from which a package came. */
interface PackageContent {
  domain: string;
  releaseName: string;
  contentDigest: string | null;
  /** Null: it is not known. */
  commitSha: string | null;
}

/** One side of a comparison: what a candidate holds, or what an environment has. */
export interface ComparedSide {
  definition: ReleaseDefinition;
  packages: Packages;
  contentOf: (name: string) => PackageContent | undefined;
  /** The commit of a package where its version does not tell it, or may not; undefined: the version tells it. */
  namedCommitOf: (name: string) => string | undefined;
}

/** A candidate as a side. */
export function candidateSide(candidate: CandidateRow, isFirstHolder = true): ComparedSide {
  const { value, domain, releaseName, contentDigest, commitSha } = candidate;
  const packages = value.artifacts ?? {};
  return {
    definition: value,
    packages,
    contentOf: () => ({ domain, releaseName, contentDigest, commitSha }),
    // Versions that another candidate held first from another commit do not tell this one's.
    namedCommitOf: () => (isFirstHolder ? undefined : commitSha),
  };
}

/** A candidate as a side whose commits matter. */
export const candidateSideWithCommits = async (reads: Reads, candidate: CandidateRow): Promise<ComparedSide> =>
  candidateSide(candidate, (await firstHolder(reads, candidate)) === undefined);

/** What is installed in an environment as a side. */
export function environmentSide(log: DeploymentLog, environmentId: string): ComparedSide {
  const last = lastInstalled(log, environmentId);
  const packages = Object.fromEntries([...last].map(([name, { packages: own }]) => [name, own[name] ?? '']));
  return {
    definition: { artifacts: packages },
    packages,
    contentOf: (name) => last.get(name),
    // A deployment carries packages of older versions, too: its commit is not theirs.
    namedCommitOf: () => undefined,
  };
}

/**
 * Packages that both sides have in the same versions, but from other commits, with what is known of it: those that the
 * same release holds with another content, and where all versions are the same, all from another commit.
 */
export function othersBetween(left: ComparedSide, right: ComparedSide): Map<string, PackageChange> {
  const commitIn = (side: ComparedSide) => (name: string) => side.contentOf(name)?.commitSha ?? null;
  const changes = otherContents(right.packages, left.packages, commitIn(right), commitIn(left));
  const isAllOther =
    packageChanges(right.packages, left.packages).length === 0 && changes.length === Object.keys(left.packages).length;
  const isOther = (name: string): boolean => {
    const [ours, theirs] = [left.contentOf(name), right.contentOf(name)];
    const isOfRelease = theirs?.domain === ours?.domain && theirs?.releaseName === ours?.releaseName;
    return isAllOther || (isOfRelease && theirs?.contentDigest !== ours?.contentDigest);
  };
  return new Map(changes.filter(({ name }) => isOther(name)).map((change) => [change.name, change]));
}

/** The commits of a change from the right side to the left one, where its versions do not tell them. */
export function commitsBetween(left: ComparedSide, right: ComparedSide | undefined, name: string) {
  const [from, to] = [right?.namedCommitOf(name), left.namedCommitOf(name)];
  if (from === undefined && to === undefined) return {};
  return { commits: { ...(from !== undefined && { from }), ...(to !== undefined && { to }) } };
}

/** What changes from the right side to the left one, with the commits where the versions do not tell them. */
export function changesBetween(left: ComparedSide, right: ComparedSide): PackageChange[] {
  const changes = packageChanges(right.packages, left.packages);
  const withCommits = changes.map((change) => ({ ...change, ...commitsBetween(left, right, change.name) }));
  return [...withCommits, ...othersBetween(left, right).values()];
}
