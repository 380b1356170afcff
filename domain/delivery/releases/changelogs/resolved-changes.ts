import { commitNumbers } from '../../../code/git/commits.queries.ts';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import { inInstallOrder } from '../../../code/git/install-order-rules.ts';
import { dependenciesOf } from '../../../code/git/packages.queries.ts';
import type { Range } from '../../../code/git/graph/range-cache.ts';
import type { Tx } from '../../../unit-of-work.ts';
import type { TwoSided } from './change-sides.ts';
import {
  type MissingChangelog,
  unknownContent,
  unknownPackage,
  unknownVersion,
  whyCommitIsUnknown,
  whyNothingIsKnown,
} from './missing-changelog-rules.ts';
import { directionOf, type Direction, type PackageChange } from './package-change-rules.ts';
import { type PackageVersion, type VersionCommits, versionCommits } from '../versions/package-versions.queries.ts';
import { knownVersionCommits, type VersionState, versionState } from '../versions/version-commit-cache.ts';

/** The commits of one package's change, or why they are not known. */
export interface ResolvedChange extends PackageChange, TwoSided {
  direction: Direction;
  /** The side that the change is about: for a downgrade the removed one; none for a removal. */
  range: Range | undefined;
  missing: MissingChangelog | null;
}

/** The versions whose commits tell of which commits changes consist. */
export function versionsOf(changes: readonly PackageChange[]): PackageVersion[] {
  const versions: PackageVersion[] = [];
  for (const { name, from, to, commits } of changes) {
    if (from !== null && commits?.from === undefined) versions.push({ name, version: from });
    if (to !== null && commits?.to === undefined) versions.push({ name, version: to });
  }
  return versions;
}

/**
 * Finds out of which commits changes consist.
 * @param known of this request, for who resolves changes in several parts.
 */
export async function resolveChanges(
  tx: Tx,
  history: History,
  changes: readonly PackageChange[],
  known?: VersionState,
): Promise<ResolvedChange[]> {
  const ofVersions = await commitsOf(tx, history, known ?? (await versionState(tx, history)), versionsOf(changes));
  const named = changes.flatMap(({ commits }) => [commits?.from ?? [], commits?.to ?? []].flat());
  const numbers = named.length === 0 ? undefined : await commitNumbers(tx, history.projectId, named);
  return changes.map((change) => {
    const { commits } = change;
    if (!commits || !numbers) return resolved(change, history, { from: ofVersions, to: ofVersions });
    const end = (sha: string | null): VersionCommits => ({
      of: () => (sha === null ? undefined : history.graph.known(numbers.get(sha))),
      unknownShaOf: () => sha ?? undefined,
    });
    const from = commits.from === undefined ? ofVersions : end(commits.from);
    const to = commits.to === undefined ? ofVersions : end(commits.to);
    return resolved(change, history, { from, to });
  });
}

/** The commits of versions, as far as they are known from before; the others are read. */
async function commitsOf(
  tx: Tx,
  history: History,
  state: VersionState,
  versions: readonly PackageVersion[],
): Promise<VersionCommits> {
  const commitOf = await knownVersionCommits(tx, history, state, versions);
  const unknown = versions.filter((version) => commitOf(version) === undefined);
  if (unknown.length === 0) return { of: commitOf, unknownShaOf: () => undefined };
  const { of, unknownShaOf } = await versionCommits(tx, history, unknown);
  return { of: (version) => commitOf(version) ?? of(version), unknownShaOf };
}

/** What gives the commits of the versions before and after a change. */
type Ends = Record<'from' | 'to', VersionCommits>;

function resolved(change: PackageChange, history: History, ends: Ends): ResolvedChange {
  const direction = directionOf(change);
  const { name, from, to } = change;
  const packageNo = history.packages.get(name)?.packageNo;
  const missing = whyMissing(change, history, ends);
  if (missing !== null || packageNo === undefined)
    return { ...change, direction, range: undefined, added: undefined, removed: undefined, missing };
  const commitOf = (version: string | null, commits: VersionCommits) =>
    version === null ? null : (commits.of({ name, version }) ?? null);
  const [begin, end] = [commitOf(from, ends.from), commitOf(to, ends.to)];
  const added = end === null ? undefined : { packageNo, from: begin, to: end };
  const removed = begin === null ? undefined : { packageNo, from: end, to: begin };
  const range = direction === 'downgrade' ? removed : added;
  return { ...change, direction, range, added, removed, missing };
}

function whyMissing(
  { name, from, to, commits: named }: PackageChange,
  history: History,
  ends: Ends,
): MissingChangelog | null {
  const nothing = whyNothingIsKnown(history);
  if (nothing) return nothing;
  if (!history.packages.has(name)) return unknownPackage(name, history);
  for (const [version, commits] of [
    [from, ends.from],
    [to, ends.to],
  ] as const) {
    if (version === null || commits.of({ name, version }) !== undefined) continue;
    const sha = commits.unknownShaOf({ name, version });
    if (sha === undefined && named?.from === null) return unknownContent(name, version, history);
    return sha === undefined
      ? unknownVersion(name, version, history)
      : whyCommitIsUnknown(`The commit ${sha} of ${name} ${version}`, history);
  }
  return null;
}

/** Finds out of which commits changes consist, in the order in which the packages have to be installed. */
export const resolveInOrder = (
  tx: Tx,
  history: History,
  changes: readonly PackageChange[],
): Promise<ResolvedChange[]> => resolveChanges(tx, history, inInstallOrder(changes, dependenciesOf(history.packages)));
