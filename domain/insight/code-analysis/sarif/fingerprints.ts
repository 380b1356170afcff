import { createHash } from 'node:crypto';
import type { Issue } from '../summary-rules.ts';

/** Tells the issues of a run apart. */
export interface Fingerprint {
  fingerprint: string;
  /** Counts equal ones of a run, from 0 on. */
  ordinal: number;
}

/** Characters of the digest: 128 bits. */
const LENGTH = 32;

/**
 * Gives the issues of an analysis what tells them apart, and is the same in another run: the digest of tool, rule, path
 * and hash of the line; without a hash, of the message, in which numbers do not count.
 */
export class Fingerprints {
  readonly #counts = new Map<string, number>();

  /** @param lineHash `primaryLocationLineHash`; null: it is not known. */
  of({ tool, ruleId, path, message }: Issue, lineHash: string | null): Fingerprint {
    const place = lineHash === null ? `text ${message.replaceAll(/\d+/g, '0')}` : `line ${lineHash}`;
    const fingerprint = createHash('sha256')
      .update([tool, ruleId, path, place].join('\0'))
      .digest('hex')
      .slice(0, LENGTH);
    const ordinal = this.#counts.get(fingerprint) ?? 0;
    this.#counts.set(fingerprint, ordinal + 1);
    return { fingerprint, ordinal };
  }
}
