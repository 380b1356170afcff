import type { Reads } from '../data/fenced-reads.ts';
import type { AttentionKind, Need } from './attention-rules.ts';

/** How one kind is found. Areas list theirs in `area.ts`. */
export interface AttentionRule {
  kind: AttentionKind;
  /** The operation that shows the thing: whoever may call it is told. */
  shownBy: string;
  /** The operation that is the one thing to do about it. */
  action: string;
  /** At most `limit`, those of the longest or the newest standing first. @param reads of who asks. */
  find(reads: Reads, given: { now: Date; limit: number }): Promise<Need[]>;
}
