import { sql } from 'kysely';
import { hashSecret, newInvitationToken } from '../../kernel/encryption/secrets.ts';
import type { Mailer } from '../../kernel/mail/mailer.port.ts';
import { hashChosenPassword } from '../passwords/passwords.mutations.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import { invalidField } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx, UnitOfWork } from '../../unit-of-work.ts';
import { invitationMail } from './invitation-mail-rules.ts';
import { lockMemberships } from '../users/memberships.queries.ts';
import { noteUser } from '../users/users.mutations.ts';
import { findUser, type UserRow } from '../users/users.queries.ts';
import { countRecentMails, type FindInvited, type Invited, useInvitation } from './invitations.queries.ts';

/** A link that sets a password works for so long. */
const INVITATION_DAYS = 3;
/** Mails of one tenant to one address in an hour. Mails of others do not count: they would show that there are any. */
const PER_HOUR = 3;

/** What a link that no longer works is answered with. */
export const SPENT_LINK = 'The link is invalid, used or expired; ask an owner to invite you again';

type Invitee = Pick<UserRow, 'id' | 'email' | 'isInvited'>;

interface InvitationParts {
  tx: UnitOfWork;
  /** Absent where no mail server is configured. */
  mail: Mailer | undefined;
  publicUrl: string;
  /** Told why the mail server refused a mail. */
  onRefused: (reason: string) => void;
}

/**
 * Mails an invitation to a user of the tenant: recorded first, sent after the commit, within a bounded time. The mail to
 * somebody who has not accepted is the same whether or not the address has an account.
 * @returns why no mail was sent; undefined when one was.
 */
export async function inviteByMail(
  { tx, mail, publicUrl, onRefused }: InvitationParts,
  invitee: Invitee,
): Promise<string | undefined> {
  if (!mail) return 'No mail server is configured';
  const invitation = await tx((work) => addInvitation(work, invitee));
  if (!invitation) return 'This person has been invited too often within the last hour';
  const { token, tenant, invitedBy, purpose } = invitation;
  const path = token === undefined ? '/api/auth/sign-in' : `/api/auth/set-password?token=${token}`;
  const sent = await mail(
    invitationMail({
      to: invitee.email,
      tenant,
      invitedBy,
      link: publicUrl + path,
      purpose,
      days: INVITATION_DAYS,
    }),
  );
  if (sent.outcome === 'sent') return undefined;
  onRefused(sent.reason);
  return `The invitation was not sent: ${sent.reason}`;
}

interface AddedInvitation {
  purpose: 'accept' | 'password' | 'sign-in';
  /** For the link; absent where it leads to the sign-in. It is kept as a hash. */
  token?: string;
  /** Slug. */
  tenant: string;
  invitedBy: string;
}

/** Undefined when the person was invited too often. */
async function addInvitation(tx: Tx, { id, email, isInvited }: Invitee): Promise<AddedInvitation | undefined> {
  const { db, tenantId, actor } = tx;
  // Two that invite the same person at once count one after the other.
  await lockMemberships(tx);
  if ((await countRecentMails(tx, email)) >= PER_HOUR) return undefined;
  const purpose = isInvited ? 'accept' : (await hasPassword(tx, id)) ? 'sign-in' : 'password';
  const token = purpose === 'sign-in' ? undefined : newInvitationToken();
  await db
    .insertInto('invitation')
    .values({
      id: newId(),
      tenantId,
      userId: isInvited ? null : id,
      invitedUserId: isInvited ? id : null,
      email,
      tokenHash: token === undefined ? null : hashSecret(token),
      expiresAt: sql`now() + make_interval(days => ${sql.lit(INVITATION_DAYS)})`,
      invitedBy: actor.email,
    })
    .execute();
  tx.audit({
    source: 'user',
    action: 'user.invited',
    entityType: 'user',
    entityId: id,
    summary: `User ${email} invited by mail`,
  });
  return { purpose, ...(token !== undefined && { token }), tenant: actor.tenantSlug, invitedBy: actor.email };
}

async function hasPassword({ db }: Tx, userId: string): Promise<boolean> {
  const { passwordHash } = await db
    .selectFrom('user_account')
    .where('id', '=', userId)
    .select('passwordHash')
    .executeTakeFirstOrThrow();
  return passwordHash !== null;
}

interface LinkParts {
  findInvited: FindInvited;
  actingAs: (actor: Actor) => UnitOfWork;
}

interface LinkUse {
  token: string;
  /** Absent for somebody who has one. */
  password?: string | undefined;
  /** Name of the field of the request that held the password. */
  field: string;
}

/**
 * Follows the link of an invitation: accepts it, and sets the first password of somebody who has none; a password that
 * there is stays. Throws `invalid_request` for a link that does not work any more, and for a missing or weak password.
 */
export async function followLink(
  { findInvited, actingAs }: LinkParts,
  { token, password, field }: LinkUse,
): Promise<Invited> {
  const invited = await findInvited(token);
  if (!invited) throw invalidField('token', SPENT_LINK);
  const { actor, invitationId, hasPassword: isPasswordSet } = invited;
  if (!isPasswordSet && password === undefined) throw invalidField(field, 'A password is required');
  const passwordHash =
    isPasswordSet || password === undefined ? null : await hashChosenPassword(password, actor.email, field);
  await actingAs(actor)(async (tx) => {
    if (invitationId !== undefined) await lockMemberships(tx);
    const before = invitationId === undefined ? undefined : await findUser(tx, invitationId);
    if (!(await useInvitation(tx.db, token, passwordHash))) throw invalidField('token', SPENT_LINK);
    if (before) noteUser(tx, 'user.updated', before, await findUser(tx, actor.id), 'user.invitation_accepted');
    if (passwordHash === null) return;
    tx.audit({
      source: 'user',
      action: 'user.password_set',
      entityType: 'user',
      entityId: actor.id,
      summary: `${actor.email} set the first password by an invitation`,
    });
  });
  return invited;
}
