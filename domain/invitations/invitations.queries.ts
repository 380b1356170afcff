import type pg from 'pg';
import { hashSecret, newInvitationToken } from '../auth/secrets.ts';
import type { Actor, Role } from '../shared/actor.ts';
import { newId } from '../shared/ids.ts';
import type { Tx } from '../unit-of-work.ts';

/** A link that sets a password works for so long. */
export const INVITATION_DAYS = 3;
/** Mails to one person in an hour, whichever tenants invite. */
const PER_HOUR = 3;

export type Reservation =
  | {
      outcome: 'reserved' /** For the link; undefined: the person has a password. */;
      token: string | undefined;
      tenant: string;
    }
  | { outcome: 'too_many' };

/** Makes an invitation of a user of the tenant, to be mailed after the commit. Its token is kept as a hash. */
export async function reserveInvitation(tx: Tx, { id, email }: { id: string; email: string }): Promise<Reservation> {
  const [counted] = await tx.sql<{ invitations: number }>(
    `select count_invitations(?, interval '1 hour') as invitations`,
    [id],
  );
  if (!counted || counted.invitations >= PER_HOUR) return { outcome: 'too_many' };
  const token = newInvitationToken();
  const invitationId = newId();
  const [made] = await tx.sql<{ hasToken: boolean; tenant: string }>(
    `insert into invitation (id, tenant_id, user_id, token_hash, expires_at, invited_by)
     select ?, t.id, u.id, case when u.password_hash is null then ? end, now() + make_interval(days => ${INVITATION_DAYS}), ?
     from user_account u, tenant t where u.id = ? and t.id = ?
     returning token_hash is not null as "hasToken", (select slug from tenant where id = tenant_id) as tenant`,
    [invitationId, hashSecret(token), tx.actor.email, id, tx.tenantId],
  );
  if (!made) throw new Error('a user of the tenant can be invited');
  tx.audit({
    source: 'user',
    action: 'user.invited',
    entityType: 'user',
    entityId: id,
    summary: `User ${email} invited by mail`,
  });
  return { outcome: 'reserved', token: made.hasToken ? token : undefined, tenant: made.tenant };
}

/** Finds the person whom an open invitation lets set a password: not used, not expired, still a member, no password yet. */
export type OpenInvitation = (token: string) => Promise<Actor | undefined>;

interface InvitationRow {
  tenant_id: string;
  user_id: string;
  email: string;
  role: Role;
}

export const createOpenInvitation =
  (pool: pg.Pool): OpenInvitation =>
  async (token) => {
    const { rows } = await pool.query<InvitationRow>('select * from open_invitation($1)', [hashSecret(token)]);
    const [row] = rows;
    return row && { type: 'user', id: row.user_id, tenantId: row.tenant_id, role: row.role, email: row.email };
  };

/** Spends the invitation and sets the first password; false when another request was faster. */
export async function acceptInvitation(tx: Tx, token: string, passwordHash: string): Promise<boolean> {
  const [row] = await tx.sql<{ accepted: boolean }>('select use_invitation(?, ?) as accepted', [
    hashSecret(token),
    passwordHash,
  ]);
  if (!row?.accepted) return false;
  tx.audit({
    source: 'user',
    action: 'user.password_set',
    entityType: 'user',
    entityId: tx.actor.id,
    summary: `${tx.actor.email} set the first password by an invitation`,
  });
  return true;
}
