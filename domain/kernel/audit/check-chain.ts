import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import type { Reads } from '../data/fenced-reads.ts';
import { isoOf } from '../text/date-time-rules.ts';
import { pagesAhead } from '../queues/pages-ahead.ts';
import { type AuditEntry, canonicalJson, GENESIS_HASH, hashedText } from './audit-rules.ts';
import { chainHead, entriesBetween, type EntryCells, hashAt, sequenceBeyondHead } from './chain.queries.ts';

/** Entries that are read and checked at a time; between two pages the process does other work. */
const PAGE = 1_000;
const ACTORS_MAX = 1_000;

/** The first place where a trail is not what was written. */
export interface ChainBreak {
  sequence: number;
  reason: 'altered' | 'missing' | 'not_linked' | 'beyond_head';
  detail: string;
}

export interface ChainCheck {
  checked: number;
  firstSequence: number;
  /** The last one that was read. */
  lastSequence: number;
  firstBreak: ChainBreak | null;
  /** The end of the trail as it was written. */
  head: { sequence: number; hash: string };
}

/**
 * Recomputes the chain from `firstSequence` on: each entry's hash from its members, its link to the entry before, the
 * numbers without a gap, and the end against the head that is written with each entry. Stops at the first break.
 *
 * @param lastSequence absent: to the end of the trail.
 * @param most entries at most.
 */
export async function checkChain(
  reads: Reads,
  firstSequence: number,
  lastSequence: number | undefined,
  most: number,
): Promise<ChainCheck> {
  // The head is read first: what is appended meanwhile is outside this check.
  const head = await chainHead(reads);
  const isToEnd = lastSequence === undefined || lastSequence >= head.sequence;
  const end = Math.min(isToEnd ? head.sequence : lastSequence, firstSequence + most - 1);
  let checked = 0;
  const outcome = (sequence: number, firstBreak: ChainBreak | null): ChainCheck => ({
    checked,
    firstSequence,
    lastSequence: sequence,
    firstBreak,
    head,
  });
  let before = { sequence: firstSequence - 1, hash: await hashBefore(reads, firstSequence) };
  const actors = new Actors();
  const pages = pagesAhead<EntryCells>(PAGE, (behind) =>
    entriesBetween(reads, Number(behind?.sequence ?? firstSequence - 1), end, PAGE),
  );
  for await (const rows of pages) {
    for (const row of rows) {
      const sequence = Number(row.sequence);
      const found = breakAt(row, sequence, before, actors);
      if (found) return outcome(found.sequence, found);
      before = { sequence, hash: row.hash };
      checked++;
    }
  }
  if (before.sequence < end) return outcome(before.sequence + 1, missing(before.sequence + 1));
  if (end === head.sequence && end >= firstSequence && before.hash !== head.hash) {
    const detail = 'The last entry is not the one that the head of the trail names';
    return outcome(end, { sequence: end, reason: 'altered', detail });
  }
  if (end === head.sequence) {
    const beyond = await sequenceBeyondHead(reads, head.sequence);
    const detail = 'The entry was not appended by the service';
    if (beyond !== undefined) return outcome(end, { sequence: beyond, reason: 'beyond_head', detail });
  }
  return outcome(before.sequence, null);
}

const missing = (sequence: number): ChainBreak => ({ sequence, reason: 'missing', detail: 'The entry is not there' });

/** Undefined when the entry before is gone: then the first link cannot be checked, and the entry before is the break. */
async function hashBefore(reads: Reads, firstSequence: number): Promise<string | undefined> {
  return firstSequence <= 1 ? GENESIS_HASH : hashAt(reads, firstSequence - 1);
}

function breakAt(
  row: EntryCells,
  sequence: number,
  before: { sequence: number; hash: string | undefined },
  actors: Actors,
): ChainBreak | undefined {
  if (sequence !== before.sequence + 1) return missing(before.sequence + 1);
  if (before.hash === undefined) return missing(before.sequence);
  if (row.prevHash !== before.hash)
    return { sequence, reason: 'not_linked', detail: 'The entry does not follow the one before it' };
  const { actor, canonical } = actors.read(row.actor);
  const entry: AuditEntry = {
    ...row,
    sequence,
    occurredAt: isoOf(row.occurredAt),
    actor,
    before: parsed(row.before),
    after: parsed(row.after),
  };
  if (hash('sha256', hashedText(entry, canonical)) !== row.hash)
    return { sequence, reason: 'altered', detail: 'The entry is not what was written' };
  return undefined;
}

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

interface ReadActor {
  actor: AuditEntry['actor'];
  canonical: string;
}

/** Few people write most of a trail: each is parsed once. */
class Actors {
  readonly #read = new LRUCache<string, ReadActor>({ max: ACTORS_MAX });

  read(text: string): ReadActor {
    const known = this.#read.get(text);
    if (known) return known;
    const actor: AuditEntry['actor'] = JSON.parse(text);
    const made = { actor, canonical: canonicalJson(actor) };
    this.#read.set(text, made);
    return made;
  }
}
