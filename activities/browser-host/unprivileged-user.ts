import { randomInt } from 'node:crypto';

export interface UnixUser {
  uid: number;
  gid: number;
}

/** Below those that distributions give to people and services, and within what containers map. */
const FIRST_UID = 58_000;
const UIDS = 1_000;

/**
 * A user who owns nothing, for one browser: Chromium refuses its sandbox to root, and browsers of different users cannot look
 * at each other. Undefined where this process is not root: what it starts runs as the same user.
 */
export function unprivilegedUser(): UnixUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const uid = FIRST_UID + randomInt(UIDS);
  return { uid, gid: uid };
}
