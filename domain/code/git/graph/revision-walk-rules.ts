import { DateQueue } from './date-queue-rules.ts';

/** Bits of those parents from which a commit differs; bit 0 is the first parent, or the empty tree of a root. */
export type ParentBits = bigint;

/** What a walk reads of a history; commits are numbers, parents' smaller than their children's. */
export interface WalkedHistory {
  parentsOf: (commit: number) => readonly number[];
  /** Seconds since the epoch. */
  dateOf: (commit: number) => number;
  /** The parents from which a commit differs in the selected paths, as bits. */
  differences: (commit: number) => ParentBits;
}

const SEEN = 1;
const UNINTERESTING = 2;
/** Its parents are known to the walk; marks are passed on to them. */
const PARSED = 4;
const ADDED = 8;
const TREESAME = 16;

/** How many uninteresting commits in a row end a walk. */
const SLOP = 5;

/**
 * The commits that `git log from..to -- <paths>` lists, in its order. It follows git's `limit_list` and
 * `try_to_simplify_commit` in revision.c, with "History Simplification" as in git-log(1): where a commit is the same as
 * one of its relevant parents, only that parent is followed; a merge is listed when it differs from all. Which parents
 * are already known to be outside the range depends on the order of the walk, so the walk has to have git's order.
 */
export function walkRange(history: WalkedHistory, from: number | null, to: number): number[] {
  const walk = new Walk(history, from, to);
  try {
    return walk.run();
  } finally {
    walk.clear();
  }
}

/** Marks of commits, of one walk at a time; all 0 in between, which costs less than new ones for each of many walks. */
let marks = new Uint8Array(0);

class Walk {
  readonly #history: WalkedHistory;
  readonly #bottom: number | null;
  readonly #flags: Uint8Array;
  readonly #marked: number[] = [];
  /** Parents that are followed, where simplification left one of several. */
  readonly #followed = new Map<number, readonly number[]>();
  readonly #queue: DateQueue;

  constructor(history: WalkedHistory, from: number | null, to: number) {
    this.#history = history;
    this.#bottom = from;
    const size = Math.max(from ?? 0, to) + 1;
    if (marks.length < size) marks = new Uint8Array(2 * size);
    this.#flags = marks;
    this.#queue = new DateQueue(history.dateOf);
    if (from !== null) {
      this.#mark(from, SEEN | PARSED | UNINTERESTING);
      this.#markParentsUninteresting(from);
      this.#queue.push(from);
    }
    this.#mark(to, SEEN | PARSED);
    if (to !== from) this.#queue.push(to);
  }

  run(): number[] {
    const found: number[] = [];
    let date = Number.POSITIVE_INFINITY;
    let slop = SLOP;
    for (let commit = this.#queue.pop(); commit !== undefined; commit = this.#queue.pop()) {
      this.#process(commit);
      if (this.#has(commit, UNINTERESTING)) {
        this.#markParentsUninteresting(commit);
        slop = this.#slopAfter(date, slop);
        if (slop === 0) break;
        continue;
      }
      date = this.#history.dateOf(commit);
      if (!this.#has(commit, TREESAME)) found.push(commit);
    }
    return found.filter((commit) => !this.#has(commit, UNINTERESTING));
  }

  /** Takes all marks away; the next walk has the same. */
  clear(): void {
    for (const commit of this.#marked) this.#flags[commit] = 0;
  }

  #has(commit: number, flag: number): boolean {
    return ((this.#flags[commit] ?? 0) & flag) !== 0;
  }

  #mark(commit: number, flags: number): void {
    const before = this.#flags[commit] ?? 0;
    if (before === 0) this.#marked.push(commit);
    this.#flags[commit] = before | flags;
  }

  #parents(commit: number): readonly number[] {
    return this.#followed.get(commit) ?? this.#history.parentsOf(commit);
  }

  #process(commit: number): void {
    if (this.#has(commit, ADDED)) return;
    this.#mark(commit, ADDED);
    if (this.#has(commit, UNINTERESTING)) {
      for (const parent of this.#parents(commit)) {
        this.#mark(parent, UNINTERESTING | PARSED);
        this.#markParentsUninteresting(parent);
        this.#enqueue(parent);
      }
      return;
    }
    for (const parent of this.#simplify(commit)) {
      this.#mark(parent, PARSED);
      this.#enqueue(parent);
    }
  }

  #enqueue(commit: number): void {
    if (this.#has(commit, SEEN)) return;
    this.#mark(commit, SEEN);
    this.#queue.push(commit);
  }

  /** The end of the range counts as relevant although it lies outside. */
  #isRelevant(commit: number): boolean {
    return commit === this.#bottom || !this.#has(commit, UNINTERESTING);
  }

  /** Marks a commit that is the same as its parents; returns those of them that are followed. */
  #simplify(commit: number): readonly number[] {
    const parents = this.#history.parentsOf(commit);
    const bits = this.#history.differences(commit);
    // Most commits: calculating with bigints takes time.
    if (bits === 0n && parents.length < 2) {
      this.#mark(commit, TREESAME);
      return parents;
    }
    const differs = (place: number) => bits !== 0n && ((bits >> BigInt(place)) & 1n) === 1n;
    if (parents.length === 0) return parents;
    let hasRelevantParent = false;
    let isRelevantChange = false;
    let isOtherChange = false;
    for (let place = 0; place < parents.length; place++) {
      const parent = parents[place] ?? 0;
      const isRelevant = this.#isRelevant(parent);
      if (isRelevant) hasRelevantParent = true;
      this.#mark(parent, PARSED);
      if (differs(place)) {
        if (isRelevant) isRelevantChange = true;
        else isOtherChange = true;
      } else if (isRelevant) {
        this.#mark(commit, TREESAME);
        if (parents.length === 1) return parents;
        this.#followed.set(commit, [parent]);
        return [parent];
      }
    }
    if (hasRelevantParent ? !isRelevantChange : !isOtherChange) this.#mark(commit, TREESAME);
    return parents;
  }

  #markParentsUninteresting(commit: number): void {
    let pending: number[] | undefined;
    for (let child: number | undefined = commit; child !== undefined; child = pending?.pop())
      for (const parent of this.#parents(child)) {
        if (this.#has(parent, UNINTERESTING)) continue;
        this.#mark(parent, UNINTERESTING);
        if (this.#has(parent, PARSED)) (pending ??= []).push(parent);
      }
  }

  #slopAfter(date: number, slop: number): number {
    const next = this.#queue.peek();
    if (next === undefined) return 0;
    if (date <= this.#history.dateOf(next) || this.#queue.some((commit) => !this.#has(commit, UNINTERESTING)))
      return SLOP;
    return slop - 1;
  }
}
