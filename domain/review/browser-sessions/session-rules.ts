import type { Actor } from '../../kernel/shared/actor.ts';
import { DomainError } from '../../kernel/shared/errors.ts';

export const SESSION_STATUSES = ['provisioning', 'live', 'ended', 'expired', 'error'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];
export type SessionEnd = Exclude<SessionStatus, 'provisioning' | 'live'>;

export const RECORDING_STATES = ['none', 'recording', 'processing', 'ready', 'partial', 'expired'] as const;
export type RecordingState = (typeof RECORDING_STATES)[number];

/**
 * Why a session has the status that it has.
 * - `stopped`, `cancelled`: by a person or an application; with the flow run that had asked for it
 * - `browser_closed`: the browser, or its last tab, was closed
 * - `expired`: its time was up
 * - `no_capacity`: no host had a free slot within 5 minutes
 * - `provisioning_timeout`: the provider, or a worker outside, did not bring it to life within 5 minutes
 * - `front_door_refused`: the org was not opened
 * - `navigation_failed`: the org's page did not load
 * - `provider_error`, `provider_unavailable`: the provider refused or failed; it could not be reached
 * - `host_lost`: the host that ran it sent no heartbeat any more
 * - `session_lost`: the provider no longer knew it
 * - `resource_limit`: it used up its memory, disk or traffic
 * - `assignment_ended`: its pull request has given the org back
 * - `run_failed`: the command or pipeline that was to execute it ended without it
 */
export const STATUS_REASONS = [
  'stopped',
  'cancelled',
  'browser_closed',
  'expired',
  'no_capacity',
  'provisioning_timeout',
  'front_door_refused',
  'navigation_failed',
  'provider_error',
  'provider_unavailable',
  'host_lost',
  'session_lost',
  'resource_limit',
  'assignment_ended',
  'run_failed',
] as const;
export type StatusReason = (typeof STATUS_REASONS)[number];

/** The whole state machine. */
const MOVES: Record<SessionStatus, readonly SessionStatus[]> = {
  provisioning: ['live', 'ended', 'error'],
  live: ['ended', 'expired', 'error'],
  ended: [],
  expired: [],
  error: [],
};

export const mayMove = (from: SessionStatus, to: SessionStatus): boolean => MOVES[from].includes(to);
export const hasEnded = (status: SessionStatus): status is SessionEnd => MOVES[status].length === 0;
export const isLive = (status: SessionStatus): boolean => status === 'live';
export const isProvisioning = (status: SessionStatus): boolean => status === 'provisioning';
/** Statuses in which a pull request has one session at most. */
export const OPEN_STATUSES = SESSION_STATUSES.filter((status) => !hasEnded(status));

const ORDERLY_ENDS: ReadonlySet<StatusReason> = new Set(['browser_closed', 'stopped', 'cancelled', 'assignment_ended']);

/** The status of a session that ended for a reason which its provider, or the loss of it, gave. */
export function statusOfEnd(reason: StatusReason): SessionEnd {
  if (reason === 'expired') return 'expired';
  return ORDERLY_ENDS.has(reason) ? 'ended' : 'error';
}

/** Throws `invalid_transition`, which names both statuses. */
export function assertMove(from: SessionStatus, to: SessionStatus): void {
  if (!mayMove(from, to)) throw new DomainError('invalid_transition', `A session that is ${from} cannot become ${to}`);
}

const MINUTE_MS = 60_000;
/** The whole life of a session, from its creation on. */
export const CAP_MINUTES = 60;
export const DEFAULT_MINUTES = 15;
/** A session that is not live by then is given up. */
export const PROVISIONING_MAX_MS = 5 * MINUTE_MS;

/** When the life of a session ends for good, however often it is extended. */
export const capOf = (createdAt: Date): Date => new Date(createdAt.getTime() + CAP_MINUTES * MINUTE_MS);

/** When a session ends that is to last so many minutes from a time on. */
export function expiryOf(createdAt: Date, from: Date, minutes: number): Date {
  return new Date(Math.min(from.getTime() + minutes * MINUTE_MS, capOf(createdAt).getTime()));
}

/** The end of a session that is extended. Throws `invalid_transition` for one that is not live, or lasts to the cap already. */
export function extendedExpiry(
  { status, createdAt, expiresAt }: { status: SessionStatus; createdAt: Date; expiresAt: Date },
  now: Date,
  minutes: number,
): Date {
  if (!isLive(status) || expiresAt <= now) throw refused(`it is ${isLive(status) ? 'expired' : status}`);
  const extended = expiryOf(createdAt, expiresAt, minutes);
  if (extended <= expiresAt)
    throw refused(`it lasts until ${expiresAt.toISOString()}, ${CAP_MINUTES} minutes after it was created`);
  return extended;
}

const refused = (why: string) => new DomainError('invalid_transition', `The session cannot be extended: ${why}`);

/** Whether the time of a session that is provisioning is up. */
export const isOverdue = ({ status, createdAt }: { status: SessionStatus; createdAt: Date }, now: Date): boolean =>
  isProvisioning(status) && now.getTime() - createdAt.getTime() >= PROVISIONING_MAX_MS;

/** Members change what they created; owners, applications and the service change any. Throws `forbidden`. */
export function assertMayChange(actor: Actor, { createdBy }: { createdBy: Actor }): void {
  if (mayChange(actor, { createdBy })) return;
  throw new DomainError(
    'forbidden',
    `The session belongs to ${createdBy.email}; only they, an owner or an application may change it`,
  );
}

export const mayChange = (actor: Actor, { createdBy }: { createdBy: Actor }): boolean =>
  actor.role !== 'member' || (actor.type === createdBy.type && actor.id === createdBy.id);
