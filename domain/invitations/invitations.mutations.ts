import { sql } from 'kysely';
import { hashSecret, newInvitationToken } from '../auth/secrets.ts';
import type { Mailer } from '../mail/mailer.port.ts';
import { hashChosenPassword } from '../passwords/passwords.mutations.ts';
import type { Actor } from '../shared/actor.ts';
import { invalidField } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import type { Tx, UnitOfWork } from '../unit-of-work.ts';
import { invitationMail } from './invitation-mail-rules.ts';
import { countRecentInvitations, type FindInvited, useInvitation } from './invitations.queries.ts';

/** A link that sets a password works for so long. */
const INVITATION_DAYS = 3;
/** Mails to one person in an hour, whichever tenants invite. */
const PER_HOUR = 3;

/** What a link that no longer works is answered with. */
export const SPENT_LINK = 'The link is invalid, used or expired; ask an owner to invite you again';

interface Invitee {
  id: string;
  email: string;
}

interface InvitationParts {
  tx: UnitOfWork;
  /** Absent where no mail server is configured. */
  mail: Mailer | undefined;
  publicUrl: string;
  /** Told why the mail server refused a mail. */
  onRefused: (reason: string) => void;
}

/**
 * Mails an invitation to a user of the tenant: recorded first, sent after the commit, within a bounded time.
 * @returns why no mail was sent; undefined when one was.
 */
export async function inviteByMail(
  { tx, mail, publicUrl, onRefused }: InvitationParts,
  invitee: Invitee,
): Promise<string | undefined> {
  if (!mail) return 'No mail server is configured';
  const invitation = await tx((work) => addInvitation(work, invitee));
  if (!invitation) return 'This person has been invited too often within the last hour';
  const { token, tenant, invitedBy } = invitation;
  const path = token === undefined ? '/api/auth/sign-in' : `/api/auth/set-password?token=${token}`;
  const sent = await mail(
    invitationMail({
      to: invitee.email,
      tenant,
      invitedBy,
      link: publicUrl + path,
      passwordDays: token === undefined ? undefined : INVITATION_DAYS,
    }),
  );
  if (sent.outcome === 'sent') return undefined;
  onRefused(sent.reason);
  return `The invitation was not sent: ${sent.reason}`;
}

interface AddedInvitation {
  /** For the link; absent: the person has a password. It is kept as a hash. */
  token?: string;
  /** Slug. */
  tenant: string;
  invitedBy: string;
}

/** Undefined when the person was invited too often. */
async function addInvitation(tx: Tx, { id: userId, email }: Invitee): Promise<AddedInvitation | undefined> {
  const { db, tenantId, actor } = tx;
  if ((await countRecentInvitations(db, userId)) >= PER_HOUR) return undefined;
  const { slug, hasPassword } = await db
    .selectFrom('user_account as u')
    .innerJoin('tenant as t', (join) => join.on('t.id', '=', tenantId))
    .where('u.id', '=', userId)
    .select((eb) => ['t.slug', eb('u.passwordHash', 'is not', null).as('hasPassword')])
    .executeTakeFirstOrThrow();
  const token = hasPassword ? undefined : newInvitationToken();
  await db
    .insertInto('invitation')
    .values({
      id: newId(),
      tenantId,
      userId,
      tokenHash: token === undefined ? null : hashSecret(token),
      expiresAt: sql`now() + make_interval(days => ${sql.lit(INVITATION_DAYS)})`,
      invitedBy: actor.email,
    })
    .execute();
  tx.audit({
    source: 'user',
    action: 'user.invited',
    entityType: 'user',
    entityId: userId,
    summary: `User ${email} invited by mail`,
  });
  return { ...(token !== undefined && { token }), tenant: slug, invitedBy: actor.email };
}

interface PasswordSetup {
  findInvited: FindInvited;
  actingAs: (actor: Actor) => UnitOfWork;
}

/**
 * Sets the first password of an invited person; answers whose it is. Throws `invalid_request` for a link that does not
 * work any more, and for a weak password.
 * @param field of the request that held the password.
 */
export async function setFirstPassword(
  { findInvited, actingAs }: PasswordSetup,
  { token, password, field }: { token: string; password: string; field: string },
): Promise<string> {
  const invited = await findInvited(token);
  if (!invited) throw invalidField('token', SPENT_LINK);
  const passwordHash = await hashChosenPassword(password, invited.email, field);
  await actingAs(invited)(async (tx) => {
    if (!(await useInvitation(tx.db, token, passwordHash))) throw invalidField('token', SPENT_LINK);
    tx.audit({
      source: 'user',
      action: 'user.password_set',
      entityType: 'user',
      entityId: invited.id,
      summary: `${invited.email} set the first password by an invitation`,
    });
  });
  return invited.email;
}
