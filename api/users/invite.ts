import { INVITATION_DAYS, reserveInvitation } from '../../domain/invitations/invitations.queries.ts';
import { invitationMail } from '../../domain/invitations/invitation-mail-rules.ts';
import type { Scope } from '../http/scope.ts';

/** Why no mail went out; undefined when one did. */
export type NotInvited = string | undefined;

/** Mails an invitation to a user of the tenant: recorded first, sent after the commit, within a bounded time. */
export async function invite(
  user: { id: string; email: string },
  { tx, actor, adapters, publicUrl, log }: Scope,
): Promise<NotInvited> {
  if (!adapters.invitations.mail) return 'No mail server is configured';
  const reservation = await tx((work) => reserveInvitation(work, user));
  if (reservation.outcome === 'too_many') return 'This person was invited several times within the last hour';
  const { token, tenant } = reservation;
  const link = token === undefined ? '/api/auth/sign-in' : `/api/auth/set-password?token=${token}`;
  const mail = invitationMail({
    to: user.email,
    tenant,
    invitedBy: actor.email,
    link: publicUrl + link,
    passwordDays: token === undefined ? undefined : INVITATION_DAYS,
  });
  const sent = await adapters.invitations.mail(mail);
  if (sent.outcome === 'sent') return undefined;
  log.warn({ reason: sent.reason }, 'an invitation was not sent');
  return `The invitation was not sent: ${sent.reason}`;
}
