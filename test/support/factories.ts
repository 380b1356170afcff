import { hashSecret, newInvitationToken } from '../../domain/auth/secrets.ts';
import { newId } from '../../domain/shared/ids.ts';
import type { TestApp } from './app.ts';

/** An invitation that nobody mailed; returns its token. */
export async function insertInvitation(app: TestApp, userId: string): Promise<string> {
  const token = newInvitationToken();
  await app.sql(
    `insert into invitation (id, tenant_id, user_id, token_hash, expires_at, invited_by) values (?, ?, ?, ?, now() + interval '1 day', ?)`,
    [newId(), app.tenant.id, userId, hashSecret(token), app.owner.email],
  );
  return token;
}
