import { backoffMs } from '../../kernel/shared/backoff-rules.ts';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** What counts as recent: ended pull requests are shown for so long, and make their project be read more often. */
export const RECENT_MS = 14 * DAY_MS;
/** How often a host is asked about a project with recent pull requests, and about another. */
const ACTIVE_EVERY_MS = 15 * MINUTE_MS;
const QUIET_EVERY_MS = 6 * HOUR_MS;
/** How often all that are open are read: those that a host has deleted are told in no other way. */
const ALL_OPEN_EVERY_MS = DAY_MS;
const STALE_AFTER_MS = 45 * MINUTE_MS;

/** The wait for the next refresh. @param changedAt when a pull request last changed. */
export const refreshAfterMs = (changedAt: Date | undefined, now: Date): number =>
  changedAt && now.getTime() - changedAt.getTime() <= RECENT_MS ? ACTIVE_EVERY_MS : QUIET_EVERY_MS;

/** The wait after a failure: that of the host's limit, else one that doubles with each further failure. */
export const retryAfterMs = (failures: number, limitMs: number | undefined): number =>
  Math.min(limitMs ?? backoffMs(failures + 1, ACTIVE_EVERY_MS, QUIET_EVERY_MS), QUIET_EVERY_MS);

/** The wait where there is no credential for the host. */
export const WITHOUT_CREDENTIAL_MS = QUIET_EVERY_MS;

export interface RefreshState {
  refreshedAt: Date | null;
  allOpenAt: Date | null;
  readUntil: Date | null;
  etag: string | null;
}

/** What is asked of the host's list. */
export interface ListQuestion {
  since: Date;
  withAllOpen: boolean;
  etag: string | null;
}

/** Only what changed since, unless that may be too little: at first, once a day, and after a long absence. */
export function listQuestion({ allOpenAt, readUntil, etag }: RefreshState, now: Date): ListQuestion {
  const earliest = new Date(now.getTime() - RECENT_MS);
  const withAllOpen = allOpenAt === null || now.getTime() - allOpenAt.getTime() >= ALL_OPEN_EVERY_MS;
  if (readUntil === null || readUntil < earliest) return { since: earliest, withAllOpen: true, etag: null };
  return { since: readUntil, withAllOpen, etag: withAllOpen ? null : etag };
}

/** Whether what is shown of a project may be out of date. */
export function isStale(
  { refreshedAt, hookAt }: { refreshedAt: Date | null; hookAt: Date | null },
  now: Date,
): boolean {
  if (refreshedAt === null) return true;
  const isOld = now.getTime() - refreshedAt.getTime() > STALE_AFTER_MS;
  return isOld && (hookAt === null || hookAt < refreshedAt);
}
