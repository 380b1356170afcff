import { DateQueue } from './date-queue-rules.ts';
import { type ParentBits, walkRange } from './revision-walk-rules.ts';

/** Which changes count: those of packages, by their numbers, or all in the repository. */
export type PackageSelection = readonly number[] | 'everything';

const NONE: ReadonlyMap<number, ParentBits> = new Map();
const EVERY_PARENT = -1n;

/**
 * What the copy of a repository says of a commit and the branch on which it is said to be. unverified: the copy does not
 * have the commit, yet; no_copy: nothing was ever fetched, so that the text is all there is.
 */
export type BranchEvidence = 'on_branch' | 'not_on_branch' | 'unverified' | 'no_copy';

/** Whether one commit is another, or descends from it. @param parentsOf of the commits from the ancestor on. */
export function descendsFrom(
  parentsOf: (commit: number) => readonly number[],
  { ancestor, descendant }: { ancestor: number; descendant: number },
): boolean {
  if (ancestor > descendant) return false;
  const seen = new Uint8Array(descendant - ancestor + 1);
  seen[descendant - ancestor] = 1;
  for (let commit = descendant; commit > ancestor; commit--)
    if (seen[commit - ancestor] === 1)
      for (const parent of parentsOf(commit)) if (parent >= ancestor) seen[parent - ancestor] = 1;
  return seen[0] === 1;
}

/**
 * The commits of one repository in memory. A commit is identified by its number: parents have smaller numbers than
 * their children, and a number always means the same commit, so that a graph only grows.
 */
export class CommitGraph {
  readonly #parents: (readonly number[])[] = [];
  /** Seconds since the epoch. */
  readonly #dates: number[] = [];
  readonly #changes = new Map<number, Map<number, ParentBits>>();

  /** How many commits it holds; the next one to add has this number. */
  get size(): number {
    return this.#parents.length;
  }

  /** The number of a commit when the graph has it; undefined for one that was imported after the graph was read. */
  known(commit: number | undefined): number | undefined {
    return commit !== undefined && commit < this.size ? commit : undefined;
  }

  /** @param date of the commit (not of its authoring), in seconds since the epoch. */
  addCommit(parents: readonly number[], date: number): void {
    this.#parents.push(parents);
    this.#dates.push(date);
  }

  /** Adds that a commit differs in a package's paths from some of its parents. */
  addChange(packageNo: number, commit: number, parentBits: ParentBits): void {
    this.addPackage(packageNo).set(commit, parentBits);
  }

  /** Adds a package, which may have no changes. */
  addPackage(packageNo: number): Map<number, ParentBits> {
    const changes = this.#changes.get(packageNo) ?? new Map<number, ParentBits>();
    this.#changes.set(packageNo, changes);
    return changes;
  }

  get packageNumbers(): number[] {
    return [...this.#changes.keys()];
  }

  parentsOf(commit: number): readonly number[] {
    return this.#parents[commit] ?? [];
  }

  dateOf(commit: number): number {
    return this.#dates[commit] ?? 0;
  }

  /** Numbers of the packages in whose paths a commit differs from its first parent. */
  packagesChangedBy(commit: number): number[] {
    return [...this.#changes].flatMap(([packageNo, changes]) =>
      ((changes.get(commit) ?? 0n) & 1n) === 1n ? [packageNo] : [],
    );
  }

  /** The first commits that `git log <to>` lists. */
  newest(to: number, limit: number): number[] {
    const queue = new DateQueue((commit) => this.dateOf(commit));
    const seen = new Set([to]);
    const listed: number[] = [];
    queue.push(to);
    for (let commit = queue.pop(); commit !== undefined && listed.length < limit; commit = queue.pop()) {
      listed.push(commit);
      for (const parent of this.parentsOf(commit)) {
        if (!seen.has(parent)) queue.push(parent);
        seen.add(parent);
      }
    }
    return listed;
  }

  /** Whether one commit is another, or among those that it descends from. */
  isAncestor(ancestor: number, descendant: number): boolean {
    return descendsFrom((commit) => this.parentsOf(commit), { ancestor, descendant });
  }

  /** A test of whether a commit is one of some, or among those that these descend from. */
  ancestorsOf(commits: readonly number[]): (commit: number) => boolean {
    const seen = new Uint8Array(this.size);
    for (const commit of commits) if (commit < this.size) seen[commit] = 1;
    for (let commit = this.size - 1; commit >= 0; commit--) {
      if (seen[commit] === 1) for (const parent of this.parentsOf(commit)) seen[parent] = 1;
    }
    return (commit) => seen[commit] === 1;
  }

  /** The parents from which a commit differs in the paths of a package, as bits. */
  changeIn(packageNo: number, commit: number): ParentBits {
    return this.#changes.get(packageNo)?.get(commit) ?? 0n;
  }

  /** The ones of some commits that differ in the paths of a package from one of their parents. */
  changedIn(packageNo: number, commits: readonly number[]): number[] {
    const changes = this.#changes.get(packageNo) ?? NONE;
    return commits.filter((commit) => (changes.get(commit) ?? 0n) !== 0n);
  }

  differsFromAllParents(packageNo: number, commit: number): boolean {
    const bits = this.changeIn(packageNo, commit);
    if (bits === 0n) return false;
    const all = (1n << BigInt(Math.max(1, this.parentsOf(commit).length))) - 1n;
    return (bits & all) === all;
  }

  /** The place of the first parent that a commit equals in the paths of a package; -1: it differs from all. */
  sameParentOf(packageNo: number, commit: number): number {
    const bits = this.changeIn(packageNo, commit);
    return this.parentsOf(commit).findIndex((_, place) => ((bits >> BigInt(place)) & 1n) === 0n);
  }

  /**
   * What `git log from..to -- <paths of the packages>` lists, in its order: newest first. `everything` is the log
   * without paths.
   *
   * @param from null: from the beginning.
   */
  log(packages: PackageSelection, from: number | null, to: number): number[] {
    const changes =
      packages === 'everything' ? undefined : packages.map((packageNo) => this.#changes.get(packageNo) ?? NONE);
    const [first, ...others] = changes ?? [];
    const differences = (commit: number): ParentBits => {
      if (changes === undefined) return EVERY_PARENT;
      let bits = first?.get(commit) ?? 0n;
      for (const ofPackage of others) bits |= ofPackage.get(commit) ?? 0n;
      return bits;
    };
    return walkRange(
      { parentsOf: (commit) => this.parentsOf(commit), dateOf: (commit) => this.dateOf(commit), differences },
      from,
      to,
    );
  }
}
