import type { Actor } from '../../kernel/shared/actor.ts';
import { DomainError } from '../../kernel/shared/errors.ts';

export const ASSIGNMENT_TYPES = ['pr', 'issue', 'user', 'custom'] as const;
export type AssignmentType = (typeof ASSIGNMENT_TYPES)[number];

export const ASSIGNMENT_STATES = ['pending', 'active', 'released', 'expired', 'failed'] as const;
export type AssignmentState = (typeof ASSIGNMENT_STATES)[number];
export type AssignmentEnd = 'released' | 'expired' | 'failed';

/** The whole state machine; one that waits can only be given an org or be withdrawn. */
const MOVES: Record<AssignmentState, readonly AssignmentState[]> = {
  pending: ['active', 'released'],
  active: ['released', 'expired', 'failed'],
  released: [],
  expired: [],
  failed: [],
};

export const mayMove = (from: AssignmentState, to: AssignmentState): boolean => MOVES[from].includes(to);
export const hasEnded = (state: AssignmentState): boolean => MOVES[state].length === 0;
export const isActive = (state: AssignmentState): boolean => state === 'active';
export const isPending = (state: AssignmentState): boolean => state === 'pending';

const HOUR_MS = 3_600_000;
/** Whoever has the org is warned so long before its lease ends. */
export const WARNED_BEFORE_MS = 2 * HOUR_MS;

const earlier = (end: Date | null, orgEndsAt: Date | null): Date | null =>
  end === null || (orgEndsAt !== null && orgEndsAt < end) ? orgEndsAt : end;

/** When a lease that begins now ends; null: never. An org that ends before shortens it. */
export const leaseEnd = (
  now: Date,
  { hours, isImmortal, orgEndsAt }: { hours: number; isImmortal: boolean; orgEndsAt: Date | null },
): Date | null => earlier(isImmortal ? null : new Date(now.getTime() + hours * HOUR_MS), orgEndsAt);

export interface Lease {
  state: AssignmentState;
  assignedAt: Date | null;
  expiresAt: Date | null;
  orgEndsAt: Date | null;
}

/** When a lease ends whose org now ends then; one that the old end of the org shortened gets back what it lost. */
export function endWithOrg(
  { assignedAt, expiresAt, orgEndsAt: before }: Lease,
  orgEndsAt: Date | null,
  { hours, isImmortal }: { hours: number; isImmortal: boolean },
): Date | null {
  const isShortened = before !== null && expiresAt !== null && expiresAt.getTime() === before.getTime();
  if (!isShortened || assignedAt === null) return earlier(expiresAt, orgEndsAt);
  const full = leaseEnd(assignedAt, { hours, isImmortal, orgEndsAt: null });
  // By an extension the lease may be longer than it began.
  return earlier(full !== null && full < expiresAt ? expiresAt : full, orgEndsAt);
}

/** Whether a lease has ended, whether or not that was recorded. */
export const isOver = ({ state, expiresAt }: Pick<Lease, 'state' | 'expiresAt'>, now: Date): boolean =>
  isActive(state) && expiresAt !== null && expiresAt <= now;

/**
 * When a lease ends that is to go on for so many hours from now; it never gets shorter. Throws `invalid_transition` for
 * one that has not begun, has ended or never ends, and for an end beyond what the pool allows.
 */
export function extendedEnd(
  { state, assignedAt, expiresAt, orgEndsAt }: Lease,
  now: Date,
  { hours, maxLeaseHours }: { hours: number; maxLeaseHours: number },
): Date {
  assertExtendable(state);
  if (assignedAt === null || isOver({ state, expiresAt }, now)) throw refused('its lease has expired');
  if (expiresAt === null) throw refused('it never expires');
  const wanted = new Date(now.getTime() + hours * HOUR_MS);
  const latest = new Date(assignedAt.getTime() + maxLeaseHours * HOUR_MS);
  if (wanted > latest)
    throw refused(`it may last until ${latest.toISOString()}, ${maxLeaseHours} hours after it was assigned`);
  const end = earlier(wanted, orgEndsAt) ?? wanted;
  return end > expiresAt ? end : expiresAt;
}

/** What a lease that was to go on for so many hours got instead; undefined: that much. */
export function shortenedLease(
  { expiresAt, orgEndsAt }: Pick<Lease, 'expiresAt' | 'orgEndsAt'>,
  now: Date,
  hours: number,
): string | undefined {
  if (orgEndsAt === null || expiresAt === null || orgEndsAt.getTime() >= now.getTime() + hours * HOUR_MS)
    return undefined;
  return `The org ends at ${orgEndsAt.toISOString()}: the lease lasts until ${expiresAt.toISOString()}, not for ${hours} hours`;
}

const refused = (why: string) => new DomainError('invalid_transition', `The assignment cannot be extended: ${why}`);

/** Throws `invalid_transition` for one that is not active. */
export function assertExtendable(state: AssignmentState): void {
  if (!isActive(state)) throw refused(`it is ${state}`);
}

/** Milliseconds until its end is to be announced; null: never, or it was. Brief leases end unannounced. */
export function warnsInMs(
  { assignedAt, expiresAt, warnedAt }: Pick<Lease, 'assignedAt' | 'expiresAt'> & { warnedAt: Date | null },
  now: Date,
): number | null {
  if (expiresAt === null || assignedAt === null || warnedAt !== null) return null;
  if (expiresAt.getTime() - assignedAt.getTime() <= WARNED_BEFORE_MS) return null;
  return Math.max(0, expiresAt.getTime() - WARNED_BEFORE_MS - now.getTime());
}

export interface Subject {
  assignmentType: AssignmentType;
  assignmentKey: string;
}

/** A person is known by their e-mail, whose case does not count. */
export const keyOf = (type: AssignmentType, id: string): string => (type === 'user' ? id.toLowerCase() : id);

/** What an assignment is for, as people say it: `pr 118`. */
export const subjectOf = ({ assignmentType, assignmentKey }: Subject): string => `${assignmentType} ${assignmentKey}`;

const isPerson = ({ assignmentType, assignmentKey }: Subject, { type, email }: Actor): boolean =>
  assignmentType === 'user' && type === 'user' && assignmentKey === email.toLowerCase();

/** Members request an org for a person only for themselves. Throws `forbidden`. */
export function assertMayRequest(actor: Actor, subject: Subject): void {
  if (subject.assignmentType !== 'user' || actor.role !== 'member' || isPerson(subject, actor)) return;
  throw new DomainError('forbidden', 'Members request an org for themselves alone; owners and applications for others');
}

/** Members change what they requested, and their own; owners, applications and the service change any. */
export const mayChange = (actor: Actor, assignment: Subject & { requestedBy: Actor }): boolean =>
  actor.role !== 'member' ||
  (actor.type === assignment.requestedBy.type && actor.id === assignment.requestedBy.id) ||
  isPerson(assignment, actor);

/** Throws `forbidden`. */
export function assertMayChange(actor: Actor, assignment: Subject & { requestedBy: Actor }): void {
  if (mayChange(actor, assignment)) return;
  const { email } = assignment.requestedBy;
  throw new DomainError(
    'forbidden',
    `The assignment belongs to ${email}; only they, an owner or an application may change it`,
  );
}

/** The number of a pull request, where that is what the assignment is for. */
export const pullRequestOf = ({ assignmentType, assignmentKey }: Subject): number | null =>
  assignmentType === 'pr' && /^\d{1,15}$/.test(assignmentKey) ? Number(assignmentKey) : null;
