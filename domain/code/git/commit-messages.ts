import { type Mention, RELEASE_LINES, saysBackMerge } from './attribution-rules.ts';
import type { GraphMessage } from './graph/commit-graph.queries.ts';
import type { CommitGraph } from './graph/commit-graph-rules.ts';

interface Facts {
  mentions: Map<number, Mention>;
  /** The commits that mention each work item. */
  naming: Map<string, number[]>;
  /** What the subjects of merges say; see `saysBackMerge`. */
  said: Map<number, boolean>;
}

/** What the messages of one repository's commits mention, in memory, and which of its merges are back-merges. */
export class CommitMessages {
  readonly #defaultBranch: string | null;
  readonly #facts: Facts;
  /** 1 for each commit on the line of first parents of the default branch. */
  readonly #mainline: Uint8Array;
  /** 1 for each commit on the line of first parents of a branch that is released from. */
  readonly #releaseLines: Uint8Array;

  constructor(
    defaultBranch: string | null,
    facts: Facts = { mentions: new Map(), naming: new Map(), said: new Map() },
    mainline = new Uint8Array(),
    releaseLines = new Uint8Array(),
  ) {
    this.#defaultBranch = defaultBranch;
    this.#facts = facts;
    this.#mainline = mainline;
    this.#releaseLines = releaseLines;
  }

  add(messages: readonly GraphMessage[]): void {
    const same = new Map<string, string>();
    const once = (key: string) => same.get(key) ?? (same.set(key, key), key);
    for (const [commit, workItems, pullRequests, subject] of messages) {
      if (workItems.length > 0 || pullRequests.length > 0)
        this.#facts.mentions.set(commit, { workItems: workItems.map(once), pullRequests });
      for (const key of workItems) {
        const naming = this.#facts.naming.get(key);
        if (naming) naming.push(commit);
        else this.#facts.naming.set(once(key), [commit]);
      }
      const said = subject === null ? undefined : saysBackMerge(subject, this.#defaultBranch ?? '');
      if (said !== undefined) this.#facts.said.set(commit, said);
    }
  }

  /**
   * These messages with the branches as they are now.
   * @param tips numbers of their newest commits, by name.
   */
  withBranches(graph: CommitGraph, tips: ReadonlyMap<string, number>): CommitMessages {
    const linesOf = (names: readonly string[]) => {
      const lines = new Uint8Array(graph.size);
      for (const name of names)
        for (
          let commit = tips.get(name);
          commit !== undefined && lines[commit] === 0;
          commit = graph.parentsOf(commit)[0]
        )
          lines[commit] = 1;
      return lines;
    };
    const name = this.#defaultBranch;
    const mainline = linesOf(name === null ? [] : [name]);
    return new CommitMessages(name, this.#facts, mainline, linesOf(RELEASE_LINES));
  }

  mentionOf(commit: number): Mention | undefined {
    return this.#facts.mentions.get(commit);
  }

  /** The commits whose own messages mention a work item, in no order. */
  commitsNaming(key: string): readonly number[] {
    return this.#facts.naming.get(key) ?? [];
  }

  /** Where the subject does not say, a merge of a commit of the main line by one of a branch that is not released from. */
  isBackMerge(merge: number, parent: number): boolean {
    const isOn = (lines: Uint8Array, commit: number) => lines[commit] === 1;
    const isTaken = isOn(this.#mainline, parent) && !isOn(this.#mainline, merge) && !isOn(this.#releaseLines, merge);
    return this.#facts.said.get(merge) ?? isTaken;
  }
}
