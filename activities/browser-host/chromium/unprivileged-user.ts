import { randomInt } from 'node:crypto';

export interface UnixUser {
  uid: number;
  gid: number;
}

/** Below those that distributions give to people and services, and within what containers map. */
const FIRST_UID = 58_000;
const UIDS = 1_000;

/** Hosts on the same machine begin apart. */
let next = randomInt(UIDS);
const inUse = new Set<number>();

/**
 * A user who owns nothing, for one browser until it is given back: Chromium refuses its sandbox to root, and browsers of
 * different users cannot look at each other. Undefined where this process is not root: what it starts runs as the same user.
 * Throws when all are in use.
 */
export function takeUser(): UnixUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (inUse.size === UIDS) throw new Error('all users for browsers are in use');
  while (inUse.has(FIRST_UID + next)) next = (next + 1) % UIDS;
  const uid = FIRST_UID + next;
  next = (next + 1) % UIDS;
  inUse.add(uid);
  return { uid, gid: uid };
}

/** To be called when no process of the user is left. */
export function giveBackUser(user: UnixUser | undefined): void {
  if (user) inUse.delete(user.uid);
}
