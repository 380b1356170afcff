import { type Mention, saysBackMerge } from './attribution-rules.ts';
import type { GraphMessage } from './commit-graph.queries.ts';
import type { CommitGraph } from './commit-graph-rules.ts';

interface Facts {
  mentions: Map<number, Mention>;
  /** What the subjects of merges say; see `saysBackMerge`. */
  said: Map<number, boolean>;
}

/** What the messages of one repository's commits mention, in memory, and which of its merges are back-merges. */
export class CommitMessages {
  readonly #defaultBranch: string | null;
  readonly #facts: Facts;
  /** 1 for each commit on the line of first parents of the default branch. */
  readonly #mainline: Uint8Array;

  constructor(
    defaultBranch: string | null,
    facts: Facts = { mentions: new Map(), said: new Map() },
    mainline = new Uint8Array(),
  ) {
    this.#defaultBranch = defaultBranch;
    this.#facts = facts;
    this.#mainline = mainline;
  }

  add(messages: readonly GraphMessage[]): void {
    const same = new Map<string, string>();
    const once = (key: string) => same.get(key) ?? (same.set(key, key), key);
    for (const [commit, workItems, pullRequests, subject] of messages) {
      if (workItems.length > 0 || pullRequests.length > 0)
        this.#facts.mentions.set(commit, { workItems: workItems.map(once), pullRequests });
      const said = subject === null ? undefined : saysBackMerge(subject, this.#defaultBranch ?? '');
      if (said !== undefined) this.#facts.said.set(commit, said);
    }
  }

  /** The same messages with the default branch as it is now. */
  withMainline(graph: CommitGraph, tip: number | undefined): CommitMessages {
    const mainline = new Uint8Array(graph.size);
    for (let commit = tip; commit !== undefined; commit = graph.parentsOf(commit)[0]) mainline[commit] = 1;
    return new CommitMessages(this.#defaultBranch, this.#facts, mainline);
  }

  mentionOf(commit: number): Mention | undefined {
    return this.#facts.mentions.get(commit);
  }

  /** Where the subject does not tell, a merge of a commit of the main line by one that is not on it. */
  isBackMerge(merge: number, parent: number): boolean {
    return this.#facts.said.get(merge) ?? (this.#mainline[parent] === 1 && this.#mainline[merge] !== 1);
  }
}
