import type { Actor, Role } from '../../kernel/shared/actor.ts';
import { DomainError } from '../../kernel/shared/errors.ts';

/** What each role may do includes what those below it may; the tenant's role of a user is the highest of its memberships. */
const RANK: Record<Role, number> = { member: 1, application: 2, owner: 3 };

interface Subject {
  id: string;
  role: Role;
}

export interface UserChange {
  firstName?: string | undefined;
  lastName?: string | undefined;
  role?: Role | undefined;
  /** All the teams that the user is in afterwards. */
  teams?: readonly string[] | undefined;
}

const forbidden = (message: string) => new DomainError('forbidden', message);

export const isSelf = (actor: Actor, { id }: Pick<Subject, 'id'>): boolean => actor.type === 'user' && actor.id === id;

/** Colleagues are shown to owners and applications, oneself to everyone. Throws `forbidden`, whether or not there is such a user. */
export function assertMayView(actor: Actor, subject: Subject | undefined): void {
  if (!mayViewColleagues(actor) && !(subject && isSelf(actor, subject)))
    throw forbidden('Forbidden - Requires role: owner, application');
}

/** Whether an actor finds colleagues, or oneself alone. */
export const mayViewColleagues = ({ role }: Actor): boolean => role !== 'member';

/**
 * Names are changed by oneself and by owners; roles and teams, by which approvers are named, by owners alone; nobody
 * raises their own role. Throws `forbidden`, whether or not there is such a user.
 */
export function assertMayChange(actor: Actor, subject: Subject | undefined, { role, teams }: UserChange): void {
  const isOwn = subject !== undefined && isSelf(actor, subject);
  if (actor.role !== 'owner' && !isOwn) throw forbidden('Forbidden - Requires role: owner');
  if (isOwn && role !== undefined && RANK[role] > RANK[subject.role])
    throw forbidden('Forbidden - Nobody raises their own role');
  const changesRights = teams !== undefined || (role !== undefined && role !== subject?.role);
  if (actor.role !== 'owner' && changesRights)
    throw forbidden('Forbidden - Changing roles and teams requires role: owner');
}

/** Throws `forbidden` for removing oneself. */
export function assertMayRemove(actor: Actor, subject: Pick<Subject, 'id'>): void {
  if (isSelf(actor, subject)) throw forbidden('Forbidden - Nobody removes themselves');
}

/** A tenant without an owner could not be administered any more. Throws `last_owner`. */
export function assertHasOwner(ownersLeft: number): void {
  if (ownersLeft === 0)
    throw new DomainError('last_owner', 'The last owner of a tenant can be neither removed nor demoted');
}
