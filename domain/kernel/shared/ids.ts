import { randomFillSync } from 'node:crypto';
import { v7, validate } from 'uuid';

const ID_BYTES = 16;
/** Random bytes for many ids: to get them from the system for each costs more than all the rest. */
const pool = Buffer.alloc(256 * ID_BYTES);
let used = pool.length;

function randomBytes(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return pool.subarray(used - ID_BYTES, used);
}

/** The time and the sequence number of the newest id. */
const newest = { msecs: 0, seq: 0 };
/** Leaves room for as many ids within a millisecond before the sequence number overflows. */
const FIRST_SEQ_MAX = 0x7f_ff_ff_ff;

/** A UUIDv7 (RFC 9562): ids of this process sort in the order in which they were created. */
export function newId(): string {
  const random = randomBytes();
  const now = Date.now();
  if (now > newest.msecs) {
    newest.msecs = now;
    newest.seq = random.readUInt32BE(0) & FIRST_SEQ_MAX;
  } else newest.seq++;
  return v7({ random, ...newest });
}

export const isId = (text: string): boolean => validate(text);
