import type { TestRepository } from './repository.ts';

/** What one side of a range has, as git and the messages of its commits tell. */
export interface ExpectedSide {
  /** Newest first. */
  commits: string[];
  workItems: Set<string>;
  pullRequests: Set<number>;
  /** By work item. */
  commitsOf: Map<string, Set<string>>;
  /** Pull requests of these commits, by work item. */
  requestsOf: Map<string, Set<number>>;
}

export interface ModelOptions {
  keyPattern: RegExp;
  /** Numbers of pull requests in a message. */
  pullRequestsIn: (message: string) => readonly number[];
  /** Merges that take the main line into a branch. */
  backMerges: ReadonlySet<string>;
}

type Ancestors = (sha: string) => ReadonlySet<string>;

/** All that a commit descends from, itself included. */
function ancestorsIn(parents: ReadonlyMap<string, readonly string[]>): Ancestors {
  const known = new Map<string, ReadonlySet<string>>();
  return (sha) => {
    const found = known.get(sha) ?? new Set([sha]);
    if (!known.has(sha))
      for (const each of found) for (const parent of parents.get(each) ?? []) (found as Set<string>).add(parent);
    known.set(sha, found);
    return found;
  };
}

/** Slow, by sets of ancestors: which merges brought in each commit of `from..to`, from the outermost to the innermost. */
function mergesByCommit(
  parents: ReadonlyMap<string, readonly string[]>,
  ancestors: Ancestors,
  [from, to]: [string | null, string],
  backMerges: ReadonlySet<string>,
): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const walk = (tip: string, others: readonly string[], merges: readonly string[]) => {
    const isOutside = (sha: string) => others.some((other) => ancestors(other).has(sha));
    for (let sha: string | undefined = tip; sha !== undefined && !isOutside(sha); sha = parents.get(sha)?.[0]) {
      found.set(sha, [...merges]);
      const [first = '', ...further] = parents.get(sha) ?? [];
      for (const [place, parent] of further.entries())
        walk(parent, [...others, first, ...further.slice(0, place)], backMerges.has(sha) ? [] : [...merges, sha]);
    }
  };
  walk(to, from === null ? [] : [from], []);
  return found;
}

/** Computes sides of ranges from what git lists. */
export function attributionModel(remote: TestRepository, { keyPattern, pullRequestsIn, backMerges }: ModelOptions) {
  const messages = new Map(
    remote
      .git(['log', '--all', '-z', '--format=%H%x1f%B'])
      .split('\0')
      .map((each) => each.split('\x1f') as [string, string]),
  );
  const parents = new Map(
    remote.lines(['rev-list', '--all', '--parents']).map((line) => {
      const [sha = '', ...rest] = line.split(' ');
      return [sha, rest] as const;
    }),
  );
  const ancestors = ancestorsIn(parents);
  return (from: string | null, to: string, paths: readonly string[]): ExpectedSide => {
    const commits = remote.log(from, to, paths);
    const brought = mergesByCommit(parents, ancestors, [from, to], backMerges);
    const commitsOf = new Map<string, Set<string>>();
    const pullRequests = new Set<number>();
    const requestsOf = new Map<string, Set<number>>();
    for (const sha of commits) {
      const counting = [sha, ...(brought.get(sha) ?? [])].map((each) => messages.get(each) ?? '');
      const requests = counting.flatMap((message) => pullRequestsIn(message));
      for (const number of requests) pullRequests.add(number);
      for (const key of counting.flatMap((message) => message.match(keyPattern) ?? [])) {
        commitsOf.set(key, (commitsOf.get(key) ?? new Set()).add(sha));
        requestsOf.set(key, new Set([...(requestsOf.get(key) ?? []), ...requests]));
      }
    }
    return { commits, workItems: new Set(commitsOf.keys()), pullRequests, commitsOf, requestsOf };
  };
}
