import { dictionary } from '@zxcvbn-ts/language-common';
import { hashPassword } from '../auth/secrets.ts';
import { DomainError } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { weaknessOf } from './password-rules.ts';

const common = new Set(dictionary['passwords-common']);

/**
 * The hash under which a password that somebody chose is kept. Throws `invalid_request` for a weak one.
 * @param pointer the field of the request that held it.
 */
export function hashChosenPassword(password: string, email: string, pointer: string): Promise<string> {
  const weakness = weaknessOf(password, { isCommon: (text) => common.has(text), email });
  if (weakness !== undefined) {
    throw new DomainError('invalid_request', `The password ${weakness}`, { fields: [{ pointer, detail: weakness }] });
  }
  return hashPassword(password);
}

/** The hash of the password of the user who acts; null for one without a password. */
export async function ownPasswordHash({ sql, actor }: Tx): Promise<string | null> {
  const [row] = await sql<{ hash: string | null }>('select password_hash as hash from user_account where id = ?', [
    actor.id,
  ]);
  return row?.hash ?? null;
}

/** Sets the password of the user who acts; all their sessions but the one that they act in end. */
export async function changeOwnPassword(tx: Tx, passwordHash: string): Promise<void> {
  await tx.sql('select set_password(?, ?, ?)', [tx.actor.id, passwordHash, tx.actor.sessionId ?? null]);
  tx.audit({
    source: 'user',
    action: 'user.password_changed',
    entityType: 'user',
    entityId: tx.actor.id,
    summary: `${tx.actor.email} changed the password; other sessions ended`,
  });
}
