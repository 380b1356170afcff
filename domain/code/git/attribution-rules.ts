/** What a commit's message mentions. */
export interface Mention {
  workItems: readonly string[];
  pullRequests: readonly number[];
}

/** What attribution reads of a history; commits are numbers, parents' smaller than their children's. */
export interface AttributedHistory {
  parentsOf: (commit: number) => readonly number[];
  /** What a commit's own message mentions; undefined for nothing. */
  mentionOf: (commit: number) => Mention | undefined;
  /** Whether a merge takes the default branch into another one, as seen from this further parent. */
  isBackMerge: (merge: number, parent: number) => boolean;
}

/** What the commits of a range count for: what they mention, and what the merges mention that brought them in. */
export type Attribution = (commit: number) => Mention;

const NOTHING: Mention = { workItems: [], pullRequests: [] };

type Parents = Pick<AttributedHistory, 'parentsOf'>;

const TO = 1;
const FROM = 2;

/** Marks of the commits of `from..to`: those that `to` descends from and `from` does not. */
function commitsWithin({ parentsOf }: Parents, from: number | null, to: number): Uint8Array {
  const marks = new Uint8Array(Math.max(from ?? 0, to) + 1);
  marks[to] = TO;
  if (from !== null) marks[from] = (marks[from] ?? 0) | FROM;
  let pending = marks[to] === TO ? 1 : 0;
  for (let commit = marks.length - 1; commit >= 0 && pending > 0; commit--) {
    const mark = marks[commit] ?? 0;
    if (mark === 0) continue;
    if (mark === TO) pending--;
    for (const parent of parentsOf(commit)) {
      const before = marks[parent] ?? 0;
      const after = before | mark;
      if (before !== TO && after === TO) pending++;
      if (before === TO && after !== TO) pending--;
      marks[parent] = after;
    }
  }
  return marks;
}

/** The commits of `from..to`. */
export function commitsBetween(history: Parents, from: number | null, to: number): number[] {
  const marks = commitsWithin(history, from, to);
  const commits: number[] = [];
  for (let at = marks.indexOf(TO); at >= 0; at = marks.indexOf(TO, at + 1)) commits.push(at);
  return commits;
}

const UNCLAIMED = 0;
const BY_NONE = 1;
/** Added to the number of a merge. */
const OFFSET = 2;

/**
 * By which merge each commit of `from..to` was brought in. The walk follows first parents; the merges on its way, oldest
 * first, bring in what their further parents have and the line before them has not, which is walked in the same way.
 * So a merge of the main line into a branch brings nothing once that branch is merged back. Where such a merge is on
 * the way itself, what it takes in is walked as a line of its own.
 */
function introducers(history: AttributedHistory, from: number | null, to: number): Int32Array {
  const marks = commitsWithin(history, from, to);
  const by = new Int32Array(marks.length);
  const isOpen = (commit: number | undefined): commit is number =>
    commit !== undefined && marks[commit] === TO && by[commit] === UNCLAIMED;
  const claim = (tip: number, introducer: number) => {
    const line: number[] = [];
    for (let commit: number | undefined = tip; isOpen(commit); commit = history.parentsOf(commit)[0]) {
      by[commit] = introducer;
      line.push(commit);
    }
    return { line, place: 0 };
  };
  const walks = [claim(to, BY_NONE)];
  for (let walk = walks.at(-1); walk; walk = walks.at(-1)) {
    const merge = walk.line.at(-1);
    if (merge === undefined) {
      walks.pop();
      continue;
    }
    const parent = history.parentsOf(merge)[++walk.place];
    if (parent === undefined) {
      walk.line.pop();
      walk.place = 0;
    } else if (isOpen(parent)) {
      walks.push(claim(parent, history.isBackMerge(merge, parent) ? BY_NONE : merge + OFFSET));
    }
  }
  return by;
}

/** @param from null: from the beginning. */
export function attribute(history: AttributedHistory, from: number | null, to: number): Attribution {
  const by = introducers(history, from, to);
  const known = new Map<number, Mention>();
  const brought = (introducer: number): Mention => {
    const merges: number[] = [];
    let at = introducer;
    for (; at >= OFFSET && !known.has(at); at = by[at - OFFSET] ?? BY_NONE) merges.push(at);
    let mention = known.get(at) ?? NOTHING;
    for (const merge of merges.toReversed()) {
      mention = union(history.mentionOf(merge - OFFSET), mention);
      known.set(merge, mention);
    }
    return mention;
  };
  const ofCommits = new Map<number, Mention>();
  return (commit) => {
    const found = ofCommits.get(commit);
    if (found) return found;
    const mention = union(history.mentionOf(commit), brought(by[commit] ?? BY_NONE));
    ofCommits.set(commit, mention);
    return mention;
  };
}

function union(own: Mention = NOTHING, other: Mention): Mention {
  if (own === NOTHING || other === NOTHING) return own === NOTHING ? other : own;
  return {
    workItems: [...new Set([...own.workItems, ...other.workItems])],
    pullRequests: [...new Set([...own.pullRequests, ...other.pullRequests])],
  };
}

/** What some commits of a range count for together, in order of first mention. */
export function mentionsOf(
  commits: readonly number[],
  attribution: Attribution,
): { workItems: string[]; pullRequests: number[] } {
  const workItems = new Set<string>();
  const pullRequests = new Set<number>();
  for (const commit of commits) {
    const mention = attribution(commit);
    for (const key of mention.workItems) workItems.add(key);
    for (const number of mention.pullRequests) pullRequests.add(number);
  }
  return { workItems: [...workItems], pullRequests: [...pullRequests] };
}

/** Subjects that name the merged branch, and where they say so the branch that takes it in. */
const MERGED_BRANCH = [
  /^Merge (?:remote-tracking )?branch '([^']+)'(?: of \S+)?(?: into '?([^']+?)'?)?$/,
  /^Merge pull request #\d+ from [^/\s]+\/(\S+)/,
  /^Merged in (\S+) \(pull request #\d+\)$/,
  /^Merged? (?:PR #?\d+: )?(?:Merge )?(\S+) into (\S+)$/,
];

const COMMIT_ID = /^[0-9a-f]{7,64}$/;

const plainBranch = (name: string): string =>
  name.replace(/^(?:refs\/heads\/|refs\/remotes\/[^/]+\/|origin\/|upstream\/)/, '');

/** Branches by the names that are given to what is released; merging the default branch into one is a promotion. */
export const RELEASE_LINES = ['main', 'master', 'production', 'prod'];

/**
 * Whether the subject of a merge says that it takes the default branch into another one; undefined when it does not
 * tell, as with the default branch of a fork, which is merged into ours.
 */
export function saysBackMerge(subject: string, defaultBranch: string): boolean | undefined {
  for (const pattern of MERGED_BRANCH) {
    const [, merged, target] = pattern.exec(subject.trim()) ?? [];
    if (merged === undefined) continue;
    // Merged by its commit, which may be one of the default branch.
    if (COMMIT_ID.test(merged)) return undefined;
    // The name of a remote can be any word.
    const isRemote = subject.trim().startsWith('Merge remote-tracking branch ');
    const from = isRemote ? merged.replace(/^(?:refs\/remotes\/)?[^/]+\//, '') : plainBranch(merged);
    if (from !== defaultBranch) return false;
    if (target === undefined || plainBranch(target) === defaultBranch) return undefined;
    return !RELEASE_LINES.includes(plainBranch(target));
  }
  return undefined;
}
